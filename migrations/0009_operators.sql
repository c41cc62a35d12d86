-- What operators need: dead jobs as they are searched, redrives that go on by themselves, and who did what.

-- +goose Up

-- job_grams(said): every three bytes that stand together in it. An index over them finds any part of a text without
-- an extension. Costly on purpose: the planner is to look it up and never to work it out row by row.
-- +goose StatementBegin
CREATE FUNCTION job_grams(said text) RETURNS bytea[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
    SELECT coalesce(array_agg(substring(b FROM i FOR 3)), '{}')
    FROM (SELECT convert_to(said, 'UTF8') AS b) AS t, generate_series(1, length(t.b) - 2) AS i
$$;
-- +goose StatementEnd

-- A dead job as it is searched, beside its row: its indexes cost an open job nothing, nor the looks that
-- a dead one gets. The triggers below keep it; it is there if and only if the job is dead.
CREATE TABLE job_death (
    org_id  uuid        NOT NULL,
    id      uuid        NOT NULL,
    kind    text        NOT NULL,
    lane    text        NOT NULL,
    died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    error   text        NOT NULL, -- the job's last error, in ASCII lower case
    PRIMARY KEY (org_id, id)
);
CREATE INDEX job_death_newest ON job_death (died_at, id);
CREATE INDEX job_death_kind ON job_death (kind, died_at, id);
CREATE INDEX job_death_org ON job_death (org_id, died_at, id);
CREATE INDEX job_death_org_kind ON job_death (org_id, kind, died_at, id);
CREATE INDEX job_death_error ON job_death USING gin (job_grams(error));
ALTER INDEX job_death_error ALTER COLUMN 1 SET STATISTICS 0; -- ANALYZE would work thousands of them out
CALL tenant('job_death');
CALL system('job_death', 'SELECT, INSERT, UPDATE, DELETE');

-- +goose StatementBegin
CREATE FUNCTION job_died() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_death (org_id, id, kind, lane, error)
    VALUES (NEW.org_id, NEW.id, NEW.kind, NEW.lane, lower(NEW.last_error COLLATE "C"))
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION job_revived() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_death WHERE org_id = OLD.org_id AND id = OLD.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER died AFTER INSERT OR UPDATE OF state ON job FOR EACH ROW WHEN (NEW.state = 'dead') EXECUTE FUNCTION job_died();
CREATE TRIGGER revived AFTER UPDATE OF state ON job FOR EACH ROW WHEN (OLD.state = 'dead' AND NEW.state <> 'dead') EXECUTE FUNCTION job_revived();
CREATE TRIGGER dropped AFTER DELETE ON job FOR EACH ROW WHEN (OLD.state = 'dead') EXECUTE FUNCTION job_revived();

SET LOCAL ROLE funnelwork_system;
INSERT INTO job_death (org_id, id, kind, lane, died_at, error)
SELECT org_id, id, kind, lane, run_at, lower(last_error COLLATE "C") FROM job WHERE state = 'dead';
RESET ROLE;

-- Dead jobs that are run again at a rate. The job platform.redrive works it off; its state is here.
CREATE TABLE job_redrive (
    id         uuid        PRIMARY KEY,
    actor      text        NOT NULL,
    reason     text        NOT NULL,
    filter     json        NOT NULL,
    rate       int         NOT NULL CHECK (rate > 0), -- jobs per second
    total      int         NOT NULL,                  -- that matched when it was asked for
    done       int         NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),    -- what died later is left alone
    stepped_at timestamptz NOT NULL DEFAULT now(),    -- up to here the rate has been used
    ended_at   timestamptz,
    cancelled  bool        NOT NULL DEFAULT false
);
GRANT SELECT, INSERT, UPDATE ON job_redrive TO funnelwork_system;

-- Every act of an operator.
CREATE TABLE job_act (
    id     uuid        PRIMARY KEY,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor  text        NOT NULL,
    act    text        NOT NULL,
    scope  text        NOT NULL DEFAULT '', -- what it was about, where not single jobs: "lane bulk", a filter
    jobs   uuid[]      NOT NULL DEFAULT '{}',
    count  int         NOT NULL,            -- rows that it changed
    reason text        NOT NULL DEFAULT ''
);
GRANT SELECT, INSERT ON job_act TO funnelwork_system;
