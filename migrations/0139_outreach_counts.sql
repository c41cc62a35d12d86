-- What became of the enrolments and emails of each sequence, and of the emails of each broadcast, as counts that triggers
-- keep. Package internal/sequences/counts reads and folds them; its doc.go has the rules.

-- +goose Up

-- The counts of a source (a sequence or a broadcast) by step and variant, as of the transaction id xid: all deltas of
-- lower ids are in them. The row of step '' and variant '' is always there; of a sequence it has the enrolments. A fold
-- writes new rows and deletes those of before, since the versions of an updated row could not be removed while an old
-- transaction is open: readers take the highest xid.
CREATE TABLE outreach_count (
    org_id       uuid   NOT NULL,
    source_id    uuid   NOT NULL,
    xid          bigint NOT NULL,
    step         text   NOT NULL,
    variant      text   NOT NULL,
    -- Enrolments by state.
    pending      bigint NOT NULL,
    active       bigint NOT NULL,
    sending      bigint NOT NULL,
    paused       bigint NOT NULL,
    finished     bigint NOT NULL,
    replied      bigint NOT NULL,
    unsubscribed bigint NOT NULL,
    bounced      bigint NOT NULL,
    goal_met     bigint NOT NULL,
    failed       bigint NOT NULL,
    removed      bigint NOT NULL,
    -- Emails by status: scheduled and planned ones, the others.
    waiting      bigint NOT NULL,
    transmitting bigint NOT NULL,
    sent         bigint NOT NULL,
    unknown      bigint NOT NULL,
    refused      bigint NOT NULL, -- failed
    cancelled    bigint NOT NULL,
    -- Emails by what became of them.
    delivered    bigint NOT NULL,
    returned     bigint NOT NULL, -- bounced
    complained   bigint NOT NULL,
    answered     bigint NOT NULL, -- replied to
    clicked      bigint NOT NULL,
    opened       bigint NOT NULL,
    machine_clicked bigint NOT NULL,
    machine_opened  bigint NOT NULL,
    unsubscribing   bigint NOT NULL, -- the last one of an enrolment that is unsubscribed
    -- Sums.
    machine_clicks bigint NOT NULL,
    machine_opens  bigint NOT NULL,
    -- The earliest mark of the emails, and the earliest one that was taken back. If the latter is not later, the former
    -- has to be looked up.
    marked_at    timestamptz,
    unmarked_at  timestamptz,
    PRIMARY KEY (org_id, source_id, xid, step, variant)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CALL tenant('outreach_count');
CALL system('outreach_count', 'SELECT, INSERT, UPDATE, DELETE');
SELECT expect_rows_of_orgs('outreach_count');

-- Changes that are not in the counts yet. Rows are only added and deleted, so that no writer waits for another one. xid is
-- the id of the transaction, or the largest number if it has not registered (0132), as those of earlier releases.
CREATE TABLE outreach_delta (
    org_id       uuid   NOT NULL,
    source_id    uuid   NOT NULL,
    xid          bigint NOT NULL,
    id           bigint NOT NULL GENERATED ALWAYS AS IDENTITY (CACHE 100),
    step         text   NOT NULL,
    variant      text   NOT NULL,
    pending      int,
    active       int,
    sending      int,
    paused       int,
    finished     int,
    replied      int,
    unsubscribed int,
    bounced      int,
    goal_met     int,
    failed       int,
    removed      int,
    waiting      int,
    transmitting int,
    sent         int,
    unknown      int,
    refused      int,
    cancelled    int,
    delivered    int,
    returned     int,
    complained   int,
    answered     int,
    clicked      int,
    opened       int,
    machine_clicked int,
    machine_opened  int,
    unsubscribing   int,
    machine_clicks  int,
    machine_opens   int,
    marked_at    timestamptz,
    unmarked_at  timestamptz,
    PRIMARY KEY (org_id, source_id, xid, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outreach_delta_xid ON outreach_delta (xid);
CALL tenant('outreach_delta');
CALL system('outreach_delta', 'SELECT, INSERT, DELETE');
SELECT expect_rows_of_orgs('outreach_delta');

-- Sources to be counted for the first time.
CREATE TABLE outreach_uncounted (
    org_id    uuid NOT NULL,
    source_id uuid NOT NULL,
    PRIMARY KEY (org_id, source_id)
);
CALL tenant('outreach_uncounted');
CALL system('outreach_uncounted', 'SELECT, INSERT, DELETE');
SELECT expect_rows_of_orgs('outreach_uncounted');

-- outreach_xid(): the xid of a delta.
CREATE FUNCTION outreach_xid() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN current_setting('app.writer', true) = 'on' THEN pg_current_xact_id()::text::bigint
        ELSE 9223372036854775807 END
$$;

-- outreach_email_delta(source, step, was, now, unsubscribing): adds the difference between two rows of an email, of which
-- one may be null.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_delta(source uuid, of_step text, was email, now email, unsubscribing int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, waiting, transmitting, sent, unknown, refused,
        cancelled, delivered, returned, complained, answered, clicked, opened, machine_clicked, machine_opened,
        unsubscribing, machine_clicks, machine_opens, marked_at, unmarked_at)
    VALUES (coalesce(now.org_id, was.org_id), source, outreach_xid(), of_step, coalesce(now.variant, was.variant, ''),
        nullif(coalesce((now.status IN ('scheduled', 'planned'))::int, 0)
            - coalesce((was.status IN ('scheduled', 'planned'))::int, 0), 0),
        nullif(coalesce((now.status = 'transmitting')::int, 0) - coalesce((was.status = 'transmitting')::int, 0), 0),
        nullif(coalesce((now.status = 'sent')::int, 0) - coalesce((was.status = 'sent')::int, 0), 0),
        nullif(coalesce((now.status = 'unknown')::int, 0) - coalesce((was.status = 'unknown')::int, 0), 0),
        nullif(coalesce((now.status = 'failed')::int, 0) - coalesce((was.status = 'failed')::int, 0), 0),
        nullif(coalesce((now.status = 'cancelled')::int, 0) - coalesce((was.status = 'cancelled')::int, 0), 0),
        nullif((now.delivered_at IS NOT NULL)::int - (was.delivered_at IS NOT NULL)::int, 0),
        nullif((now.bounced IS NOT NULL)::int - (was.bounced IS NOT NULL)::int, 0),
        nullif((now.complained_at IS NOT NULL)::int - (was.complained_at IS NOT NULL)::int, 0),
        nullif((now.replied_at IS NOT NULL)::int - (was.replied_at IS NOT NULL)::int, 0),
        nullif(coalesce((now.clicks > 0)::int, 0) - coalesce((was.clicks > 0)::int, 0), 0),
        nullif(coalesce((now.opens > 0)::int, 0) - coalesce((was.opens > 0)::int, 0), 0),
        nullif(coalesce((now.machine_clicks > 0)::int, 0) - coalesce((was.machine_clicks > 0)::int, 0), 0),
        nullif(coalesce((now.machine_opens > 0)::int, 0) - coalesce((was.machine_opens > 0)::int, 0), 0),
        nullif(unsubscribing, 0),
        nullif(coalesce(now.machine_clicks, 0) - coalesce(was.machine_clicks, 0), 0),
        nullif(coalesce(now.machine_opens, 0) - coalesce(was.machine_opens, 0), 0),
        CASE WHEN now.marked_at IS DISTINCT FROM was.marked_at THEN now.marked_at END,
        CASE WHEN now.marked_at IS DISTINCT FROM was.marked_at THEN was.marked_at END);
END
$$;
-- +goose StatementEnd

-- outreach_email_row(e, sign): counts an email, or takes it back, for the sequence of its enrolment and for its broadcast. An
-- email without its enrolment counts for no sequence. The lock keeps the enrolment from being deleted until the count is
-- committed.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_row(e email, sign int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    sequence uuid;
    last     boolean;
    was      email;
    now      email;
BEGIN
    IF sign > 0 THEN
        now := e;
    ELSE
        was := e;
    END IF;
    IF e.step IS NOT NULL THEN
        SELECT n.sequence_id, n.state = 'unsubscribed' AND n.last_email_id = e.id INTO sequence, last
        FROM enrolment n WHERE n.org_id = e.org_id AND n.id = e.enrolment_id FOR KEY SHARE;
        IF FOUND THEN
            PERFORM outreach_email_delta(sequence, e.step, was, now, CASE WHEN last THEN sign ELSE 0 END);
        END IF;
    END IF;
    IF e.broadcast_id IS NOT NULL THEN
        PERFORM outreach_email_delta(e.broadcast_id, '', was, now, 0);
    END IF;
END
$$;
-- +goose StatementEnd

-- outreach_email_comes(): counts a new email. Nothing has become of most by then.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_comes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.enrolment_id IS NULL OR NEW.broadcast_id IS NOT NULL OR NEW.status <> 'planned' OR NEW.marked_at IS NOT NULL
        OR NEW.delivered_at IS NOT NULL OR NEW.bounced IS NOT NULL OR NEW.complained_at IS NOT NULL
        OR NEW.replied_at IS NOT NULL OR NEW.opens + NEW.clicks + NEW.machine_opens + NEW.machine_clicks > 0 THEN
        PERFORM outreach_email_row(NEW, 1);
    ELSE
        INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, waiting, unsubscribing)
        SELECT n.org_id, n.sequence_id, outreach_xid(), NEW.step, coalesce(NEW.variant, ''), 1,
            CASE WHEN n.state = 'unsubscribed' AND n.last_email_id = NEW.id THEN 1 END
        FROM enrolment n WHERE n.org_id = NEW.org_id AND n.id = NEW.enrolment_id AND NEW.step IS NOT NULL FOR KEY SHARE;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_email_moves(): counts another status or mark of an email. The deletion of an enrolment waits for changes of its
-- emails. It is the trigger that fires most: it has the columns that a status moves, and one statement.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.enrolment_id, OLD.step, OLD.variant, OLD.broadcast_id)
        IS DISTINCT FROM (NEW.enrolment_id, NEW.step, NEW.variant, NEW.broadcast_id) THEN
        RETURN NULL; -- outreach_email_goes counts it
    END IF;
    IF NEW.step IS NOT NULL THEN
        INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, waiting, transmitting, sent, unknown, refused,
            cancelled, marked_at, unmarked_at)
        SELECT NEW.org_id, n.sequence_id, outreach_xid(), NEW.step, coalesce(NEW.variant, ''),
            nullif((NEW.status IN ('scheduled', 'planned'))::int - (OLD.status IN ('scheduled', 'planned'))::int, 0),
            nullif((NEW.status = 'transmitting')::int - (OLD.status = 'transmitting')::int, 0),
            nullif((NEW.status = 'sent')::int - (OLD.status = 'sent')::int, 0),
            nullif((NEW.status = 'unknown')::int - (OLD.status = 'unknown')::int, 0),
            nullif((NEW.status = 'failed')::int - (OLD.status = 'failed')::int, 0),
            nullif((NEW.status = 'cancelled')::int - (OLD.status = 'cancelled')::int, 0),
            CASE WHEN NEW.marked_at IS DISTINCT FROM OLD.marked_at THEN NEW.marked_at END,
            CASE WHEN NEW.marked_at IS DISTINCT FROM OLD.marked_at THEN OLD.marked_at END
        FROM enrolment n WHERE n.org_id = NEW.org_id AND n.id = NEW.enrolment_id;
    END IF;
    IF NEW.broadcast_id IS NOT NULL THEN
        INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, waiting, transmitting, sent, unknown, refused,
            cancelled, marked_at, unmarked_at)
        VALUES (NEW.org_id, NEW.broadcast_id, outreach_xid(), '', coalesce(NEW.variant, ''),
            nullif((NEW.status IN ('scheduled', 'planned'))::int - (OLD.status IN ('scheduled', 'planned'))::int, 0),
            nullif((NEW.status = 'transmitting')::int - (OLD.status = 'transmitting')::int, 0),
            nullif((NEW.status = 'sent')::int - (OLD.status = 'sent')::int, 0),
            nullif((NEW.status = 'unknown')::int - (OLD.status = 'unknown')::int, 0),
            nullif((NEW.status = 'failed')::int - (OLD.status = 'failed')::int, 0),
            nullif((NEW.status = 'cancelled')::int - (OLD.status = 'cancelled')::int, 0),
            CASE WHEN NEW.marked_at IS DISTINCT FROM OLD.marked_at THEN NEW.marked_at END,
            CASE WHEN NEW.marked_at IS DISTINCT FROM OLD.marked_at THEN OLD.marked_at END);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_email_becomes(): counts what else has become of an email.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_becomes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sequence uuid;
    was      email := OLD;
