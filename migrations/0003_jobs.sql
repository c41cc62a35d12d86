-- The job protocol's rows. Postgres decides, asynq delivers: worker/README.md tells the protocol.

-- +goose Up
CREATE TABLE job (
    id           uuid        NOT NULL,
    org_id       uuid        NOT NULL, -- the zero uuid for the platform's own jobs
    kind         text        NOT NULL,
    args         json        NOT NULL,
    lane         text        NOT NULL,
    run_at       timestamptz NOT NULL DEFAULT now(),
    state        text        NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'dead')),
    attempt      int         NOT NULL DEFAULT 0, -- failed attempts on record
    max_attempts int         NOT NULL,
    dispatch     int         NOT NULL DEFAULT 0, -- TaskID is id:dispatch
    owner        uuid,                           -- one run's fence; NULL: nobody runs it
    wake_at      timestamptz,                    -- when Postgres itself looks again; NULL: waits for its time or a slot
    losses       int         NOT NULL DEFAULT 0, -- runs that vanished
    dedupe_key   text,
    last_error   text        NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

CREATE INDEX job_wake ON job (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX job_window ON job (org_id, lane) WHERE state = 'ready' AND wake_at IS NOT NULL;
CREATE INDEX job_waiting ON job (lane, org_id, run_at, id) WHERE state = 'ready' AND wake_at IS NULL;
CREATE UNIQUE INDEX job_dedupe ON job (org_id, dedupe_key) WHERE dedupe_key IS NOT NULL;
CREATE INDEX job_dead ON job (org_id, kind, id) WHERE state = 'dead';
CREATE INDEX job_dead_newest ON job (lane, id) WHERE state = 'dead';
CALL tenant('job');
CALL system('job', 'SELECT, INSERT, UPDATE, DELETE');

-- job_wake(org, lane, at): T1's rule. A due job of an org with a free slot is pushed at once and looked at
-- again in 3 s if nobody claimed it; any other waits for the feeder. 50 slots per org and lane, counted, never kept.
-- +goose StatementBegin
CREATE FUNCTION job_wake(org uuid, in_lane text, at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN at <= now() AND (
        SELECT count(*) FROM (
            SELECT 1 FROM job WHERE org_id = org AND lane = in_lane AND state = 'ready' AND wake_at IS NOT NULL LIMIT 50
        ) AS taken) < 50
    THEN now() + interval '3 seconds' END
$$;
-- +goose StatementEnd

-- A tick happens once however many schedulers offer it. Old ticks are swept after their entry's horizon.
CREATE TABLE tick (
    entry   text        NOT NULL,
    tick    timestamptz NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (entry, tick)
);
GRANT SELECT, INSERT, DELETE ON tick TO funnelwork_system;

-- What an operator has paused: a lane now; kinds and orgs use the same table.
CREATE TABLE job_pause (
    scope     text        NOT NULL CHECK (scope IN ('lane', 'kind', 'org')),
    name      text        NOT NULL,
    paused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scope, name)
);
GRANT SELECT ON job_pause TO funnelwork_app;
GRANT SELECT, INSERT, DELETE ON job_pause TO funnelwork_system;
