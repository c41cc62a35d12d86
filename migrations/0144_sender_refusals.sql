-- What servers say of the sender: a mailbox that is held for it counts the refusals in a row, so that it is tried ever
-- more seldom, and keeps the last reply, which its owner sees. An email counts how often it was the first that a mailbox
-- which works was refused for: then the refusal is the email's own.

-- +goose Up

ALTER TABLE mailbox ADD COLUMN refusals integer NOT NULL DEFAULT 0,
    ADD COLUMN refusal_reply text NOT NULL DEFAULT '';

ALTER TABLE email ADD COLUMN sender_refusals smallint NOT NULL DEFAULT 0;
