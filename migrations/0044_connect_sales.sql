-- What resellers sell to their clients through their own accounts, and where the money of each invoice went.

-- +goose Up

-- A subscription of a client, on the reseller's account. It is written before Stripe is asked.
CREATE TABLE connect_sale (
    org_id          uuid        NOT NULL, -- the reseller
    id              uuid        NOT NULL,
    client_org_id   uuid        NOT NULL,
    account         text        NOT NULL, -- at Stripe
    state           text        NOT NULL CHECK (state IN ('in_flight', 'active', 'ended', 'failed')),
    keyed_at        timestamptz NOT NULL, -- of its Idempotency-Keys, which are made of its id
    email           text        NOT NULL, -- where its invoices go
    name            text        NOT NULL, -- what is sold
    amount          bigint      NOT NULL CHECK (amount > 0), -- of each period, in minor units
    currency        text        NOT NULL,
    "interval"      text        NOT NULL CHECK ("interval" IN ('month', 'year')),
    days_until_due  int         NOT NULL,
    subscription_id text        NOT NULL DEFAULT '',
    fee_bps         int         NOT NULL CHECK (fee_bps BETWEEN 0 AND 10000), -- the platform's percentage as Stripe has it, in hundredths
    fee_wanted      int         NOT NULL CHECK (fee_wanted BETWEEN 0 AND 10000), -- as it is to be
    fee_refused_at  timestamptz,          -- when Stripe refused to change it: the account is not ours to touch any more
    failure         text        NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX connect_sale_subscription ON connect_sale (subscription_id) WHERE subscription_id <> '';
CREATE INDEX connect_sale_live ON connect_sale (org_id) WHERE state IN ('in_flight', 'active');
CALL tenant('connect_sale');
CALL system('connect_sale', 'SELECT');

-- Who got what of an invoice, in the currency in which Stripe settles with the account. It is Stripe's own reckoning, read
-- from the payment's balance transaction; what is given back later is beside it.
CREATE TABLE connect_fee (
    org_id          uuid        NOT NULL,
    invoice_id      text        NOT NULL,
    sale_id         uuid        NOT NULL,
    account         text        NOT NULL,
    charge_id       text        NOT NULL,
    fee_id          text        NOT NULL, -- Stripe's application fee; '' for none
    currency        text        NOT NULL,
    gross           bigint      NOT NULL,
    stripe_fee      bigint      NOT NULL,
    application_fee bigint      NOT NULL, -- the platform's
    net             bigint      NOT NULL, -- the reseller's
    fee_bps         int         NOT NULL, -- the platform's percentage when the invoice was made, in hundredths
    refunded        bigint      NOT NULL DEFAULT 0, -- of gross, by the reseller
    fee_refunded    bigint      NOT NULL DEFAULT 0, -- of application_fee, by the platform
    paid_at         timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, invoice_id),
    CHECK (gross = net + application_fee + stripe_fee),
    CHECK (refunded BETWEEN 0 AND gross AND fee_refunded BETWEEN 0 AND application_fee)
);
CREATE INDEX connect_fee_paid ON connect_fee (org_id, paid_at DESC, invoice_id DESC);
CALL tenant('connect_fee');
