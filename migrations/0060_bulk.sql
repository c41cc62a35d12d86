-- Changes of many contacts at once: what was asked, how far it is, and whom it is about.

-- +goose Up
CREATE TABLE contact_bulk (
    org_id         uuid        NOT NULL,
    id             uuid        NOT NULL,
    action         jsonb       NOT NULL,
    filter         jsonb,      -- NULL: whoever has the tag that the action is about
    dry_run        boolean     NOT NULL,
    status         text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    rows_total     bigint      NOT NULL DEFAULT 0, -- that matched at the start
    rows_changed   bigint      NOT NULL DEFAULT 0,
    rows_unchanged bigint      NOT NULL DEFAULT 0,
    rows_failed    bigint      NOT NULL DEFAULT 0,
    sample_ids     uuid[]      NOT NULL DEFAULT '{}', -- the first few that matched
    errors         jsonb       NOT NULL DEFAULT '[]', -- the first few that failed
    error          text,       -- of one that failed as a whole
    actor_type     text        NOT NULL, -- on whose behalf; the events say it
    actor_id       text        NOT NULL,
    request_id     text        NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    completed_at   timestamptz,
    PRIMARY KEY (org_id, id)
);
-- An org's go one after the other.
CREATE INDEX contact_bulk_open ON contact_bulk (org_id, id) WHERE completed_at IS NULL;
CALL tenant('contact_bulk');
CALL system('contact_bulk', 'SELECT, DELETE');

-- Whom it is about, fixed at the start: a few hundred contacts to a row, which goes when they have been worked. So the
-- whole of a million contacts is some thousand rows, and each is worked once however often a worker is killed.
CREATE TABLE contact_bulk_part (
    org_id  uuid   NOT NULL,
    bulk_id uuid   NOT NULL,
    n       int    NOT NULL,
    ids     uuid[] NOT NULL, -- in their order
    size    int    NOT NULL, -- how many they were; a purge takes its contact out
    PRIMARY KEY (org_id, bulk_id, n)
);
CALL tenant('contact_bulk_part');
CALL system('contact_bulk_part', 'SELECT, DELETE');
