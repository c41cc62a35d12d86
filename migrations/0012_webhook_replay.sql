-- Sending again: replays of a range of events to one endpoint, and the deliveries that come of them.

-- +goose Up
CREATE TABLE webhook_replay (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    endpoint_id  uuid        NOT NULL,
    from_at      timestamptz NOT NULL, -- events made from here on
    to_at        timestamptz NOT NULL, -- and before this
    types        text[]      NOT NULL, -- or {*}
    only_failed  boolean     NOT NULL,
    to_disabled  boolean     NOT NULL, -- the endpoint was switched off when it was asked for, and gets it all the same
    status       text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'stopped')),
    events       bigint      NOT NULL, -- that matched when it was asked for
    sent         bigint      NOT NULL DEFAULT 0, -- deliveries made so far
    walked       uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000', -- the event, or with only_failed the delivery, that was dealt with last
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (org_id, id)
);
-- An endpoint's replays go one after the other.
CREATE INDEX webhook_replay_open ON webhook_replay (org_id, endpoint_id, id) WHERE completed_at IS NULL;
CALL tenant('webhook_replay');
CALL system('webhook_replay', 'SELECT, DELETE');

ALTER TABLE webhook_delivery ADD COLUMN replay_id uuid;

-- The second and further deliveries of one event to one endpoint. The first, which are nearly all, pay nothing.
CREATE INDEX webhook_delivery_again ON webhook_delivery (org_id, endpoint_id, event_id) WHERE trigger IN ('redelivery', 'replay');
CREATE INDEX webhook_delivery_replay ON webhook_delivery (org_id, replay_id, status) WHERE replay_id IS NOT NULL;
-- One type among millions of others.
CREATE INDEX webhook_delivery_type ON webhook_delivery (org_id, endpoint_id, event_type, id);
