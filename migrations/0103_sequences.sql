-- Sequences: automated outreach in steps, with numbered versions.

-- +goose Up

CREATE TABLE sequence (
    org_id        uuid        NOT NULL,
    id            uuid        NOT NULL,
    name          text        NOT NULL,
    name_folded   text        COLLATE "C" NOT NULL,
    status        text        NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'archived')),
    status_reason text        NOT NULL DEFAULT '',
    version       int,                              -- the active one; NULL: it was never activated
    draft         int,                              -- the version that is edited; NULL: there is none
    latest        int         NOT NULL,             -- highest number of a version
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    archived_at   timestamptz,                      -- deleted; status archived is something else
    edit          int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX sequence_created ON sequence (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX sequence_name ON sequence (org_id, name_folded, id) WHERE archived_at IS NULL;
CREATE INDEX sequence_archived ON sequence (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX sequence_archived_name ON sequence (org_id, name_folded, id) WHERE archived_at IS NOT NULL;
CALL tenant('sequence');

-- A version never changes after it was activated.
CREATE TABLE sequence_version (
    org_id       uuid        NOT NULL,
    sequence_id  uuid        NOT NULL,
    number       int         NOT NULL,              -- from 1
    settings     json        NOT NULL,
    created_at   timestamptz NOT NULL,
    activated_at timestamptz,                       -- NULL: it is the draft
    PRIMARY KEY (org_id, sequence_id, number)
);
CALL tenant('sequence_version');

CREATE TABLE sequence_step (
    org_id      uuid NOT NULL,
    sequence_id uuid NOT NULL,
    version     int  NOT NULL,
    position    int  NOT NULL,                      -- from 0
    key         text COLLATE "C" NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('email', 'wait', 'task', 'condition', 'update', 'webhook')),
    body        json NOT NULL,
    PRIMARY KEY (org_id, sequence_id, version, position)
);
CREATE UNIQUE INDEX sequence_step_key ON sequence_step (org_id, sequence_id, version, key);
CALL tenant('sequence_step');
