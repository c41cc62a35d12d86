-- Enrolments: the ways of contacts through sequences, the groups by which their steps are due, and their history.

-- +goose Up

-- schedule_zone: the windows of a schedule in a time zone. The first window that ends after the last look is kept.
CREATE TABLE schedule_zone (
    org_id    uuid        NOT NULL,
    schedule  bytea       NOT NULL,               -- first 16 bytes of the SHA-256 of body
    zone      text        COLLATE "C" NOT NULL,   -- of the IANA database
    body      jsonb       NOT NULL,               -- days, from, to and holidays
    opens_at  timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, schedule, zone)
);
CALL tenant('schedule_zone');

-- send_group: the enrolments that wait for the same mailbox, schedule and zone. Closed windows, caps, gaps, holds and
-- pauses move wake_at of the group, and no row of an enrolment. The group without a mailbox has the steps that send
-- nothing.
CREATE TABLE send_group (
    org_id      uuid   NOT NULL,
    id          bigint NOT NULL,                  -- hash of the columns below, up to zone
    sequence_id uuid   NOT NULL,
    mailbox_id  uuid,                             -- NULL: steps that send nothing
    schedule    bytea  NOT NULL,
    zone        text   COLLATE "C" NOT NULL,
    wake_at     timestamptz,                      -- when to look for due steps; NULL: there are none
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE INDEX send_group_wake ON send_group (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX send_group_sequence ON send_group (org_id, sequence_id);
CALL tenant('send_group');
CALL system('send_group', 'SELECT');

CREATE TABLE enrolment (
    org_id        uuid        NOT NULL,
    id            uuid        NOT NULL,
    sequence_id   uuid        NOT NULL,
    version       int         NOT NULL,
    contact_id    uuid        NOT NULL,
    state         text        COLLATE "C" NOT NULL CHECK (state IN ('pending', 'active', 'sending', 'paused', 'finished',
        'replied', 'unsubscribed', 'bounced', 'goal_met', 'failed', 'removed')),
    reason        text        NOT NULL DEFAULT '',  -- why it has the state
    step          text        COLLATE "C" NOT NULL, -- key of the step that is due, or was the last
    step_number   int         NOT NULL DEFAULT 1,   -- steps so far, with this one
    due_at        timestamptz,                      -- of the step; NULL unless pending or active
    kept_due_at   timestamptz,                      -- while paused: due_at to return to
    resume_at     timestamptz,                      -- when a pause ends by itself
    until_at      timestamptz,                      -- how long a condition waits
    task_id       uuid,                             -- task that the step waits for
    grp           bigint      NOT NULL,             -- send_group
    prio          smallint    NOT NULL DEFAULT 1,   -- 0: follow-up, 1: first step
    mailbox_id    uuid        NOT NULL,             -- sends every mail of the enrolment
    zone          text        COLLATE "C" NOT NULL,
    last_email_id uuid,                             -- the last mail that was sent
    next_step     text        COLLATE "C" NOT NULL DEFAULT '', -- while sending: the step after; '': none
    next_value    int         NOT NULL DEFAULT 0,   -- its delay
    next_unit     text        NOT NULL DEFAULT '',
    next_grp      bigint      NOT NULL DEFAULT 0,
    stop_reply    boolean     NOT NULL DEFAULT true,
    stop_company  boolean     NOT NULL DEFAULT false, -- a reply of a colleague ends it
    stop_deal     boolean     NOT NULL DEFAULT false, -- a won deal ends it
    batch_id      uuid,                             -- the large enrolment that it is from
    created_by    text        NOT NULL DEFAULT '',  -- 'user/<id>', 'key/<id>', 'segment/<id>' or ''
    created_at    timestamptz NOT NULL,
    started_at    timestamptz,                      -- when its first step ran
    state_at      timestamptz NOT NULL,
    ended_at      timestamptz,                      -- NULL: it is open
    edit          int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id),
    CHECK (due_at IS NULL OR state IN ('pending', 'active'))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX enrolment_open ON enrolment (org_id, sequence_id, contact_id) WHERE ended_at IS NULL;
CREATE INDEX enrolment_due ON enrolment (org_id, grp, prio, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX enrolment_resume ON enrolment (org_id, grp, resume_at) WHERE resume_at IS NOT NULL;
CREATE INDEX enrolment_sending ON enrolment (org_id, mailbox_id) WHERE state = 'sending';
CREATE INDEX enrolment_contact ON enrolment (org_id, contact_id, id);
CREATE INDEX enrolment_sequence ON enrolment (org_id, sequence_id, state, id);
CREATE INDEX enrolment_started ON enrolment (org_id, sequence_id, started_at) WHERE started_at IS NOT NULL;
CREATE INDEX enrolment_task ON enrolment (org_id, task_id) WHERE task_id IS NOT NULL;
CALL tenant('enrolment');

CREATE TABLE enrolment_history (
    org_id       uuid        NOT NULL,
    enrolment_id uuid        NOT NULL,
    id           uuid        NOT NULL,
    at           timestamptz NOT NULL,
    from_state   text        NOT NULL,            -- '': it began
    to_state     text        NOT NULL,
    step         text        NOT NULL,
    cause        text        NOT NULL,
    email_id     uuid,
    message_id   uuid,
    PRIMARY KEY (org_id, enrolment_id, id)
);
CALL tenant('enrolment_history');

-- enrolment_batch: an enrolment of many contacts, of a segment or a filter, that a job executes in pieces.
CREATE TABLE enrolment_batch (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    sequence_id  uuid        NOT NULL,
    request      jsonb       NOT NULL,            -- segment or filter, mailbox, start, dry run
    status       text        NOT NULL CHECK (status IN ('running', 'completed', 'cancelled', 'failed')),
    after_at     timestamptz,                     -- the last contact that was processed
    after_id     uuid,
    done         int         NOT NULL DEFAULT 0,
    total        int         NOT NULL DEFAULT 0,
    enrolled     int         NOT NULL DEFAULT 0,
    skipped      jsonb       NOT NULL DEFAULT '{}', -- by reason
    error        text        NOT NULL DEFAULT '',
    created_by   text        NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX enrolment_batch_age ON enrolment_batch (completed_at) WHERE completed_at IS NOT NULL;
CALL tenant('enrolment_batch');
CALL system('enrolment_batch', 'SELECT, DELETE');

-- enrolment_result: the contacts that a batch has not enrolled. Those that it has are found by batch_id.
CREATE TABLE enrolment_result (
    org_id     uuid        NOT NULL,
    batch_id   uuid        NOT NULL,
    contact_id uuid        NOT NULL,
    reason     text        NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, batch_id, contact_id)
);
CREATE INDEX enrolment_result_contact ON enrolment_result (org_id, contact_id);
CREATE INDEX enrolment_result_age ON enrolment_result (created_at);
CALL tenant('enrolment_result');
CALL system('enrolment_result', 'SELECT, DELETE');

-- A cancelled email was certainly not sent, and stays cancelled: its step may have another one.
DROP INDEX email_step;
CREATE UNIQUE INDEX email_step ON email (org_id, enrolment_id, step) WHERE enrolment_id IS NOT NULL AND status <> 'cancelled';
CREATE INDEX email_enrolment ON email (org_id, enrolment_id, id) WHERE enrolment_id IS NOT NULL;
ALTER TABLE email ADD COLUMN late_hours int NOT NULL DEFAULT 24; -- how long after due_at it may be sent
