-- Imports that account for every line: blank rows, warnings about cells that were left out, and how the file was read.

-- +goose Up

ALTER TABLE contact_import
    ADD COLUMN rows_blank     int     NOT NULL DEFAULT 0,
    ADD COLUMN warnings_count int     NOT NULL DEFAULT 0,
    ADD COLUMN strict         boolean NOT NULL DEFAULT false,
    ADD COLUMN locale         text    NOT NULL DEFAULT '',
    ADD COLUMN source         jsonb   NOT NULL DEFAULT '{}'; -- encoding, delimiter and header; {}: blocks of the former form

CREATE TABLE contact_import_warning (
    org_id    uuid NOT NULL,
    import_id uuid NOT NULL,
    number    int  NOT NULL, -- of the warning in the import; the first is 1
    row       int  NOT NULL, -- in the file
    col       text,          -- name of the column; NULL: the whole row
    code      text NOT NULL,
    detail    text NOT NULL,
    PRIMARY KEY (org_id, import_id, number)
);
CALL tenant('contact_import_warning');
CALL system('contact_import_warning', 'SELECT, DELETE');

ALTER TABLE suppression_import
    ADD COLUMN rows_blank     int     NOT NULL DEFAULT 0,
    ADD COLUMN warnings_count int     NOT NULL DEFAULT 0,
    ADD COLUMN strict         boolean NOT NULL DEFAULT false,
    ADD COLUMN source         jsonb   NOT NULL DEFAULT '{}';

CREATE TABLE suppression_import_warning (
    org_id    uuid NOT NULL,
    import_id uuid NOT NULL,
    number    int  NOT NULL,
    row       int  NOT NULL,
    col       text,
    code      text NOT NULL,
    detail    text NOT NULL,
    PRIMARY KEY (org_id, import_id, number)
);
CALL tenant('suppression_import_warning');
CALL system('suppression_import_warning', 'SELECT, DELETE');

SELECT expect_rows_of_orgs('contact_import_warning'), expect_rows_of_orgs('suppression_import_warning');
