-- The billing sandbox: every object of the Stripe that stands in where no key is set. Nothing of the product reads
-- it; it speaks with the sandbox over Stripe's API.

-- +goose Up
CREATE TABLE sandbox_stripe (
    account text   NOT NULL, -- '' is the platform's own, else a connected account
    kind    text   NOT NULL,
    id      text   NOT NULL,
    seq     bigint GENERATED ALWAYS AS IDENTITY,
    created bigint NOT NULL, -- Unix seconds by the sandbox's clock, which may be ahead
    marks   text[] NOT NULL, -- what it is found by, such as customer=cus_1
    timer   text   NOT NULL, -- 'clock' or 'wire': what waits for due
    due     bigint NOT NULL,
    body    json   NOT NULL,
    PRIMARY KEY (account, kind, id)
);
CREATE UNIQUE INDEX sandbox_stripe_seq ON sandbox_stripe (kind, account, seq);
CREATE INDEX sandbox_stripe_marks ON sandbox_stripe USING gin (marks);
CREATE INDEX sandbox_stripe_due ON sandbox_stripe (timer, due, seq) WHERE timer <> '';
GRANT SELECT, INSERT, UPDATE, DELETE ON sandbox_stripe TO funnelwork_system;
