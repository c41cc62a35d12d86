-- Servers of mailboxes that do not respond, and the lane of calls of servers that customers name.

-- +goose Up

-- A row exists while a server of a mailbox cannot be reached or does not respond.
CREATE TABLE mailbox_silence (
    org_id     uuid        NOT NULL,
    mailbox_id uuid        NOT NULL,
    server     text        NOT NULL CHECK (server IN ('smtp', 'imap')),
    since      timestamptz NOT NULL DEFAULT now(),
    failures   int         NOT NULL DEFAULT 1,  -- calls that have failed in a row; those before next_at count once
    detail     text        NOT NULL,            -- what happened at the last one, for people
    next_at    timestamptz NOT NULL,            -- when the server is called again
    PRIMARY KEY (org_id, mailbox_id, server)
);
CALL tenant('mailbox_silence');
CALL system('mailbox_silence', 'SELECT');
SELECT expect_rows_of_orgs('mailbox_silence');

-- What the API shows of the silence of a mailbox's servers, of the longest one; NULL: they respond.
CREATE FUNCTION mailbox_silent(org uuid, mailbox uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('server', server, 'since', since, 'detail', detail, 'next_at', next_at)
    FROM mailbox_silence s WHERE s.org_id = org AND s.mailbox_id = mailbox ORDER BY since, server LIMIT 1
$$;

-- job_wake(org, lane, kind, line, at): 0033 and 0075 state the rule. In the lane remote all keys of an org have 25 slots
-- together.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
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
                SELECT CASE in_lane WHEN 'remote' THEN 25 ELSE 100 END * coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1) AS of_all
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
