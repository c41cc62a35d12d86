-- An org can turn tracking off for all its mail; mailboxes and emails cannot turn it on again.

-- +goose Up
ALTER TABLE org_sending ADD COLUMN track_off boolean NOT NULL DEFAULT false;
