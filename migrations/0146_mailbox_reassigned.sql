-- The mailbox that took over what an archived one had to send. An email that was being transmitted at that moment, and
-- turns out not to have been sent, follows it.

-- +goose Up

ALTER TABLE mailbox ADD COLUMN reassigned_to uuid;
