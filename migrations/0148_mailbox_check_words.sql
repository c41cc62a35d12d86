-- What the server said at the last test of a mailbox, or when it refused the sign-in, and what to do about it.

-- +goose Up

ALTER TABLE mailbox ADD COLUMN check_detail text NOT NULL DEFAULT '',
    ADD COLUMN check_action text NOT NULL DEFAULT '';
