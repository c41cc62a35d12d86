-- Slots that were given back are forgotten.

-- +goose Up

-- Slots come and go, and a scan that meets an entry of a row that is gone marks it, so that the next one passes it over.
-- But entries of one org and line are equal, and Postgres folds equal ones into one that can only be marked when all of
-- its rows are gone: every count of slots looked at all rows that had had one since the last vacuum.
DROP INDEX job_window;
CREATE INDEX job_window ON job (lane, org_id, line) WITH (deduplicate_items = off) WHERE state = 'ready' AND wake_at IS NOT NULL;
