-- Resellers' own accounts at Stripe, through which they bill their clients.

-- +goose Up

-- One row per org, written before Stripe is asked for an account. It is what was last read from Stripe; it is also the
-- lock under which the org sells, and version counts what was applied under it: a reading may be applied only if version
-- is still what it was before the account was read.
CREATE TABLE connect_account (
    org_id               uuid        NOT NULL PRIMARY KEY,
    stripe_id            text        UNIQUE,             -- NULL until Stripe has answered
    stripe_key           text        NOT NULL,           -- Idempotency-Key of its creation
    keyed_at             timestamptz NOT NULL,           -- by our clock; the key is not used after 23 hours
    attempt              int         NOT NULL DEFAULT 1, -- accounts and keys that were begun
    intended_at          timestamptz NOT NULL,           -- since when this account is wanted
    state                text        NOT NULL DEFAULT 'not_started'
        CHECK (state IN ('not_started', 'onboarding', 'pending_review', 'restricted', 'enabled', 'disconnected')),
    details_submitted    boolean     NOT NULL DEFAULT false,
    charges_enabled      boolean     NOT NULL DEFAULT false,
    payouts_enabled      boolean     NOT NULL DEFAULT false,
    card_payments        text        NOT NULL DEFAULT '', -- the capabilities' statuses; '' where not asked for
    transfers            text        NOT NULL DEFAULT '',
    currently_due        text[]      NOT NULL DEFAULT '{}',
    past_due             text[]      NOT NULL DEFAULT '{}',
    pending_verification text[]      NOT NULL DEFAULT '{}',
    deadline             timestamptz,                     -- until which currently_due has to be given; NULL: none
    disabled_reason      text        NOT NULL DEFAULT '',
    version              bigint      NOT NULL DEFAULT 0,
    state_since          timestamptz NOT NULL,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    CHECK ((state = 'not_started') = (stripe_id IS NULL))
);
CREATE INDEX connect_account_begun ON connect_account (keyed_at) WHERE stripe_id IS NULL;
CALL tenant('connect_account');
CALL system('connect_account', 'SELECT');
