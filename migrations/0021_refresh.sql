-- Keys that seal, who holds them, and what keeps the tokens of grants alive.

-- +goose Up

-- Long-running processes, each of which writes its row again every two seconds: which keys of the keyset it holds.
CREATE TABLE process (
    id          uuid        NOT NULL PRIMARY KEY,
    role        text        NOT NULL,
    host        text        NOT NULL,
    keys        bigint[]    NOT NULL,
    primary_key bigint      NOT NULL, -- it seals with this one
    former_key  bigint,               -- it sealed with this one until changed_at
    changed_at  timestamptz NOT NULL DEFAULT now(),
    started_at  timestamptz NOT NULL DEFAULT now(),
    seen_at     timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON process TO funnelwork_system;

-- Keys by their ids, never the keys themselves. Every process must hold those that were promoted and not retired.
CREATE TABLE sealing_key (
    id          bigint      NOT NULL PRIMARY KEY,
    added_at    timestamptz NOT NULL DEFAULT now(),
    promoted_at timestamptz,
    retired_at  timestamptz
);
GRANT SELECT, INSERT, UPDATE ON sealing_key TO funnelwork_system;

-- What older keys sealed is sealed anew by the system role, which may change nothing else of these rows.
GRANT UPDATE (secret, previous_secret) ON webhook_endpoint TO funnelwork_system;
GRANT UPDATE (private) ON signing_key TO funnelwork_system;
GRANT UPDATE (body) ON system_mail TO funnelwork_system;
GRANT UPDATE (body) ON sandbox_mail TO funnelwork_system;
GRANT UPDATE (sealed) ON social_pending TO funnelwork_system;

-- Due grants of one platform and client id in the order of their time: each pair has a budget of its own, and one that is over
-- it must not stand before the others.
DROP INDEX social_grant_due;
CREATE INDEX social_grant_due ON social_grant (platform, client_id, refresh_at) WHERE status IN ('active', 'expiring') AND refresh_at IS NOT NULL;

-- For how many days ahead its people were last told of the end of a login that cannot be renewed beyond it. 0: not told.
ALTER TABLE social_grant ADD COLUMN warned_days int NOT NULL DEFAULT 0;
CREATE INDEX social_grant_end ON social_grant (refresh_expires_at) WHERE status IN ('active', 'expiring') AND refresh_expires_at IS NOT NULL;

-- Requests for tokens per application that is registered with a provider; all processes share the row.
CREATE TABLE social_budget (
    family    text        NOT NULL, -- of platforms that share an application
    client_id text        NOT NULL,
    next_at   timestamptz NOT NULL DEFAULT '-infinity', -- when the next request may go, evenly spaced
    claim_at  timestamptz NOT NULL DEFAULT '-infinity', -- up to when claims have taken their turns
    PRIMARY KEY (family, client_id)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON social_budget TO funnelwork_system, funnelwork_app;

-- A platform that is not asked for tokens for a while: it said so, or refuses our own credentials.
CREATE TABLE social_hold (
    platform   text        NOT NULL,
    client_id  text        NOT NULL,
    held_until timestamptz NOT NULL,
    cause      text        NOT NULL CHECK (cause IN ('throttled', 'misconfigured')),
    code       text        NOT NULL DEFAULT '', -- the provider's
    since      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (platform, client_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON social_hold TO funnelwork_system, funnelwork_app;