BEGIN
    IF (OLD.enrolment_id, OLD.step, OLD.variant, OLD.broadcast_id)
        IS DISTINCT FROM (NEW.enrolment_id, NEW.step, NEW.variant, NEW.broadcast_id) THEN
        RETURN NULL; -- outreach_email_goes counts it
    END IF;
    was.status := NEW.status; -- outreach_email_moves counts these
    was.marked_at := NEW.marked_at;
    IF NEW.step IS NOT NULL THEN
        SELECT n.sequence_id INTO sequence FROM enrolment n WHERE n.org_id = NEW.org_id AND n.id = NEW.enrolment_id;
        IF FOUND THEN
            PERFORM outreach_email_delta(sequence, NEW.step, was, NEW, 0);
        END IF;
    END IF;
    IF NEW.broadcast_id IS NOT NULL THEN
        PERFORM outreach_email_delta(NEW.broadcast_id, '', was, NEW, 0);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_email_goes(): counts an email that is deleted, or that gets another enrolment, step, variant or broadcast.
-- +goose StatementBegin
CREATE FUNCTION outreach_email_goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM outreach_email_row(OLD, -1);
    IF TG_OP = 'UPDATE' THEN
        PERFORM outreach_email_row(NEW, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_last_email(n, sign): adds that the last email of an unsubscribed enrolment is one that was followed by an
-- unsubscription, or takes it back.
-- +goose StatementBegin
CREATE FUNCTION outreach_last_email(n enrolment, sign int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, unsubscribing)
    SELECT n.org_id, n.sequence_id, outreach_xid(), e.step, coalesce(e.variant, ''), sign
    FROM email e
    WHERE e.org_id = n.org_id AND e.id = n.last_email_id AND e.enrolment_id = n.id AND e.step IS NOT NULL;
END
$$;
-- +goose StatementEnd

-- outreach_enrolments(): counts new enrolments, one delta for all of a statement. Their emails come later.
-- +goose StatementBegin
CREATE FUNCTION outreach_enrolments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    n enrolment;
BEGIN
    INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, pending, active, sending, paused, finished, replied,
        unsubscribed, bounced, goal_met, failed, removed)
    SELECT org_id, sequence_id, outreach_xid(), '', '', nullif(count(*) FILTER (WHERE state = 'pending'), 0),
        nullif(count(*) FILTER (WHERE state = 'active'), 0), nullif(count(*) FILTER (WHERE state = 'sending'), 0),
        nullif(count(*) FILTER (WHERE state = 'paused'), 0), nullif(count(*) FILTER (WHERE state = 'finished'), 0),
        nullif(count(*) FILTER (WHERE state = 'replied'), 0), nullif(count(*) FILTER (WHERE state = 'unsubscribed'), 0),
        nullif(count(*) FILTER (WHERE state = 'bounced'), 0), nullif(count(*) FILTER (WHERE state = 'goal_met'), 0),
        nullif(count(*) FILTER (WHERE state = 'failed'), 0), nullif(count(*) FILTER (WHERE state = 'removed'), 0)
    FROM made GROUP BY org_id, sequence_id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_enrolment_row(n, sign): counts an enrolment with its emails, or takes it back, once changes of the emails have
