-- While an old snapshot is open (a dump, an analyst's session, a standby with feedback), the rows of ended jobs stay in
-- the indexes. Who counts the slots of an org, or looks for due rows, must not visit them: the relay publishes a time
-- before which no row has its wake_at, and the count begins there.

-- +goose Up

-- One row, or a few for a moment; the highest is the floor.
CREATE TABLE job_floor (
    at timestamptz PRIMARY KEY
);
GRANT SELECT ON job_floor TO funnelwork_app;
GRANT SELECT, INSERT, DELETE ON job_floor TO funnelwork_system;

-- job_wake(org, lane, kind, line, at): 0033, 0075 and 0130 state the rule. Slots are counted from the floor on. A job does
-- not go before those that wait for the same slots: it is enough to look at those of the last seconds. While older ones
-- wait and a worker runs, there is no free slot, or one for as long as a round of the feeder.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
DECLARE
    floor timestamptz;
BEGIN
    IF at > now() THEN
        RETURN NULL;
    END IF;
    floor := coalesce((SELECT max(job_floor.at) FROM job_floor), '-infinity');
    IF in_line IS NULL THEN
        RETURN (SELECT CASE WHEN share.of_all - taken.mine > 8 THEN now() + interval '3001 milliseconds' WHEN share.of_all > taken.mine THEN now() + interval '3 seconds' END
            FROM (SELECT 50 * coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1) AS of_all) AS share
            CROSS JOIN LATERAL (SELECT count(*) AS mine FROM (
                SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NULL AND state = 'ready' AND wake_at IS NOT NULL AND wake_at >= floor ORDER BY wake_at LIMIT share.of_all
            ) AS some_of_it) AS taken
            WHERE NOT EXISTS (SELECT FROM job_pause WHERE (scope, name) IN (('lane', in_lane), ('kind', in_kind), ('org', in_org::text)))
                AND NOT EXISTS (SELECT FROM job_lane WHERE lane = in_lane AND full_until > now())
                AND (SELECT true FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NULL AND state = 'ready' AND wake_at IS NULL AND due
                    AND run_at > now() - interval '10 seconds' ORDER BY run_at DESC LIMIT 1) IS NULL);
    END IF;
    RETURN (SELECT now() + interval '3 seconds'
        FROM (SELECT count(*) FILTER (WHERE some_of_it.line = in_line) AS mine, count(some_of_it.line) AS lines, share.of_all FROM (
                SELECT CASE in_lane WHEN 'remote' THEN 25 ELSE 100 END * coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1) AS of_all
            ) AS share LEFT JOIN LATERAL (
                SELECT line FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NOT NULL AND state = 'ready' AND wake_at IS NOT NULL AND wake_at >= floor ORDER BY wake_at LIMIT share.of_all
            ) AS some_of_it ON true
            GROUP BY share.of_all) AS taken
        LEFT JOIN job_line l ON l.org_id = in_org AND l.id = in_line
        WHERE NOT EXISTS (SELECT FROM job_pause WHERE (scope, name) IN (('lane', in_lane), ('kind', in_kind), ('org', in_org::text)))
            AND NOT EXISTS (SELECT FROM job_lane WHERE lane = in_lane AND full_until > now())
            AND (SELECT true FROM job WHERE lane = in_lane AND org_id = in_org AND line = in_line AND state = 'ready' AND wake_at IS NULL AND due
                AND run_at > now() - interval '10 seconds' ORDER BY run_at DESC LIMIT 1) IS NULL
            AND (l.id IS NULL OR NOT l.probing AND l.rate IS NULL AND (l.held_until IS NULL OR l.held_until <= now()))
            AND taken.mine < least(coalesce(l.slots, 10), taken.of_all - taken.lines));
END
$$;
-- +goose StatementEnd
