-- Emails that an org sends: one row per intended mail, its content, and its attachments.

-- +goose Up

-- A row is never sent twice by itself: marked_at is committed between the body and the final dot of the SMTP dialogue,
-- under a re-check of all that may stop the mail. internal/emails/doc.go has the life of a row.
CREATE TABLE email (
    org_id           uuid        NOT NULL,
    id               uuid        NOT NULL,
    mailbox_id       uuid        NOT NULL,
    contact_id       uuid,                            -- NULL: the contact was purged
    thread_id        uuid        NOT NULL,            -- id of the first email of the thread
    reply_to_id      uuid,                            -- the email that it answers
    enrolment_id     uuid,
    step             text        COLLATE "C",         -- key of the enrolment's step
    variant          text        COLLATE "C",
    broadcast_id     uuid,
    automated        boolean     NOT NULL DEFAULT false, -- of a sequence or broadcast: gap, ramp and windows hold it
    purpose          text        NOT NULL CHECK (purpose IN ('personal', 'marketing')),
    subject          text        NOT NULL,
    to_email         text        NOT NULL,            -- '' once the contact was purged
    to_domain        text        COLLATE "C" NOT NULL, -- lower case, in its ASCII form
    message_id       text        NOT NULL,            -- without angle brackets; fixed at insert
    message_hash     bytea       NOT NULL,            -- first 16 bytes of its SHA-256
    status           text        NOT NULL CHECK (status IN ('scheduled', 'planned', 'transmitting', 'sent', 'unknown', 'failed', 'cancelled')),
    status_reason    text        NOT NULL DEFAULT '',
    scheduled_at     timestamptz,
    due_at           timestamptz NOT NULL,            -- since when it may be sent; a day later it is too late
    attempt          int         NOT NULL DEFAULT 0,  -- runs that took it
    fence            uuid,                            -- of the run that took it last
    marked_at        timestamptz,                     -- NULL after a definite refusal
    sent_at          timestamptz,
    smtp_reply       text        NOT NULL DEFAULT '', -- the server's last reply
    evidence         jsonb       NOT NULL DEFAULT '[]',
    track_opens      boolean     NOT NULL DEFAULT false,
    track_clicks     boolean     NOT NULL DEFAULT false,
    delivered_at     timestamptz,
    bounced          text        CHECK (bounced IN ('hard', 'soft')),
    complained_at    timestamptz,
    replied_at       timestamptz,
    opens            int         NOT NULL DEFAULT 0,
    machine_opens    int         NOT NULL DEFAULT 0,
    clicks           int         NOT NULL DEFAULT 0,
    machine_clicks   int         NOT NULL DEFAULT 0,
    created_by       text        NOT NULL DEFAULT '', -- 'user/<id>', 'key/<id>', or ''
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    edit             int         NOT NULL DEFAULT 1,
    computed         int         NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, id)
) WITH (fillfactor = 80);
-- A step of an enrolment is one email, whatever version of the sequence it comes from.
CREATE UNIQUE INDEX email_step ON email (org_id, enrolment_id, step) WHERE enrolment_id IS NOT NULL;
CREATE UNIQUE INDEX email_message ON email (org_id, message_hash);
-- What the caps of mailboxes count.
CREATE INDEX email_marked ON email (org_id, mailbox_id, marked_at) WHERE marked_at IS NOT NULL;
CREATE INDEX email_contact ON email (org_id, contact_id, id);
-- Emails that are not settled: few, and looked for by status.
CREATE INDEX email_open ON email (org_id, status, id) WHERE status NOT IN ('sent', 'cancelled');
CREATE INDEX email_broadcast ON email (org_id, broadcast_id, id) WHERE broadcast_id IS NOT NULL;
CALL tenant('email');
CALL system('email', 'SELECT');

-- email_content: what the mail is rendered from. The same row gives the same bytes; mime_sha256 proves it.
CREATE TABLE email_content (
    org_id           uuid        NOT NULL,
    email_id         uuid        NOT NULL,
    from_email       text        NOT NULL,
    from_name        text        NOT NULL,
    reply_to         text        NOT NULL,            -- '': none
    to_name          text        NOT NULL,
    html             text        NOT NULL,            -- '': none
    text             text        NOT NULL,
    in_reply_to      text        NOT NULL,            -- Message-ID, or ''
    refs             text[]      NOT NULL,
    list_unsubscribe text[]      NOT NULL,
    dated_at         timestamptz NOT NULL,            -- the Date of the header
    attachments      int         NOT NULL DEFAULT 0,
    mime_sha256      bytea,                           -- of the mail that was marked last, before its DKIM signature
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (org_id, email_id)
);
CREATE INDEX email_content_age ON email_content (created_at);
CALL tenant('email_content');
CALL system('email_content', 'SELECT, DELETE');

CREATE TABLE email_attachment (
    org_id   uuid  NOT NULL,
    email_id uuid  NOT NULL,
    n        int   NOT NULL,
    name     text  NOT NULL,
    type     text  NOT NULL,
    content  bytea NOT NULL,
    PRIMARY KEY (org_id, email_id, n)
);
CALL tenant('email_attachment');
CALL system('email_attachment', 'SELECT, DELETE');
