-- Sessions of the web console, whose refresh token the browser keeps in a cookie.

-- +goose Up

-- The client that a session's tokens are issued to: 'console', or '' for every caller of the API. All tokens of a
-- family have the same one.
ALTER TABLE refresh_token ADD COLUMN client text NOT NULL DEFAULT '' CHECK (client IN ('', 'console'));