-- been committed.
-- +goose StatementBegin
CREATE FUNCTION outreach_enrolment_row(n enrolment, sign int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mail email;
BEGIN
    INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, pending, active, sending, paused, finished, replied,
        unsubscribed, bounced, goal_met, failed, removed)
    VALUES (n.org_id, n.sequence_id, outreach_xid(), '', '', nullif(sign * (n.state = 'pending')::int, 0),
        nullif(sign * (n.state = 'active')::int, 0), nullif(sign * (n.state = 'sending')::int, 0),
        nullif(sign * (n.state = 'paused')::int, 0), nullif(sign * (n.state = 'finished')::int, 0),
        nullif(sign * (n.state = 'replied')::int, 0), nullif(sign * (n.state = 'unsubscribed')::int, 0),
        nullif(sign * (n.state = 'bounced')::int, 0), nullif(sign * (n.state = 'goal_met')::int, 0),
        nullif(sign * (n.state = 'failed')::int, 0), nullif(sign * (n.state = 'removed')::int, 0));
    FOR mail IN SELECT * FROM email e WHERE e.org_id = n.org_id AND e.enrolment_id = n.id ORDER BY e.id FOR UPDATE LOOP
        IF mail.step IS NOT NULL THEN
            PERFORM outreach_email_delta(n.sequence_id, mail.step, CASE WHEN sign < 0 THEN mail END,
                CASE WHEN sign > 0 THEN mail END,
                CASE WHEN n.state = 'unsubscribed' AND n.last_email_id = mail.id THEN sign ELSE 0 END);
        END IF;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- outreach_enrolment(): counts another state, or another last email, of an enrolment, and its end.
