-- Templates of mails, as people write them.

-- +goose Up

-- A template has html or blocks or neither; text is made from them if it is NULL.
CREATE TABLE template (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    name        text        NOT NULL,
    name_folded text        COLLATE "C" NOT NULL,
    subject     text        NOT NULL,
    html        text,
    text        text,
    blocks      json,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    archived_at timestamptz,
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX template_created ON template (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX template_name ON template (org_id, name_folded, id) WHERE archived_at IS NULL;
CREATE INDEX template_archived ON template (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CREATE INDEX template_archived_name ON template (org_id, name_folded, id) WHERE archived_at IS NOT NULL;
CALL tenant('template');
