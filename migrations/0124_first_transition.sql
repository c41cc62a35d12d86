-- An enrolment has the first transition of its history itself, so that a large enrolment writes a row less per contact.
-- The history of enrolments from before has a row for it: their first_state is empty.

-- +goose Up
ALTER TABLE enrolment ADD COLUMN first_state text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN first_step text COLLATE "C" NOT NULL DEFAULT '';
