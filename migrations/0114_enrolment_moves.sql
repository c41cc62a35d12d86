-- Moves of the enrolments of a sequence to another version, which a job executes in pieces.

-- +goose Up
CREATE TABLE enrolment_move (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    sequence_id  uuid        NOT NULL,
    from_version int         NOT NULL,
    to_version   int         NOT NULL,
    chosen       json        NOT NULL,            -- keys of steps of from_version to keys of to_version
    dry_run      boolean     NOT NULL,
    status       text        NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    after_id     uuid,                            -- the last enrolment that was processed
    total        int         NOT NULL,
    moved        int         NOT NULL DEFAULT 0,
    finished     int         NOT NULL DEFAULT 0,  -- of these: no step was left for them
    error        text        NOT NULL DEFAULT '',
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX enrolment_move_age ON enrolment_move (completed_at) WHERE completed_at IS NOT NULL;
CALL tenant('enrolment_move');
CALL system('enrolment_move', 'SELECT, DELETE');
CREATE INDEX enrolment_version ON enrolment (org_id, sequence_id, version, id) WHERE ended_at IS NULL;
