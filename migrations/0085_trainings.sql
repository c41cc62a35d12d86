-- Trainings of the scoring model that users have asked for, and their progress.

-- +goose Up
CREATE TABLE score_training (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    status       text        NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'completed', 'failed')),
    created_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX score_training_open ON score_training (org_id) WHERE status = 'queued';
CALL tenant('score_training');
