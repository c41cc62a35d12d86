-- Orgs in which nothing happens cost nothing: what looks for work reads an index of the orgs that have some.

-- +goose Up

-- When each overview is looked at next.
ALTER TABLE overview_state ADD COLUMN look_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX overview_state_look ON overview_state (look_at);
GRANT UPDATE (look_at) ON overview_state TO funnelwork_system;

-- fifth_minute(at): the next of the minutes at which orgs are looked at together that have been quiet for long.
CREATE FUNCTION fifth_minute(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT to_timestamp(ceil(extract(epoch FROM at) / 300) * 300)';

-- The state of a new org. Looks at orgs without a read are spread over a day; the first read of an overview is one.
-- +goose StatementBegin
CREATE FUNCTION org_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO overview_state (org_id, look_at) VALUES (NEW.id, fifth_minute(now() + random() * interval '1 day'))
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER org_counts AFTER INSERT ON org FOR EACH ROW EXECUTE FUNCTION org_counts();

-- As the system role, because the owner of the tables sees no rows of them.
SET LOCAL ROLE funnelwork_system;
INSERT INTO overview_state (org_id) SELECT id FROM org ON CONFLICT DO NOTHING;
RESET ROLE;

-- What is counted every twenty seconds: disabled webhooks, and orgs that pay for more client orgs than their plan has.
CREATE INDEX webhook_endpoint_disabled ON webhook_endpoint (org_id) WHERE disabled_reason <> '' AND archived_at IS NULL;
CREATE INDEX quota_overage ON quota (org_id) WHERE overage;
CREATE INDEX stripe_subscription_overage ON stripe_subscription (org_id) WHERE live AND overage_quantity <> 0;

-- Mailboxes that are due. A mailbox that was never counted, or never looked up, comes first. Versions before this one use
-- mailbox_health_due and mailbox_domain.
CREATE INDEX mailbox_counted ON mailbox (coalesce(health_at, '-infinity'::timestamptz)) WHERE archived_at IS NULL;
CREATE INDEX mailbox_domain_complete ON mailbox (coalesce(domain_checked_at, '-infinity'::timestamptz))
    WHERE archived_at IS NULL AND kind <> 'sandbox' AND spf = 'pass' AND dkim = 'pass' AND dmarc = 'pass';
CREATE INDEX mailbox_domain_other ON mailbox (coalesce(domain_checked_at, '-infinity'::timestamptz))
    WHERE archived_at IS NULL AND kind <> 'sandbox' AND NOT (spf = 'pass' AND dkim = 'pass' AND dmarc = 'pass');
