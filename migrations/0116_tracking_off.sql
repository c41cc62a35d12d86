-- An org can have nothing of its mail tracked, whatever its mailboxes and emails say.

-- +goose Up
ALTER TABLE org_sending ADD COLUMN track_off boolean NOT NULL DEFAULT false;
