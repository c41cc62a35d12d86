-- Providers of outgoing mail that post what becomes of it.

-- +goose Up

-- mailbox_provider: the provider of a mailbox.
CREATE TABLE mailbox_provider (
    org_id        uuid        NOT NULL,
    id            uuid        NOT NULL, -- of the mailbox
    provider      text        COLLATE "C" NOT NULL CHECK (provider IN ('ses', 'postmark', 'mailgun', 'sendgrid')),
    key           bytea       NOT NULL, -- sealed: what its requests are verified with
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    last_event_at timestamptz,          -- when it last posted an event
    PRIMARY KEY (org_id, id)
);
CALL tenant('mailbox_provider');
CALL system('mailbox_provider', 'SELECT, UPDATE');

-- provider_event: the events that were received, so that each has its effect once.
CREATE TABLE provider_event (
    org_id      uuid        NOT NULL,
    mailbox_id  uuid        NOT NULL,
    identity    bytea       NOT NULL, -- hash of the provider's id of the event
    received_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, mailbox_id, identity)
);
CREATE INDEX provider_event_age ON provider_event (received_at);
CALL tenant('provider_event');
CALL system('provider_event', 'SELECT, DELETE');
