-- Since when a user may not log in: an operator has disabled the account.

-- +goose Up
ALTER TABLE app_user ADD COLUMN disabled_at timestamptz;
-- A session begins in a transaction of its org, and only for a user who may log in.
GRANT SELECT (disabled_at) ON app_user TO funnelwork_app;
