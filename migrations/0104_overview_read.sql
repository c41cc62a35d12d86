-- When the overview of an org was read last, to the minute: an overview that is not read is counted less often. And the
-- hash of a mail is stored by the statement that marks it, in the same row; that of email_content is not written any more.

-- +goose Up
ALTER TABLE overview_state ADD COLUMN read_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE email ADD COLUMN mime_sha256 bytea; -- of the mail that was marked last, before its DKIM signature
