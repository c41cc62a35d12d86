-- What leads from a mail that comes back to the email that it is about, beside its Message-ID.

-- +goose Up

ALTER TABLE email
    ADD COLUMN soft_bounced_at timestamptz,              -- of a temporary failure; three in three days count as hard
    ADD COLUMN server_id       text NOT NULL DEFAULT ''; -- the id that the server's last reply names; '': none
CREATE INDEX email_server_id ON email (org_id, mailbox_id, server_id) WHERE server_id <> '';

ALTER TABLE email_content
    ADD COLUMN bounce_to text NOT NULL DEFAULT '';       -- sender of the envelope; '': from_email
