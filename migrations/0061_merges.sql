-- Contacts that were folded into another one, and what it takes to undo that.

-- +goose Up
CREATE TABLE contact_merge (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    survivor_id uuid        NOT NULL,
    loser_ids   uuid[]      NOT NULL, -- in the order given
    undo        jsonb,      -- what undoing needs; NULL once it is undone, or after its 30 days
    created_at  timestamptz NOT NULL,
    undone_at   timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX contact_merge_survivor ON contact_merge (org_id, survivor_id, id);
CREATE INDEX contact_merge_old ON contact_merge (created_at) WHERE undo IS NOT NULL;
CALL tenant('contact_merge');
CALL system('contact_merge', 'SELECT, UPDATE');

-- Who is in whom at present: whose timeline is shown with whose.
CREATE TABLE contact_merged (
    org_id      uuid NOT NULL,
    survivor_id uuid NOT NULL,
    contact_id  uuid NOT NULL,
    merge_id    uuid NOT NULL,
    PRIMARY KEY (org_id, survivor_id, contact_id)
);
CREATE INDEX contact_merged_loser ON contact_merged (org_id, contact_id);
CALL tenant('contact_merged');
