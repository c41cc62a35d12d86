-- Where a contact lives, and the basis on which the org writes to it.

-- +goose Up
ALTER TABLE contact
    ADD COLUMN country        text,
    ADD COLUMN country_folded text COLLATE "C",
    ADD COLUMN consent        jsonb;
CREATE INDEX contact_country ON contact (org_id, country_folded, created_at, id)
    WHERE country_folded IS NOT NULL AND archived_at IS NULL;
