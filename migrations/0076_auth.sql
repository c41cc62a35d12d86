-- What a person sees of their sessions, which session a staff token hangs on, and what the limits of invitations count.

-- +goose Up

-- Where a token was handed out to; the newest token's is shown as the session's.
ALTER TABLE refresh_token ADD COLUMN ip text NOT NULL DEFAULT '', ADD COLUMN user_agent text NOT NULL DEFAULT '';

-- The session, of the agency's org, that asked for the access. NULL: lent by an older version.
ALTER TABLE staff_access ADD COLUMN session_id uuid;

-- The invitations of the last 24 hours that count for an org, those of its client orgs' owners included.
CREATE TABLE invitation_count (
    org_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, id)
);
CREATE INDEX invitation_count_age ON invitation_count (created_at);
CALL tenant('invitation_count');
CALL system('invitation_count', 'SELECT, DELETE');

-- The mails of the last 24 hours to one address, over all orgs: its SHA-256 and no org. The app role reaches it by the two functions alone.
CREATE TABLE invitation_mail (
    address bytea       NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (address, sent_at)
);
CREATE INDEX invitation_mail_age ON invitation_mail (sent_at);
GRANT SELECT, DELETE ON invitation_mail TO funnelwork_system;

-- lock_invited(address): invitations to one address wait for each other until the end of the transaction. A transaction
-- takes this lock before any row lock, so that it closes no cycle.
-- +goose StatementBegin
CREATE FUNCTION lock_invited(address bytea) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('funnelwork.invited/' || encode(address, 'hex'), 0))
$$;
-- +goose StatementEnd

-- take_invitation_mail(address, most): counts a mail to the address and reports true, or reports false where `most` mails
-- went there within 24 hours.
-- +goose StatementBegin
CREATE FUNCTION take_invitation_mail(address bytea, most int) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    sent int;
BEGIN
    PERFORM lock_invited(take_invitation_mail.address);
    SELECT count(*) INTO sent FROM invitation_mail m
    WHERE m.address = take_invitation_mail.address AND m.sent_at > clock_timestamp() - interval '24 hours';
    IF sent >= most THEN
        RETURN false;
    END IF;
    INSERT INTO invitation_mail (address) VALUES (take_invitation_mail.address);
    RETURN true;
END
$$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION take_invitation_mail(bytea, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION take_invitation_mail(bytea, int) TO funnelwork_app;
