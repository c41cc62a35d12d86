-- Custom domains of orgs: claims, their proofs, and the order in which they came into service and went.

-- +goose Up

-- domain_feed: counts the changes of what is served. Its one row is locked until the commit of whoever changes something,
-- so that a reader who has seen a number has seen all before it.
CREATE TABLE domain_feed (
    one     boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (one),
    version bigint  NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO domain_feed DEFAULT VALUES;

-- A claim. One that has had its proof holds the host, until it is removed; any number without proof may stand beside it.
-- Removed ones are kept.
CREATE TABLE domain (
    org_id        uuid        NOT NULL,
    id            uuid        NOT NULL,
    host          text        NOT NULL CHECK (host = lower(host)), -- punycode
    token         text        NOT NULL, -- of the TXT record: public, and worth nothing to another org
    status        text        NOT NULL DEFAULT 'pending_dns' CHECK (status IN ('pending_dns', 'verified', 'active', 'degraded', 'suspended', 'removed')),
    held          boolean     NOT NULL GENERATED ALWAYS AS (status IN ('verified', 'active', 'degraded', 'suspended')) STORED,
    reason        text        NOT NULL DEFAULT '', -- why the last look found it not right: a code
    failures      int         NOT NULL DEFAULT 0,  -- in a row
    claimed_at    timestamptz NOT NULL DEFAULT now(),
    proven_at     timestamptz, -- first
    routed_at     timestamptz, -- first led here
    checked_at    timestamptz, -- the last look
    failed_at     timestamptz, -- the last failure that counted
    degraded_at   timestamptz,
    suspended_at  timestamptz,
    lost_at       timestamptz, -- since when the proof has been missing
    removed_at    timestamptz,
    next_check_at timestamptz NOT NULL DEFAULT now() + interval '1 minute',
    rights_seen   bigint      NOT NULL DEFAULT 0, -- the org's entitlement_version at the last claim of a look
    changed       bigint      NOT NULL DEFAULT 0, -- domain_feed's number of the last change of what is served; 0: never was
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX domain_one ON domain (org_id) WHERE status <> 'removed';
CREATE UNIQUE INDEX domain_host ON domain (host) WHERE held;
CREATE INDEX domain_due ON domain (next_check_at) WHERE status <> 'removed';
CREATE INDEX domain_changed ON domain (changed) WHERE changed > 0;
CALL tenant('domain');
CALL system('domain', 'SELECT, UPDATE (next_check_at, rights_seen)');

-- Runs as the owner, because the two roles may not write the feed.
-- +goose StatementBegin
CREATE FUNCTION domain_changes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE domain_feed SET version = version + 1 RETURNING version INTO NEW.changed;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION domain_changes() FROM PUBLIC;
CREATE TRIGGER domain_serves BEFORE INSERT ON domain FOR EACH ROW
    WHEN (NEW.status <> 'pending_dns') EXECUTE FUNCTION domain_changes();
CREATE TRIGGER domain_turns BEFORE UPDATE OF status, host ON domain FOR EACH ROW
    WHEN ((OLD.status, OLD.host) IS DISTINCT FROM (NEW.status, NEW.host)) EXECUTE FUNCTION domain_changes();