-- +goose StatementBegin
CREATE FUNCTION outreach_enrolment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM outreach_enrolment_row(OLD, -1);
        RETURN NULL;
    ELSIF OLD.sequence_id <> NEW.sequence_id THEN
        PERFORM outreach_enrolment_row(OLD, -1);
        PERFORM outreach_enrolment_row(NEW, 1);
        RETURN NULL;
    ELSIF OLD.state <> NEW.state THEN
        INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, pending, active, sending, paused, finished,
            replied, unsubscribed, bounced, goal_met, failed, removed)
        VALUES (NEW.org_id, NEW.sequence_id, outreach_xid(), '', '',
            nullif((NEW.state = 'pending')::int - (OLD.state = 'pending')::int, 0),
            nullif((NEW.state = 'active')::int - (OLD.state = 'active')::int, 0),
            nullif((NEW.state = 'sending')::int - (OLD.state = 'sending')::int, 0),
            nullif((NEW.state = 'paused')::int - (OLD.state = 'paused')::int, 0),
            nullif((NEW.state = 'finished')::int - (OLD.state = 'finished')::int, 0),
            nullif((NEW.state = 'replied')::int - (OLD.state = 'replied')::int, 0),
            nullif((NEW.state = 'unsubscribed')::int - (OLD.state = 'unsubscribed')::int, 0),
            nullif((NEW.state = 'bounced')::int - (OLD.state = 'bounced')::int, 0),
            nullif((NEW.state = 'goal_met')::int - (OLD.state = 'goal_met')::int, 0),
            nullif((NEW.state = 'failed')::int - (OLD.state = 'failed')::int, 0),
            nullif((NEW.state = 'removed')::int - (OLD.state = 'removed')::int, 0));
    END IF;
    IF OLD.state = 'unsubscribed' AND OLD.last_email_id IS NOT NULL THEN
        PERFORM outreach_last_email(OLD, -1);
    END IF;
    IF NEW.state = 'unsubscribed' AND NEW.last_email_id IS NOT NULL THEN
        PERFORM outreach_last_email(NEW, 1);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- outreach_source(): a new sequence or broadcast is counted soon.
-- +goose StatementBegin
CREATE FUNCTION outreach_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outreach_uncounted (org_id, source_id) VALUES (NEW.org_id, NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
