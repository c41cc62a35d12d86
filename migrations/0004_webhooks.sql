-- Events, the endpoints that want them, deliveries and their attempts.
--
-- Keys. Every table is (org_id, id). The three big ones are split by the day of their UUIDv7 id, so the key needs no
-- second column, a look-up by id prunes to one day and a day is dropped as a table. Deliveries are listed per endpoint,
-- newest first, with and without a status: one index each, both ending in id, because a filter behind the plain one would
-- walk a million delivered rows to find ten exhausted ones. Attempts are only ever asked for by their delivery. Endpoints
-- are few per org; an event finds its endpoints by the prefix of the primary key and filters the types there.

-- +goose Up

-- event_seq(n): the place of a transaction's n'th event (0..4095) in the order in which events become visible. The
-- transaction id stands in front, so that the feed's order and seq are one number, and everything below
-- event_horizon() is final: no transaction that is still open can add a row there. 2^41 transactions fit into the
-- 53 bits that a JSON number keeps. After a logical restore into a new cluster, whose transaction ids begin anew,
-- replace both functions by ones that add the old cluster's last id.
-- +goose StatementBegin
CREATE FUNCTION event_seq(n int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (pg_current_xact_id()::text::bigint << 12) | n
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION event_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 12
$$;
-- +goose StatementEnd

CREATE TABLE event (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    seq        bigint      NOT NULL,
    type       text        NOT NULL,
    actor_type text        NOT NULL,
    actor_id   text        NOT NULL DEFAULT '',
    request_id text        NOT NULL DEFAULT '',
    data       json        NOT NULL, -- json, not jsonb: the bytes are kept, and every delivery sends the same ones
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX event_feed ON event (org_id, seq);
CALL tenant('event');

CREATE TABLE webhook_endpoint (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL,
    url             text        NOT NULL,
    description     text        NOT NULL DEFAULT '',
    events          text[]      NOT NULL, -- types, or {*}
    rate_limit      int,                  -- deliveries per second; NULL: none
    enabled         boolean     NOT NULL DEFAULT true,
    disabled_reason text        NOT NULL DEFAULT '' CHECK (disabled_reason IN ('', 'gone', 'failing')), -- '' while enabled or switched off by hand
    secret          bytea       NOT NULL, -- sealed
    previous_secret bytea,                -- sealed; signs too until previous_until
    previous_until  timestamptz,
    failing_since   timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    archived_at     timestamptz,
    edit            int         NOT NULL DEFAULT 1,
    computed        int         NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, id)
);
CALL tenant('webhook_endpoint');

CREATE TABLE webhook_delivery (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL, -- also the id of its job
    endpoint_id     uuid        NOT NULL,
    event_id        uuid        NOT NULL, -- the webhook-id on every try
    event_type      text        NOT NULL,
    trigger         text        NOT NULL DEFAULT 'event' CHECK (trigger IN ('event', 'test', 'redelivery', 'replay')),
    body            json,                 -- the whole envelope where no event is stored: test sends
    status          text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'exhausted', 'discarded')),
    attempts        int         NOT NULL DEFAULT 0,
    last_status     int,                  -- the last answer's status code
    last_error      text        NOT NULL DEFAULT '', -- the last attempt's error class
    next_attempt_at timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX webhook_delivery_list ON webhook_delivery (org_id, endpoint_id, id);
CREATE INDEX webhook_delivery_status ON webhook_delivery (org_id, endpoint_id, status, id);
CALL tenant('webhook_delivery');

CREATE TABLE webhook_attempt (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL,
    delivery_id     uuid        NOT NULL,
    number          int         NOT NULL, -- from 1, within its delivery
    trigger         text        NOT NULL,
    request_headers json        NOT NULL,
    status          int,                  -- NULL: no answer
    answer          bytea       NOT NULL DEFAULT '', -- its first 16 KiB
    answer_cut      boolean     NOT NULL DEFAULT false,
    location        text        NOT NULL DEFAULT '', -- of a redirect, which is never followed
    error_class     text        NOT NULL DEFAULT '',
    error           text        NOT NULL DEFAULT '', -- for the org: never names an address
    dns_us          bigint      NOT NULL DEFAULT 0,
    connect_us      bigint      NOT NULL DEFAULT 0,
    tls_us          bigint      NOT NULL DEFAULT 0,
    first_byte_us   bigint      NOT NULL DEFAULT 0,
    total_us        bigint      NOT NULL DEFAULT 0,
    remote_addr     text        NOT NULL DEFAULT '', -- operators only; no answer of the API carries it
    started_at      timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX webhook_attempt_delivery ON webhook_attempt (org_id, delivery_id, id);
CALL tenant('webhook_attempt');

-- The safety nets: a row whose day has no partition, because no scheduler ran for a week, is kept here.
CREATE TABLE event_default PARTITION OF event DEFAULT;
CREATE TABLE webhook_delivery_default PARTITION OF webhook_delivery DEFAULT;
CREATE TABLE webhook_attempt_default PARTITION OF webhook_attempt DEFAULT;

-- A cursor of the feed may be 30 days old, hence a day more; deliveries outlive neither their event nor their attempts.
INSERT INTO partitioned (name, keep_days) VALUES ('event', 31), ('webhook_delivery', 31), ('webhook_attempt', 31);
SELECT make_partitions(7);
