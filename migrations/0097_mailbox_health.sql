-- What a mailbox is judged by, and the rate of a relay.

-- +goose Up

-- rate_next_at: when the next mail of a mailbox with rate_per_second may be marked.
-- health_since: mails before it do not count; set when a person resumes a disabled mailbox. It takes the place of
-- health_from, which nothing reads.
-- health_at: when the health was counted last. ramp_halved_on: the last day on which a bad health halved the ramp.
ALTER TABLE mailbox
    ADD COLUMN rate_next_at   timestamptz,
    ADD COLUMN health_since   timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN health_at      timestamptz,
    ADD COLUMN ramp_halved_on date;
CREATE INDEX mailbox_health_due ON mailbox (health_at NULLS FIRST) WHERE archived_at IS NULL;

-- refused_at: when the server refused the recipient's address for good, so that the mail counts as a bounce although it
-- was never marked.
ALTER TABLE email ADD COLUMN refused_at timestamptz;
CREATE INDEX email_refused ON email (org_id, mailbox_id, refused_at) WHERE refused_at IS NOT NULL;

-- mailbox_health(org, mailbox, since): the last 200 mails of the mailbox, and what became of them.
CREATE FUNCTION mailbox_health(org uuid, mailbox uuid, since timestamptz, OUT sent int, OUT bounced int, OUT complained int)
LANGUAGE sql STABLE AS $$
SELECT count(*)::int, (count(*) FILTER (WHERE x.bounced = 'hard'))::int,
    (count(*) FILTER (WHERE x.complained_at IS NOT NULL))::int
FROM (
    SELECT * FROM (
        SELECT e.marked_at AS at, e.bounced, e.complained_at FROM email e
        WHERE e.org_id = org AND e.mailbox_id = mailbox AND e.marked_at IS NOT NULL AND e.marked_at > since
        ORDER BY e.marked_at DESC LIMIT 200) AS marked
    UNION ALL
    SELECT * FROM (
        SELECT e.refused_at, e.bounced, e.complained_at FROM email e
        WHERE e.org_id = org AND e.mailbox_id = mailbox AND e.refused_at IS NOT NULL AND e.refused_at > since
        ORDER BY e.refused_at DESC LIMIT 200) AS refused
    ORDER BY at DESC LIMIT 200) AS x
$$;

-- The queue starts the mails of a relay evenly.
INSERT INTO job_line (org_id, id, rate) SELECT org_id, id, rate_per_second FROM mailbox WHERE rate_per_second IS NOT NULL
ON CONFLICT (org_id, id) DO UPDATE SET rate = excluded.rate;
