-- The mails that the server of sandbox mailboxes has taken.

-- +goose Up

CREATE TABLE sandbox_email (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    message_id  text        NOT NULL, -- without angle brackets
    sender      text        NOT NULL,
    recipient   text        NOT NULL,
    raw         bytea       NOT NULL, -- sealed
    received_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX sandbox_email_message ON sandbox_email (org_id, message_id);
CREATE INDEX sandbox_email_received ON sandbox_email (received_at, id);
CALL tenant('sandbox_email');
CALL system('sandbox_email', 'SELECT, UPDATE, DELETE');
