-- Suspension of an org by an operator: its calls are refused and its jobs are held until it is resumed.

-- +goose Up
ALTER TABLE org
    ADD COLUMN suspended_at     timestamptz,
    ADD COLUMN suspended_reason text NOT NULL DEFAULT ''; -- for operators
CREATE INDEX org_suspended ON org (id) WHERE suspended_at IS NOT NULL;
GRANT UPDATE (suspended_at, suspended_reason) ON org TO funnelwork_system;

-- A pause has two reasons that begin and end independently of each other, and ends with the last of them.
ALTER TABLE job_pause
    ADD COLUMN by_hand   boolean NOT NULL DEFAULT true,  -- an operator has paused the jobs
    ADD COLUMN suspended boolean NOT NULL DEFAULT false; -- the org is suspended
GRANT UPDATE (by_hand, suspended) ON job_pause TO funnelwork_system;

-- +goose StatementBegin
CREATE FUNCTION job_pause_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_pause WHERE scope = NEW.scope AND name = NEW.name AND NOT by_hand AND NOT suspended;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER job_pause_ends AFTER UPDATE ON job_pause FOR EACH ROW
    WHEN (NOT NEW.by_hand AND NOT NEW.suspended) EXECUTE FUNCTION job_pause_ends();
