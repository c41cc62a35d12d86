-- Whether the class of an incoming message is sure. One that is not waits for a person, who settles it.

-- +goose Up
ALTER TABLE message ADD COLUMN sure boolean NOT NULL DEFAULT true;

-- Nothing has followed from the opinions that were recorded so far.
UPDATE message SET sure = false WHERE class_by = 'ai' OR class = 'unknown';
