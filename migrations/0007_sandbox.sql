-- The sandbox's webhook inbox: what arrived at a URL of the operators' listener. Nothing else reads it.

-- +goose Up
CREATE TABLE sandbox_hook (
    id          uuid        NOT NULL PRIMARY KEY,
    name        text        NOT NULL, -- the last segment of the URL
    headers     json        NOT NULL,
    body        bytea       NOT NULL,
    signature   text        NOT NULL CHECK (signature IN ('valid', 'invalid', 'unknown_webhook')),
    standard    text        NOT NULL CHECK (standard IN ('valid', 'invalid', 'unknown_webhook')),
    received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sandbox_hook_name ON sandbox_hook (name, id);
GRANT SELECT, INSERT, DELETE ON sandbox_hook TO funnelwork_system;

-- The inbox finds the webhooks that point at it, to check signatures with their sealed secrets.
CALL system('webhook_endpoint', 'SELECT');
