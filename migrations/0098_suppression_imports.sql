-- Imports of suppressions, built like those of contacts: the file is staged in blocks, worked step by step, and the
-- lines that were refused are kept for a while.

-- +goose Up

CREATE TABLE suppression_import (
    org_id         uuid        NOT NULL,
    id             uuid        NOT NULL,
    status         text        NOT NULL CHECK (status IN ('uploading', 'queued', 'running', 'completed', 'failed')),
    file_name      text,
    columns        jsonb       NOT NULL DEFAULT '[]', -- name and field (NULL: ignored) of each, in the file's order
    purpose        text        NOT NULL DEFAULT '',   -- of lines without their own
    reason         text        NOT NULL DEFAULT '',
    blocks         int         NOT NULL DEFAULT 0,
    next_block     int         NOT NULL DEFAULT 0,    -- those before it are worked: the fence of a step
    rows_total     int         NOT NULL DEFAULT 0,
    rows_added     int         NOT NULL DEFAULT 0,
    rows_unchanged int         NOT NULL DEFAULT 0,
    rows_failed    int         NOT NULL DEFAULT 0,
    error          text,
    created_by     text        NOT NULL,
    link_key       bytea       NOT NULL,              -- signs the links to its refused lines
    created_at     timestamptz NOT NULL,
    started_at     timestamptz,
    completed_at   timestamptz,
    computed       int         NOT NULL DEFAULT 0,    -- the ETag's second part: moved by each step
    PRIMARY KEY (org_id, id)
);
CREATE INDEX suppression_import_age ON suppression_import (created_at);
CALL tenant('suppression_import');
CALL system('suppression_import', 'SELECT, DELETE');

CREATE TABLE suppression_import_block (
    org_id    uuid  NOT NULL,
    import_id uuid  NOT NULL,
    block     int   NOT NULL,
    data      bytea NOT NULL,
    PRIMARY KEY (org_id, import_id, block)
);
ALTER TABLE suppression_import_block ALTER COLUMN data SET STORAGE EXTERNAL;
CALL tenant('suppression_import_block');
CALL system('suppression_import_block', 'SELECT, DELETE');

CREATE TABLE suppression_import_error (
    org_id    uuid  NOT NULL,
    import_id uuid  NOT NULL,
    row       int   NOT NULL, -- the header is row 1
    code      text  NOT NULL,
    detail    text  NOT NULL,
    cells     bytea NOT NULL, -- as sent, in the form of a block
    PRIMARY KEY (org_id, import_id, row)
);
CALL tenant('suppression_import_error');
CALL system('suppression_import_error', 'SELECT, DELETE');
