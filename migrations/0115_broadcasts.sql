-- Broadcasts: one mail to an audience that is frozen when it is sent.

-- +goose Up

CREATE TABLE broadcast (
    org_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    name         text        NOT NULL,
    mailbox_id   uuid,
    segment      uuid,
    filter       json,
    mail         json        NOT NULL,             -- as people write it
    send_at      timestamptz,
    local_time   boolean     NOT NULL DEFAULT false,
    status       text        COLLATE "C" NOT NULL CHECK (status IN ('draft', 'scheduled', 'preparing', 'sending', 'paused',
        'sent', 'cancelled')),
    resumes      text        COLLATE "C" NOT NULL DEFAULT '', -- while paused: the status to return to
    run          int         NOT NULL DEFAULT 0,   -- jobs of an earlier run do nothing
    frozen       json,                             -- the mail as it is sent
    frozen_at    timestamptz,                      -- contacts created later are not in the audience
    after_at     timestamptz,                      -- the last contact that was looked at, in the order of creation
    after_id     uuid,
    total        int         NOT NULL DEFAULT 0,   -- contacts that were looked at
    sendable     int         NOT NULL DEFAULT 0,
    left_out     jsonb       NOT NULL DEFAULT '{}', -- contacts that get no mail, by reason
    created_by   text        NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    completed_at timestamptz,
    archived_at  timestamptz,
    edit         int         NOT NULL DEFAULT 1,
    computed     int         NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 80);
CREATE INDEX broadcast_created ON broadcast (org_id, created_at, id) WHERE archived_at IS NULL;
CREATE INDEX broadcast_archived ON broadcast (org_id, created_at, id) WHERE archived_at IS NOT NULL;
CALL tenant('broadcast');
CALL system('broadcast', 'SELECT');

-- The audience that gets the mail. A row without its email waits for due_at.
CREATE TABLE broadcast_recipient (
    org_id       uuid        NOT NULL,
    broadcast_id uuid        NOT NULL,
    contact_id   uuid        NOT NULL,
    due_at       timestamptz NOT NULL,
    written      boolean     NOT NULL DEFAULT false, -- its email exists, or cannot be written
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, broadcast_id, contact_id)
) WITH (fillfactor = 80);
CREATE INDEX broadcast_recipient_due ON broadcast_recipient (org_id, broadcast_id, due_at, contact_id) WHERE NOT written;
CREATE INDEX broadcast_recipient_contact ON broadcast_recipient (org_id, contact_id);
CREATE INDEX broadcast_recipient_age ON broadcast_recipient (created_at);
CALL tenant('broadcast_recipient');
CALL system('broadcast_recipient', 'SELECT, DELETE');

-- An address gets a broadcast once, even if its jobs run again. A merge gives emails another contact, and a purge takes
-- their address.
CREATE UNIQUE INDEX email_broadcast_once ON email (org_id, broadcast_id, to_email)
    WHERE broadcast_id IS NOT NULL AND to_email <> '';
CREATE INDEX email_broadcast_open ON email (org_id, broadcast_id)
    WHERE broadcast_id IS NOT NULL AND status IN ('scheduled', 'planned', 'transmitting');
