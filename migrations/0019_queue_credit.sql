-- T1's rule says, besides, whether the next few may follow unasked.

-- +goose Up

-- job_wake(org, lane, kind, line, at): 0008 states the rule, 0018 its plans. New: of a job without a line the answer is a
-- millisecond later, 3.001 s, where at least 8 more slots are free behind it. Who adds job after job for one org asks for one in
-- eight then: asking costs about as much as adding.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
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
                AND NOT EXISTS (SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND state = 'ready' AND wake_at IS NULL AND due
                    AND coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'));
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
            AND NOT EXISTS (SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND state = 'ready' AND wake_at IS NULL AND due
                AND coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) = in_line)
            AND (l.id IS NULL OR NOT l.probing AND l.rate IS NULL AND (l.held_until IS NULL OR l.held_until <= now()))
            AND taken.mine < least(coalesce(l.slots, 10), taken.of_all - taken.lines));
END
$$;
-- +goose StatementEnd
