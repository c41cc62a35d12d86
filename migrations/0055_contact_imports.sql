-- Imports and exports of contacts. A file is kept here and nowhere else: no process needs a disk that others see.

-- +goose Up

CREATE TABLE contact_import (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL,
    status          text        NOT NULL CHECK (status IN ('uploading', 'queued', 'running', 'completed', 'failed')),
    dry_run         boolean     NOT NULL DEFAULT false,
    suppress_events boolean     NOT NULL DEFAULT false,
    file_name       text,
    columns         jsonb       NOT NULL DEFAULT '[]', -- name, field (NULL: ignored) and type of each, in the file's order
    fields_new      text[]      NOT NULL DEFAULT '{}', -- custom fields that the org had not defined when the import began
    blocks          int         NOT NULL DEFAULT 0,
    next_block      int         NOT NULL DEFAULT 0,    -- those before it are worked: the fence of a step
    rows_total      int         NOT NULL DEFAULT 0,
    rows_created    int         NOT NULL DEFAULT 0,
    rows_updated    int         NOT NULL DEFAULT 0,
    rows_unchanged  int         NOT NULL DEFAULT 0,
    rows_failed     int         NOT NULL DEFAULT 0,
    rows_repeated   int         NOT NULL DEFAULT 0,    -- of those above, rows about a contact that an earlier row was about
    error           text,
    actor_type      text        NOT NULL,
    actor_id        text        NOT NULL,
    request_id      text        NOT NULL,
    link_key        bytea       NOT NULL,              -- signs the links to its files
    created_at      timestamptz NOT NULL,
    started_at      timestamptz,
    completed_at    timestamptz,
    undo_status     text        CHECK (undo_status IN ('queued', 'running', 'completed', 'failed')),
    undo_act        text        NOT NULL DEFAULT 'created', -- what is undone now, the created ones first
    undo_from       uuid,                              -- of those the contacts up to it are undone: the fence of a step
    undo_archived   int         NOT NULL DEFAULT 0,
    undo_restored   int         NOT NULL DEFAULT 0,
    undo_left       int         NOT NULL DEFAULT 0,    -- changed by somebody since
    undo_at         timestamptz,
    computed        int         NOT NULL DEFAULT 0,    -- the ETag's second part: moved by each step
    PRIMARY KEY (org_id, id)
);
CREATE INDEX contact_import_age ON contact_import (created_at);
CALL tenant('contact_import');
CALL system('contact_import', 'SELECT, DELETE');

-- The staging. COPY does not go into a table under a row policy, and a row of its own for each record would cost more
-- than the record: a block is up to a thousand records in a form of our own.
CREATE TABLE contact_import_block (
    org_id    uuid  NOT NULL,
    import_id uuid  NOT NULL,
    block     int   NOT NULL,
    data      bytea NOT NULL,
    PRIMARY KEY (org_id, import_id, block)
);
ALTER TABLE contact_import_block ALTER COLUMN data SET STORAGE EXTERNAL;
CALL tenant('contact_import_block');
CALL system('contact_import_block', 'SELECT, DELETE');

CREATE TABLE contact_import_error (
    org_id    uuid  NOT NULL,
    import_id uuid  NOT NULL,
    row       int   NOT NULL, -- the header is row 1
    code      text  NOT NULL,
    detail    text  NOT NULL,
    cells     bytea NOT NULL, -- as sent, in the form of a block
    PRIMARY KEY (org_id, import_id, row)
);
CALL tenant('contact_import_error');
CALL system('contact_import_error', 'SELECT, DELETE');

-- What an import did to a contact, for the undo; of a dry run, what it would have done.
CREATE TABLE contact_import_effect (
    org_id       uuid NOT NULL,
    import_id    uuid NOT NULL,
    contact_id   uuid NOT NULL,
    act          text NOT NULL CHECK (act IN ('created', 'updated', 'unchanged')),
    was_edit     int  NOT NULL, -- the contact's edit before
    edit         int  NOT NULL, -- and after; -1: others changed it in between
    before       jsonb,         -- of 'updated': the contact as it was
    after        jsonb,         -- of a dry run: the contact as it would be
    email_folded text COLLATE "C", -- of a dry run: what later rows find it by
    PRIMARY KEY (org_id, import_id, contact_id)
);
CREATE INDEX contact_import_effect_dry ON contact_import_effect (org_id, import_id, email_folded) WHERE email_folded IS NOT NULL;
CALL tenant('contact_import_effect');
CALL system('contact_import_effect', 'SELECT, DELETE');

CREATE TABLE contact_export (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    status       text        NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'expired')),
    format       text        NOT NULL CHECK (format IN ('csv', 'ndjson')),
    filter       json,                   -- in the filter language; NULL: all
    archived     boolean     NOT NULL,   -- the archived ones instead of the live ones
    fields       text[]      NOT NULL,   -- columns; of the default ones attributes are added by the first step
    rows         int         NOT NULL DEFAULT 0,
    bytes        bigint      NOT NULL DEFAULT 0,
    parts        int         NOT NULL DEFAULT 0,
    after_at     timestamptz,            -- created_at and id of the last contact that is in the file
    after_id     uuid,
    error        text,
    actor_type   text        NOT NULL,
    actor_id     text        NOT NULL,
    request_id   text        NOT NULL,
    link_key     bytea       NOT NULL,
    created_at   timestamptz NOT NULL,
    started_at   timestamptz,
    completed_at timestamptz,
    expires_at   timestamptz NOT NULL,   -- from then on the file is gone
    computed     int         NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX contact_export_age ON contact_export (created_at);
CREATE INDEX contact_export_expires ON contact_export (expires_at) WHERE status <> 'expired';
CALL tenant('contact_export');
CALL system('contact_export', 'SELECT, UPDATE, DELETE');

CREATE TABLE contact_export_part (
    org_id    uuid  NOT NULL,
    export_id uuid  NOT NULL,
    part      int   NOT NULL,
    data      bytea NOT NULL,
    PRIMARY KEY (org_id, export_id, part)
);
ALTER TABLE contact_export_part ALTER COLUMN data SET STORAGE EXTERNAL;
CALL tenant('contact_export_part');
CALL system('contact_export_part', 'SELECT, DELETE');
