-- Counts and sums by day for the overview. A job keeps them from the rows that they count; writers of those rows do
-- nothing for them.

-- +goose Up
CREATE TABLE day_count (
    org_id            uuid   NOT NULL,
    day               date   NOT NULL, -- in UTC
    contacts          bigint NOT NULL DEFAULT 0, -- live contacts that were created on the day
    deliveries        bigint NOT NULL DEFAULT 0, -- webhook deliveries created on the day that were delivered
    delivery_failures bigint NOT NULL DEFAULT 0, -- and that failed, so far or for good
    emails_sent       bigint NOT NULL DEFAULT 0,
    replies           bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, day)
);
CALL tenant('day_count');

-- Live deals by currency: won and lost ones by the day on which they were closed, open ones under the day infinity.
CREATE TABLE day_deals (
    org_id   uuid   NOT NULL,
    day      date   NOT NULL,
    status   text   COLLATE "C" NOT NULL,
    currency text   COLLATE "C" NOT NULL,
    deals    bigint NOT NULL,
    amount   bigint NOT NULL, -- minor units
    PRIMARY KEY (org_id, day, status, currency)
);
CALL tenant('day_deals');

-- What the counts include: every event up to seq.
CREATE TABLE overview_state (
    org_id     uuid        NOT NULL PRIMARY KEY,
    seq        bigint      NOT NULL DEFAULT 0,
    counted_at timestamptz NOT NULL DEFAULT '-infinity',
    whole_at   timestamptz NOT NULL DEFAULT '-infinity', -- the last count of all days
    late_at    timestamptz NOT NULL DEFAULT '-infinity', -- the last count of deliveries of earlier days
    rest_until timestamptz NOT NULL DEFAULT '-infinity', -- no count before, so that counts take a bounded share of time
    due_at     timestamptz -- deliveries are still under way; NULL: none
);
CALL tenant('overview_state');
CALL system('overview_state', 'SELECT, INSERT');

-- The system role finds the orgs with new events, and may read nothing else of them.
CREATE POLICY system ON event FOR SELECT TO funnelwork_system USING (true);
GRANT SELECT (org_id, id, seq) ON event TO funnelwork_system;
