-- What a person sees of their sessions, and which session a staff token hangs on.

-- +goose Up

-- Where a token was handed out to; the newest token's is shown as the session's.
ALTER TABLE refresh_token ADD COLUMN ip text NOT NULL DEFAULT '', ADD COLUMN user_agent text NOT NULL DEFAULT '';

-- The session, of the agency's org, that asked for the access. NULL: lent by an older version.
ALTER TABLE staff_access ADD COLUMN session_id uuid;
