-- The first score of a contact is recorded in its row of contact_score, and there only once another one replaces it:
-- most scores never change, so most contacts have no row in score_history.

-- +goose Up

-- All NULL: the score of the row is the first one. first_version is '' for contacts of before, whose records are all in
-- score_history.
ALTER TABLE contact_score
    ADD COLUMN first_score       double precision,
    ADD COLUMN first_probability double precision,
    ADD COLUMN first_version     text DEFAULT '';
ALTER TABLE contact_score ALTER COLUMN first_version DROP DEFAULT;
