-- What a mailbox shows of its mails, and when the platform stops it.

-- +goose Up

-- auth_refusals: refused sign-ins since the last one that was accepted. The platform disables the mailbox at the fifth.
-- check_requested_at: when a test was asked for that has not ended.
ALTER TABLE mailbox
    ADD COLUMN auth_refusals      int NOT NULL DEFAULT 0,
    ADD COLUMN check_requested_at timestamptz;

-- mailbox_sent(org, mailbox): the mails that the mailbox sent in the last 24 hours. The table email is created by a later
-- migration; until then none were sent.
-- +goose StatementBegin
CREATE FUNCTION mailbox_sent(org uuid, mailbox uuid) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF to_regclass('email') IS NULL THEN
        RETURN 0;
    END IF;
    RETURN (SELECT count(*) FROM email e
        WHERE e.org_id = org AND e.mailbox_id = mailbox AND e.marked_at > now() - interval '24 hours');
END
$$;
-- +goose StatementEnd

-- mailbox_full_until(org, mailbox, cap): when the cap allows the next mail; NULL: now. internal/mailboxes/slot.go has the
-- length of the window.
-- +goose StatementBegin
CREATE FUNCTION mailbox_full_until(org uuid, mailbox uuid, cap int) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF cap IS NULL OR to_regclass('email') IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT e.marked_at + interval '24 hours 1 minute' FROM email e
        WHERE e.org_id = org AND e.mailbox_id = mailbox AND e.marked_at > now() - interval '24 hours 1 minute'
        ORDER BY e.marked_at DESC OFFSET cap - 1 LIMIT 1);
END
$$;
-- +goose StatementEnd
