-- What waits of one line, or of an org without one, is found by just that.

-- +goose Up

-- Under row policies Postgres looks into an index by leakproof conditions alone, and coalesce() is none: whether something
-- of a line waits was asked of all that waits of its org, in the best of plans. An endpoint that was away made each
-- delivery to any other dearer, by all that stood before it.
CREATE INDEX job_waiting_line ON job (lane, org_id, line) WHERE state = 'ready' AND wake_at IS NULL AND due;

-- job_wake(org, lane, kind, line, at): 0008 states the rule, 0019 what is new of jobs without a line. It asks for the first
-- row of its sort, and of those the planner hopes to meet one early in any scan of the table; so there are no such scans.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    IF at > now() THEN
        RETURN NULL;
    ELSIF in_line IS NULL THEN
        RETURN (SELECT CASE WHEN share.of_all - taken.mine > 8 THEN now() + interval '3001 milliseconds' WHEN share.of_all > taken.mine THEN now() + interval '3 seconds' END
            FROM (SELECT 50 * coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1) AS of_all) AS share
            CROSS JOIN LATERAL (SELECT count(*) AS mine FROM (
                SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NULL AND state = 'ready' AND wake_at IS NOT NULL ORDER BY line LIMIT share.of_all
            ) AS some_of_it) AS taken
            WHERE NOT EXISTS (SELECT FROM job_pause WHERE (scope, name) IN (('lane', in_lane), ('kind', in_kind), ('org', in_org::text)))
                AND NOT EXISTS (SELECT FROM job_lane WHERE lane = in_lane AND full_until > now())
                AND NOT EXISTS (SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NULL AND state = 'ready' AND wake_at IS NULL AND due));
    END IF;
    RETURN (SELECT now() + interval '3 seconds'
        FROM (SELECT count(*) FILTER (WHERE some_of_it.line = in_line) AS mine, count(some_of_it.line) AS lines, share.of_all FROM (
                SELECT 100 * coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1) AS of_all
            ) AS share LEFT JOIN LATERAL (
                SELECT line FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NOT NULL AND state = 'ready' AND wake_at IS NOT NULL ORDER BY line LIMIT share.of_all
            ) AS some_of_it ON true
            GROUP BY share.of_all) AS taken
        LEFT JOIN job_line l ON l.org_id = in_org AND l.id = in_line
        WHERE NOT EXISTS (SELECT FROM job_pause WHERE (scope, name) IN (('lane', in_lane), ('kind', in_kind), ('org', in_org::text)))
            AND NOT EXISTS (SELECT FROM job_lane WHERE lane = in_lane AND full_until > now())
            AND NOT EXISTS (SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND line = in_line AND state = 'ready' AND wake_at IS NULL AND due)
            AND (l.id IS NULL OR NOT l.probing AND l.rate IS NULL AND (l.held_until IS NULL OR l.held_until <= now()))
            AND taken.mine < least(coalesce(l.slots, 10), taken.of_all - taken.lines));
END
$$;
-- +goose StatementEnd
