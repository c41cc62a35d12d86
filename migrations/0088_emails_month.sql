-- The plan's limits of mailboxes and of emails per month.

-- +goose Up

CALL counts('mailbox', 'mailboxes', 'archived_at');

-- email_month: the emails of an org that were marked in a calendar month of UTC. With a limit all are counted in slot 0,
-- whose lock makes the limit exact; without one they are counted in 16 slots, so that marks do not wait for each other.
-- The limit itself is in quota, whose used stays 0.
CREATE TABLE email_month (
    org_id uuid     NOT NULL,
    period date     NOT NULL, -- the first day of the month
    slot   smallint NOT NULL,
    used   bigint   NOT NULL,
    told   smallint NOT NULL DEFAULT 0 CHECK (told IN (0, 80, 100)), -- the percentage that was last announced; in slot 0
    PRIMARY KEY (org_id, period, slot)
) WITH (fillfactor = 50);
CREATE INDEX email_month_age ON email_month (period);
CALL tenant('email_month');
CALL system('email_month', 'SELECT, DELETE');

CREATE FUNCTION emails_used(org uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
SELECT coalesce(sum(used), 0)::bigint FROM email_month
WHERE org_id = org AND period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date
$$;

-- emails_take(org): counts one email of this month and returns true, or returns false and counts nothing if the plan's
-- limit is reached. The caller commits soon after it: with a limit, the other emails of the org wait for the commit.
-- +goose StatementBegin
CREATE FUNCTION emails_take(org uuid) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    month  date := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date;
    q      quota;
    before smallint;
    level  smallint;
    n      bigint;
BEGIN
    SELECT * INTO q FROM quota WHERE org_id = org AND feature = 'emails_month';
    IF NOT FOUND THEN
        INSERT INTO email_month AS m (org_id, period, slot, used) VALUES (org, month, floor(random() * 16), 1)
        ON CONFLICT (org_id, period, slot) DO UPDATE SET used = m.used + 1;
        RETURN true;
    END IF;
    INSERT INTO email_month AS m (org_id, period, slot, used) VALUES (org, month, 0, 1)
    ON CONFLICT (org_id, period, slot) DO UPDATE SET used = m.used + 1 RETURNING m.told INTO before;
    SELECT sum(used) INTO n FROM email_month WHERE org_id = org AND period = month; -- by a snapshot after the lock
    IF n > q.cap AND NOT q.overage THEN
        UPDATE email_month SET used = used - 1 WHERE org_id = org AND period = month AND slot = 0;
        RETURN false;
    END IF;
    level := quota_level(n, q.cap);
    IF level <> before THEN
        UPDATE email_month SET told = level WHERE org_id = org AND period = month AND slot = 0;
        IF level > before THEN
            INSERT INTO job (org_id, id, kind, args, lane, max_attempts, wake_at)
            VALUES (org, uuidv7_at(clock_timestamp()), 'quota.announce',
                json_build_object('kind', 'emails_month', 'percent', level, 'used', n, 'limit', q.cap), 'default', 8,
                job_wake(org, 'default', now()));
        END IF;
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- quota_settle(org, features, caps, overages): these limits and no others. A feature that had none is counted once,
-- while nobody adds to it. The transaction holds the subscription's row, so that it is alone. The emails of a month are
-- counted elsewhere, and only their limit is kept here.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION quota_settle(org uuid, features text[], caps bigint[], overages boolean[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    f record;
BEGIN
    SET CONSTRAINTS ALL IMMEDIATE; -- what this transaction itself has added is counted before it is looked at
    DELETE FROM quota WHERE org_id = org AND NOT (feature = ANY (features));
    FOR f IN
        SELECT x.feature, x.cap, x.overage FROM unnest(features, caps, overages) AS x (feature, cap, overage)
        WHERE x.feature = 'emails_month' OR EXISTS (SELECT FROM quota_source s WHERE s.feature = x.feature) ORDER BY x.feature
    LOOP
        UPDATE quota SET cap = f.cap, overage = f.overage, told = quota_level(used, f.cap) WHERE org_id = org AND feature = f.feature;
        IF NOT FOUND THEN
            PERFORM pg_advisory_xact_lock(quota_key(org, f.feature));
            INSERT INTO quota (org_id, feature, cap, overage, used, told)
            SELECT org, f.feature, f.cap, f.overage, n, quota_level(n, f.cap) FROM quota_truth(org, f.feature) AS n;
        END IF;
    END LOOP;
    SET CONSTRAINTS ALL DEFERRED;
END
$$;
-- +goose StatementEnd
