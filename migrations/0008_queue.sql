-- Lines, weights and pauses of jobs, and the indexes by which the feeder finds whose turn it is.

-- +goose Up

-- line: jobs that share one bottleneck, such as a webhook endpoint, and its slots. due: its time has come, so that it
-- waits, if it waits, for a slot alone. The feeder sets it when run_at has passed; it only parts two indexes, and
-- run_at decides all the same.
ALTER TABLE job ADD COLUMN line uuid, ADD COLUMN due boolean NOT NULL DEFAULT false;

DROP INDEX job_window;
DROP INDEX job_waiting;
CREATE INDEX job_window ON job (lane, org_id, line) WHERE state = 'ready' AND wake_at IS NOT NULL;
-- Whose turn it is, is found by stepping from group to group: a held line, a paused kind or a full window cost one
-- probe, however many rows wait in them.
CREATE INDEX job_waiting ON job (lane, org_id, coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at, id)
    WHERE state = 'ready' AND wake_at IS NULL AND due;
CREATE INDEX job_delayed ON job (run_at) WHERE state = 'ready' AND wake_at IS NULL AND NOT due;

-- A line without a row has 10 slots and no limits.
CREATE TABLE job_line (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    slots      int         NOT NULL DEFAULT 10 CHECK (slots > 0),
    held_until timestamptz,                        -- until then no job of the line runs
    probing    boolean     NOT NULL DEFAULT false, -- after it one slot, until the line is freed
    rate       int CHECK (rate > 0),               -- slots given per second; NULL: any number
    next_at    timestamptz NOT NULL DEFAULT now(), -- when a line with a rate gets its next slot
    PRIMARY KEY (org_id, id)
);
CALL tenant('job_line');
CALL system('job_line', 'SELECT, INSERT, UPDATE, DELETE');
CREATE INDEX job_line_held ON job_line (held_until) WHERE held_until IS NOT NULL;

-- An org's part of the slots where several orgs want them, and of its window: 1 unless said.
CREATE TABLE job_weight (
    org_id uuid NOT NULL,
    weight int  NOT NULL CHECK (weight BETWEEN 1 AND 100),
    PRIMARY KEY (org_id)
);
CALL tenant('job_weight');
CALL system('job_weight', 'SELECT, INSERT, UPDATE, DELETE');

-- While a lane is full in Redis, jobs wait for the feeder. The feeder says so, for a moment at a time.
CREATE TABLE job_lane (
    lane       text        NOT NULL PRIMARY KEY,
    full_until timestamptz NOT NULL
);
GRANT SELECT ON job_lane TO funnelwork_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON job_lane TO funnelwork_system;

-- job_wake(org, lane, kind, line, at): T1's rule. A due job with a free slot is pushed at once and looked at again in
-- 3 s if nobody claimed it; any other waits for the feeder, and so does one behind which older jobs of its line or org
-- wait already. Slots are counted, never kept: 50 x weight of an org and lane for jobs without a line; 10 of a line,
-- unless its row says otherwise, and never more than the org's lines together leave free of 100 x weight, so that a
-- line that fills up always leaves room for another. Lines that are held, probed or have a rate are the feeder's alone.
-- plpgsql, because its plans are kept.
-- +goose StatementBegin
CREATE FUNCTION job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    share int;
    most  int := 10;
    mine  int;
    lines int;
BEGIN
    IF at > now()
        OR EXISTS (SELECT FROM job_pause WHERE (scope, name) IN (('lane', in_lane), ('kind', in_kind), ('org', in_org::text)))
        OR EXISTS (SELECT FROM job_lane WHERE lane = in_lane AND full_until > now())
        OR EXISTS (SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND state = 'ready' AND wake_at IS NULL AND due
            AND coalesce(line, '00000000-0000-0000-0000-000000000000'::uuid) = coalesce(in_line, '00000000-0000-0000-0000-000000000000'::uuid))
    THEN
        RETURN NULL;
    END IF;
    share := coalesce((SELECT weight FROM job_weight WHERE org_id = in_org), 1);
    IF in_line IS NULL THEN
        SELECT count(*) INTO mine FROM (
            SELECT FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NULL AND state = 'ready' AND wake_at IS NOT NULL LIMIT 50 * share
        ) AS taken;
        RETURN CASE WHEN mine < 50 * share THEN now() + interval '3 seconds' END;
    END IF;
    SELECT CASE WHEN l.probing OR l.rate IS NOT NULL OR l.held_until > now() THEN 0 ELSE l.slots END INTO most
    FROM job_line l WHERE l.org_id = in_org AND l.id = in_line;
    SELECT count(*) FILTER (WHERE taken.line = in_line), count(*) INTO mine, lines FROM (
        SELECT line FROM job WHERE lane = in_lane AND org_id = in_org AND line IS NOT NULL AND state = 'ready' AND wake_at IS NOT NULL LIMIT 100 * share
    ) AS taken;
    RETURN CASE WHEN mine < least(coalesce(most, 10), 100 * share - lines) THEN now() + interval '3 seconds' END;
END
$$;
-- +goose StatementEnd
