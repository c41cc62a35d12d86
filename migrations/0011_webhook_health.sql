-- How endpoints have been doing since their last success: the circuit breaker's state, and what the rule that
-- disables an endpoint is judged by. A narrow table of its own, because attempts write it and people write the
-- endpoint. An endpoint without a row is healthy. Times are the database's.

-- +goose Up
CREATE TABLE webhook_health (
    org_id        uuid        NOT NULL,
    endpoint_id   uuid        NOT NULL,
    failing_since timestamptz,                    -- the first failure since the last success; NULL: none
    failed_events int         NOT NULL DEFAULT 0, -- events of which a try failed for the first time since then
    streak        int         NOT NULL DEFAULT 0, -- failures in a row, all within a minute, that say the endpoint is down
    streak_from   timestamptz,
    opened_at     timestamptz,                    -- the circuit is open since; NULL: it is closed
    next_probe_at timestamptz,                    -- while it is open: when the next delivery may be tried
    warned        int         NOT NULL DEFAULT 0, -- the highest percentage of the rule that people were warned of
    PRIMARY KEY (org_id, endpoint_id)
) WITH (fillfactor = 50);
CREATE INDEX webhook_health_failing ON webhook_health (failing_since) WHERE failing_since IS NOT NULL;
CALL tenant('webhook_health');
CALL system('webhook_health', 'SELECT');
