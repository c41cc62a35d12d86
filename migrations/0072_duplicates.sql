-- Contacts that may be the same person: what the last search of an org has found.

-- +goose Up
CREATE TABLE contact_duplicate (
    org_id      uuid   NOT NULL,
    reason      text   NOT NULL CHECK (reason IN ('email', 'name_company', 'phone')),
    n           int    NOT NULL, -- in the order of what they have in common
    contact_ids uuid[] NOT NULL, -- oldest first
    PRIMARY KEY (org_id, reason, n)
);
CALL tenant('contact_duplicate');

CREATE TABLE contact_duplicate_search (
    org_id       uuid        NOT NULL PRIMARY KEY,
    asked_at     timestamptz NOT NULL,
    completed_at timestamptz -- of the last one that ended
);
CALL tenant('contact_duplicate_search');
