-- What we asked of Stripe, what we know of it, and what it told us. Stripe owns every amount: amounts here are what
-- it answered, in minor units.

-- +goose Up

-- Stripe's prices of the plans, as the last sync of the catalogue left them. A price that was replaced stays, so
-- that whoever still pays it is known to have its plan.
CREATE TABLE billing_price (
    stripe_id  text        NOT NULL PRIMARY KEY,
    kind       text        NOT NULL CHECK (kind IN ('base', 'overage')),
    plan       text        NOT NULL,
    "interval" text        NOT NULL CHECK ("interval" IN ('month', 'year')),
    amount     bigint      NOT NULL,
    currency   text        NOT NULL,
    replaced   boolean     NOT NULL DEFAULT false,
    synced_at  timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX billing_price_current ON billing_price (plan, "interval", kind) WHERE NOT replaced;
GRANT SELECT ON billing_price TO funnelwork_app;
GRANT SELECT, INSERT, UPDATE ON billing_price TO funnelwork_system;

-- Who an org is to Stripe. The row is also the lock under which an org's billing changes, and version counts what
-- was applied under it: a state read from Stripe may be applied only if version is still what it was before the read.
CREATE TABLE billing_customer (
    org_id     uuid        NOT NULL PRIMARY KEY,
    stripe_id  text        UNIQUE,   -- NULL until Stripe has answered
    stripe_key text        NOT NULL, -- Idempotency-Key of its creation
    keyed_at   timestamptz NOT NULL,
    version    bigint      NOT NULL DEFAULT 0
);
CALL tenant('billing_customer');
CALL system('billing_customer', 'SELECT');

-- Subscriptions as they were last read from Stripe.
CREATE TABLE stripe_subscription (
    org_id               uuid        NOT NULL,
    stripe_id            text        NOT NULL UNIQUE,
    live                 boolean     NOT NULL, -- counts: at most one per org
    status               text        NOT NULL,
    plan                 text        NOT NULL,
    "interval"           text        NOT NULL,
    price_id             text        NOT NULL,
    item_id              text        NOT NULL,
    quantity             bigint      NOT NULL,
    overage_item_id      text        NOT NULL,
    overage_price_id     text        NOT NULL,
    overage_quantity     bigint      NOT NULL,
    period_start         timestamptz NOT NULL,
    period_end           timestamptz NOT NULL,
    cancel_at_period_end boolean     NOT NULL,
    schedule_id          text        NOT NULL,
    pending_until        timestamptz,          -- an update waits for its money until then
    invoice_id           text        NOT NULL, -- the latest
    read_at              timestamptz NOT NULL,
    PRIMARY KEY (org_id, stripe_id)
);
CREATE UNIQUE INDEX stripe_subscription_live ON stripe_subscription (org_id) WHERE live;
CREATE INDEX stripe_subscription_due ON stripe_subscription (period_end) WHERE live;
CALL tenant('stripe_subscription');
CALL system('stripe_subscription', 'SELECT');

-- What was shown to somebody before they agreed to it.
CREATE TABLE billing_preview (
    org_id         uuid        NOT NULL,
    id             uuid        NOT NULL,
    plan           text        NOT NULL,
    "interval"     text        NOT NULL,
    timing         text        NOT NULL CHECK (timing IN ('start', 'now', 'period_end')),
    base           text        NOT NULL, -- what it was computed from; another base makes it stale
    amount_due     bigint      NOT NULL,
    total          bigint      NOT NULL, -- negative: a credit
    currency       text        NOT NULL,
    lines          json        NOT NULL,
    proration_date timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX billing_preview_age ON billing_preview (expires_at);
CALL tenant('billing_preview');
CALL system('billing_preview', 'SELECT, DELETE');

-- A change of plan, written before Stripe is asked. stripe_key and params are what it is asked with, so that whoever
-- finds the row later can ask again and be known as the same.
CREATE TABLE plan_change (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind IN ('start', 'now', 'period_end', 'cancel')),
    state           text        NOT NULL CHECK (state IN ('in_flight', 'action_required', 'scheduled', 'applied', 'failed', 'undone')),
    from_plan       text        NOT NULL,
    from_interval   text        NOT NULL,
    to_plan         text        NOT NULL,
    to_interval     text        NOT NULL,
    params          json        NOT NULL,
    stripe_key      text        NOT NULL UNIQUE,
    keyed_at        timestamptz NOT NULL, -- by our clock; the key is not used after 23 hours
    preview_id      uuid,
    amount_expected bigint      NOT NULL,
    amount_due      bigint      NOT NULL DEFAULT 0, -- what was charged, or waits to be
    currency        text        NOT NULL,
    subscription_id text        NOT NULL DEFAULT '',
    invoice_id      text        NOT NULL DEFAULT '',
    failure         text        NOT NULL DEFAULT '', -- a code of ours
    client_key      text,        -- the caller's Idempotency-Key, while it may come again
    fingerprint     bytea,
    effective_at    timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX plan_change_open ON plan_change (org_id) WHERE state IN ('in_flight', 'action_required');
CREATE UNIQUE INDEX plan_change_scheduled ON plan_change (org_id) WHERE state = 'scheduled';
CREATE UNIQUE INDEX plan_change_client_key ON plan_change (org_id, client_key) WHERE client_key IS NOT NULL;
CALL tenant('plan_change');
CALL system('plan_change', 'SELECT');

-- The reasons: each step of a change, in the order of their ids.
CREATE TABLE plan_change_step (
    org_id     uuid        NOT NULL,
    change_id  uuid        NOT NULL,
    id         uuid        NOT NULL,
    event      text        NOT NULL,
    detail     json        NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, change_id, id)
);
CALL tenant('plan_change_step');
REVOKE UPDATE, DELETE ON plan_change_step FROM funnelwork_app;

-- What Stripe told us. The row is the acknowledgement; worked_at is set in the transaction of its effect.
CREATE TABLE stripe_event (
    org_id      uuid        NOT NULL, -- the zero uuid where the customer is not ours, or the event is about none
    id          text        NOT NULL UNIQUE,
    connect     boolean     NOT NULL,
    account     text        NOT NULL,
    type        text        NOT NULL,
    customer    text        NOT NULL,
    object_id   text        NOT NULL,
    created_at  timestamptz NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    source      text        NOT NULL CHECK (source IN ('webhook', 'sync')),
    payload     json        NOT NULL,
    worked_at   timestamptz,
    outcome     text        NOT NULL DEFAULT '',
    PRIMARY KEY (org_id, id)
);
CREATE INDEX stripe_event_age ON stripe_event (received_at);
CALL tenant('stripe_event');
CALL system('stripe_event', 'SELECT, INSERT, DELETE');

-- How far a sync has come.
CREATE TABLE billing_sync (
    name       text        NOT NULL PRIMARY KEY,
    position   text        NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE ON billing_sync TO funnelwork_system;
