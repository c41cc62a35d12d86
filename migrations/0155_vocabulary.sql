-- Names are compared folded (package compare), and shown as they were written first.

-- +goose Up

-- The tags of an org, and the stages that are none of those every org begins with. name is how a contact's row has it.
-- former holds other spellings that rows still have, until a job has rewritten them: they mean the name. A row with a
-- successor is a name that was renamed while contacts still have it; the successor is the folded form of the new name.
CREATE TABLE vocabulary (
    org_id     uuid        NOT NULL,
    kind       text        COLLATE "C" NOT NULL CHECK (kind IN ('tag', 'stage')),
    folded     text        COLLATE "C" NOT NULL,
    name       text        COLLATE "C" NOT NULL,
    former     text[]      NOT NULL DEFAULT '{}',
    successor  text        COLLATE "C" NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, kind, folded)
);
CALL tenant('vocabulary');

-- NULL: of a row that was written before, until it is filled; or another key of the org has the form.
ALTER TABLE contact_field ADD COLUMN folded text COLLATE "C";
ALTER TABLE segment ADD COLUMN folded text COLLATE "C";

-- How far the folded columns of an org are computed anew. An org without a row, which an older version has added, is at
-- the beginning.
CREATE TABLE refolding (
    org_id     uuid NOT NULL PRIMARY KEY,
    version    int  NOT NULL DEFAULT 0, -- of package compare
    part       text NOT NULL DEFAULT '',
    after_id   uuid,                    -- the last row of the part
    rows       bigint NOT NULL DEFAULT 0, -- changed
    merged     int    NOT NULL DEFAULT 0, -- names that were spellings of another
    collisions int    NOT NULL DEFAULT 0, -- addresses that another contact has
    ended_at   timestamptz
);
CREATE INDEX refolding_open ON refolding (org_id) WHERE ended_at IS NULL;
CALL tenant('refolding');
CALL system('refolding', 'SELECT, INSERT');
-- As the system role, because the owner of the tables sees no rows of them.
SET LOCAL ROLE funnelwork_system;
INSERT INTO refolding (org_id) SELECT id FROM org;
RESET ROLE;

SELECT expect_rows_of_orgs('vocabulary');
CREATE INDEX vocabulary_former ON vocabulary (org_id) WHERE former <> '{}';
