-- What a mailbox shows of its mails, and when the platform stops it.

-- +goose Up

-- auth_refusals: refused sign-ins since the last one that was accepted. The platform disables the mailbox at the fifth.
-- check_requested_at: when a test was asked for that has not ended.
ALTER TABLE mailbox
    ADD COLUMN auth_refusals      int NOT NULL DEFAULT 0,
    ADD COLUMN check_requested_at timestamptz;

-- mailbox_sent(org, mailbox): the mails that the mailbox sent in the last 24 hours.
CREATE FUNCTION mailbox_sent(org uuid, mailbox uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
SELECT count(*) FROM email e
WHERE e.org_id = org AND e.mailbox_id = mailbox AND e.marked_at > now() - interval '24 hours'
$$;

-- mailbox_full_until(org, mailbox, cap): when the cap allows the next mail; NULL: now. internal/mailboxes/slot.go has the
-- length of the window.
CREATE FUNCTION mailbox_full_until(org uuid, mailbox uuid, cap int) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT e.marked_at + interval '24 hours 1 minute' FROM email e
WHERE cap IS NOT NULL AND e.org_id = org AND e.mailbox_id = mailbox AND e.marked_at > now() - interval '24 hours 1 minute'
ORDER BY e.marked_at DESC OFFSET greatest(cap, 1) - 1 LIMIT 1
$$;
