-- The triggers that count emails. From then on workers count what there is.

-- +goose Up

-- What there is is read as its orgs read it, since neither the owner of the tables nor the system role sees it. The triggers
-- of 0140 add what comes later.
-- +goose StatementBegin
DO $$
DECLARE
    orgs uuid[];
    org  uuid;
BEGIN
    SET LOCAL ROLE funnelwork_system;
    orgs := ARRAY(SELECT id FROM org);
    SET LOCAL ROLE funnelwork_app;
    FOREACH org IN ARRAY orgs LOOP
        PERFORM set_config('app.org_id', org::text, true);
        INSERT INTO outreach_uncounted (org_id, source_id)
        SELECT s.org_id, s.id FROM sequence s WHERE s.org_id = org
        UNION ALL SELECT b.org_id, b.id FROM broadcast b WHERE b.org_id = org
        ON CONFLICT DO NOTHING;
    END LOOP;
    PERFORM set_config('app.org_id', '', true);
    RESET ROLE;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '80ms', true);
    LOOP
        BEGIN
            LOCK TABLE email IN SHARE ROW EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
        END;
        PERFORM pg_sleep(0.2);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- A trigger considers only the statements that set one of its columns.
CREATE TRIGGER outreach_come AFTER INSERT ON email FOR EACH ROW
    WHEN (NEW.enrolment_id IS NOT NULL OR NEW.broadcast_id IS NOT NULL) EXECUTE FUNCTION outreach_email_comes();
CREATE TRIGGER outreach_move AFTER UPDATE OF status, marked_at ON email FOR EACH ROW
    WHEN ((NEW.enrolment_id IS NOT NULL OR NEW.broadcast_id IS NOT NULL)
        AND (OLD.status <> NEW.status OR OLD.marked_at IS DISTINCT FROM NEW.marked_at))
    EXECUTE FUNCTION outreach_email_moves();
CREATE TRIGGER outreach_become AFTER UPDATE OF delivered_at, bounced, complained_at, replied_at, opens, clicks, machine_opens,
    machine_clicks ON email FOR EACH ROW
    WHEN ((NEW.enrolment_id IS NOT NULL OR NEW.broadcast_id IS NOT NULL)
        AND ((OLD.delivered_at IS NULL) <> (NEW.delivered_at IS NULL) OR (OLD.bounced IS NULL) <> (NEW.bounced IS NULL)
            OR (OLD.complained_at IS NULL) <> (NEW.complained_at IS NULL)
            OR (OLD.replied_at IS NULL) <> (NEW.replied_at IS NULL)
            OR (OLD.opens > 0) <> (NEW.opens > 0) OR (OLD.clicks > 0) <> (NEW.clicks > 0)
            OR (OLD.machine_opens > 0) <> (NEW.machine_opens > 0) OR (OLD.machine_clicks > 0) <> (NEW.machine_clicks > 0)
            OR NEW.broadcast_id IS NOT NULL
                AND (OLD.machine_opens <> NEW.machine_opens OR OLD.machine_clicks <> NEW.machine_clicks)))
    EXECUTE FUNCTION outreach_email_becomes();
CREATE TRIGGER outreach_change AFTER UPDATE OF enrolment_id, step, variant, broadcast_id ON email FOR EACH ROW
    WHEN ((OLD.enrolment_id, OLD.step, OLD.variant, OLD.broadcast_id)
        IS DISTINCT FROM (NEW.enrolment_id, NEW.step, NEW.variant, NEW.broadcast_id))
    EXECUTE FUNCTION outreach_email_goes();
CREATE TRIGGER outreach_go AFTER DELETE ON email FOR EACH ROW
    WHEN (OLD.enrolment_id IS NOT NULL OR OLD.broadcast_id IS NOT NULL) EXECUTE FUNCTION outreach_email_goes();
