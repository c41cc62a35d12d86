-- The folders that mailboxes are read from by IMAP: how far each was read, when it is read next, and what went wrong.

-- +goose Up

CREATE TABLE mailbox_folder (
    org_id       uuid        NOT NULL,
    mailbox_id   uuid        NOT NULL,
    folder       text        NOT NULL,             -- as the server names it
    uidvalidity  bigint      NOT NULL DEFAULT 0,   -- 0: it was never read
    uidnext      bigint      NOT NULL DEFAULT 0,   -- mails with lower UIDs were taken, or skipped
    next_sync_at timestamptz NOT NULL,
    synced_at    timestamptz,                      -- of the last run that read it to its end
    error        text        NOT NULL DEFAULT '',  -- why the last run failed; '': it did not
    failures     int         NOT NULL DEFAULT 0,   -- runs that have failed in a row
    stuck_uid    bigint      NOT NULL DEFAULT 0,   -- the mail that could not be read
    stuck        int         NOT NULL DEFAULT 0,   -- how often
    skipped      int         NOT NULL DEFAULT 0,   -- mails that were given up
    PRIMARY KEY (org_id, mailbox_id, folder)
);
CREATE INDEX mailbox_folder_due ON mailbox_folder (next_sync_at);
CALL tenant('mailbox_folder');
CALL system('mailbox_folder', 'SELECT, UPDATE');

INSERT INTO mailbox_folder (org_id, mailbox_id, folder, next_sync_at)
SELECT org_id, id, 'INBOX', now() FROM mailbox
WHERE archived_at IS NULL AND (kind = 'smtp' AND imap_host <> '' OR kind IN ('google', 'microsoft'));

-- What the API shows of the reading of a mailbox; NULL: it is not read.
CREATE FUNCTION mailbox_sync(org uuid, mailbox uuid) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('last_at', max(synced_at), 'next_at', min(next_sync_at), 'error', nullif(max(error), ''),
        'skipped', sum(skipped))
    FROM mailbox_folder f WHERE f.org_id = org AND f.mailbox_id = mailbox HAVING count(*) > 0
$$;
