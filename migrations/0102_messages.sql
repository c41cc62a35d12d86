-- Mails that come back: the incoming messages of mailboxes, as they were received and as they were read, and threads.

-- +goose Up

-- A thread has the id of its first email, or of its first message if no email of the org began it. Only threads with
-- incoming messages have a row; the outgoing ones are the rows of email with the thread's id.
CREATE TABLE thread (
    org_id          uuid        NOT NULL,
    id              uuid        NOT NULL,
    mailbox_id      uuid        NOT NULL,
    contact_id      uuid,                         -- NULL: no contact has the address
    subject         text        NOT NULL,
    incoming        int         NOT NULL,         -- messages
    unread          boolean     NOT NULL,
    last_message_at timestamptz NOT NULL,         -- of the last incoming message
    created_at      timestamptz NOT NULL,
    edit            int         NOT NULL DEFAULT 1,
    computed        int         NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX thread_last ON thread (org_id, last_message_at, id);
CREATE INDEX thread_contact ON thread (org_id, contact_id, last_message_at, id);
CREATE INDEX thread_age ON thread (last_message_at);
CALL tenant('thread');
CALL system('thread', 'SELECT, DELETE');
CREATE INDEX email_thread ON email (org_id, thread_id, id);

-- message: an incoming mail. It is inserted with its identity alone; a job reads it and fills in the rest.
CREATE TABLE message (
    org_id      uuid        NOT NULL,
    id          uuid        NOT NULL,
    mailbox_id  uuid        NOT NULL,
    identity    bytea       NOT NULL,             -- hash of the Message-ID, or of the mail without one
    via         text        NOT NULL,             -- http, smtp, imap, sandbox
    received_at timestamptz NOT NULL,
    read_at     timestamptz,                      -- NULL: the job has not read it yet
    thread_id   uuid,
    contact_id  uuid,                             -- NULL: no contact has the address
    email_id    uuid,                             -- the email that it answers, or tells about; NULL: none
    message_id  text        NOT NULL DEFAULT '',  -- without angle brackets
    from_email  text        NOT NULL DEFAULT '',
    from_name   text        NOT NULL DEFAULT '',
    from_folded text        COLLATE "C" NOT NULL DEFAULT '',
    to_emails   text[]      NOT NULL DEFAULT '{}',
    subject     text        NOT NULL DEFAULT '',
    text        text        NOT NULL DEFAULT '',
    html        text        NOT NULL DEFAULT '',  -- without scripts, styles and pictures
    reply_text  text        NOT NULL DEFAULT '',  -- text without the quoted mail and the signature
    class       text        NOT NULL DEFAULT '',
    class_by    text        NOT NULL DEFAULT 'rule',
    match       text        NOT NULL DEFAULT 'none',
    own         boolean     NOT NULL DEFAULT false, -- sent by a mailbox of the org
    bounce      text        NOT NULL DEFAULT '',  -- hard, soft, delayed, policy
    code        text        NOT NULL DEFAULT '',
    recipient   text        NOT NULL DEFAULT '',  -- the address that a report is about
    diagnostic  text        NOT NULL DEFAULT '',
    back_on     date,                             -- the day that an automatic reply names
    attachments jsonb       NOT NULL DEFAULT '[]',
    edit        int         NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, id)
);
-- The same mail by several ways is one message.
CREATE UNIQUE INDEX message_identity ON message (org_id, mailbox_id, identity);
CREATE INDEX message_any_mailbox ON message (org_id, identity);
CREATE INDEX message_thread ON message (org_id, thread_id, id);
CREATE INDEX message_contact ON message (org_id, contact_id, id);
CREATE INDEX message_from ON message (org_id, from_folded);
CREATE INDEX message_email ON message (org_id, email_id) WHERE email_id IS NOT NULL;
CREATE INDEX message_age ON message (received_at);
CALL tenant('message');
CALL system('message', 'SELECT, DELETE');

-- The mails as they were received.
CREATE TABLE message_raw (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,              -- of the message
    raw        bytea       NOT NULL,              -- sealed
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, id)
);
CREATE INDEX message_raw_age ON message_raw (created_at);
CALL tenant('message_raw');
CALL system('message_raw', 'SELECT, UPDATE, DELETE');
