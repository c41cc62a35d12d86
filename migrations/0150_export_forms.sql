-- Exports as workbooks, which are written in steps, and with a byte order mark.

-- +goose Up

ALTER TABLE contact_export
    ADD COLUMN bom   boolean NOT NULL DEFAULT false, -- the file begins with a byte order mark
    ADD COLUMN sheet jsonb;                          -- state of an unfinished workbook; NULL: another format

ALTER TABLE contact_export DROP CONSTRAINT contact_export_format_check;
ALTER TABLE contact_export ADD CONSTRAINT contact_export_format_check CHECK (format IN ('csv', 'ndjson', 'xlsx'));
