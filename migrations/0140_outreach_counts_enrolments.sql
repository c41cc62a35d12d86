-- The triggers that count enrolments, and that have new sequences and broadcasts counted. The lock of a table holds up its
-- writers for 100 ms at most: it is tried until nobody holds it for long.

-- +goose Up

-- +goose StatementBegin
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '40ms', true);
    LOOP
        BEGIN
            LOCK TABLE enrolment, sequence, broadcast IN SHARE ROW EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN -- the locks that were got are released
        END;
        PERFORM pg_sleep(0.2);
    END LOOP;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER outreach_come AFTER INSERT ON enrolment REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION outreach_enrolments();
CREATE TRIGGER outreach_change AFTER UPDATE OF state, last_email_id, sequence_id ON enrolment FOR EACH ROW
    WHEN (OLD.state <> NEW.state OR OLD.sequence_id <> NEW.sequence_id
        OR NEW.state = 'unsubscribed' AND OLD.last_email_id IS DISTINCT FROM NEW.last_email_id)
    EXECUTE FUNCTION outreach_enrolment();
CREATE TRIGGER outreach_go AFTER DELETE ON enrolment FOR EACH ROW EXECUTE FUNCTION outreach_enrolment();
CREATE TRIGGER outreach_come AFTER INSERT ON sequence FOR EACH ROW EXECUTE FUNCTION outreach_source();
CREATE TRIGGER outreach_come AFTER INSERT ON broadcast FOR EACH ROW EXECUTE FUNCTION outreach_source();
