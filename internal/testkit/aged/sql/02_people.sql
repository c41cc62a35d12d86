-- Users, members, credentials, billing, connections and what else an org has besides its contacts.
CREATE TABLE aged.person AS
SELECT o.id AS org_id, o.n, i, aged.id(o.at, 'user ' || o.n || ' ' || i) AS id, o.at
FROM aged.org o, generate_series(0, o.members - 1) AS i;

INSERT INTO app_user (id, email, email_folded, first_name, last_name, verified_at, last_org_id, created_at)
SELECT id, 'user' || i || '@org' || n || '.example', 'user' || i || '@org' || n || '.example',
    initcap(aged.name(n + i)), initcap(aged.name(n * 7 + i)), at, org_id, at FROM aged.person;
INSERT INTO member (org_id, user_id, role, created_at, updated_at)
SELECT org_id, id, ('{owner,admin,member,viewer}'::text[])[1 + i % 4], at, at FROM aged.person;
INSERT INTO api_key (org_id, id, name, role, hint, hash, created_by, created_at, revoked_at)
SELECT org_id, aged.id(at + i * interval '1 hour', 'key ' || n || ' ' || i), 'key ' || i, 'member', 'abcd',
    aged.bytes('key ' || n || ' ' || i), id, at + i * interval '1 hour', CASE WHEN i % 5 = 4 THEN @now END
FROM aged.person;
INSERT INTO refresh_token (org_id, id, family, user_id, hash, created_at, expires_at, used_at, client)
SELECT p.org_id, aged.id(@now - k * interval '3 days', 'token ' || n || ' ' || i || ' ' || k), id, id,
    aged.bytes('token ' || n || ' ' || i || ' ' || k), @now - k * interval '3 days',
    @now + (30 - 3 * k) * interval '1 day', CASE WHEN k > 0 THEN @now - (k - 1) * interval '3 days' END, 'console'
FROM aged.person p, generate_series(0, 4) AS k;
INSERT INTO user_token (hash, user_id, purpose, created_at, expires_at)
SELECT aged.bytes('reset ' || id), id, 'reset_password', @now, @now + interval '1 hour' FROM aged.person WHERE n % 50 = 0;
INSERT INTO user_view (org_id, user_id, key, value, updated_at)
SELECT org_id, id, 'contacts', '{"columns": ["email"]}', @now FROM aged.person;
INSERT INTO invitation (org_id, id, email, email_folded, role, token_hash, invited_by, created_at, updated_at, expires_at,
    closed_at)
SELECT o.id, aged.id(@now - k * interval '20 days', 'invitation ' || o.n || ' ' || k), 'guest' || k || '@example.com',
    'guest' || k || '@example.com', 'member', aged.bytes('invitation ' || o.n || ' ' || k), aged.id(o.at, 'user ' || o.n || ' 0'),
    @now - k * interval '20 days', @now - k * interval '20 days', @now - (k * 20 - 7) * interval '1 day',
    CASE WHEN k > 0 THEN @now - k * interval '19 days' END
FROM aged.org o, generate_series(0, 3) AS k;
INSERT INTO invitation_count (org_id, id, created_at) SELECT org_id, id, created_at FROM invitation;
INSERT INTO invitation_mail (address, sent_at) SELECT token_hash, created_at FROM invitation;
INSERT INTO audit_log (org_id, id, created_at, actor_type, actor_id, action, target_type, target_id, detail, request_id)
SELECT o.id, aged.id(@now - k * interval '90 minutes', 'audit ' || o.n || ' ' || k), @now - k * interval '90 minutes',
    'user', aged.id(o.at, 'user ' || o.n || ' ' || k % o.members)::text,
    ('{contact.archive,api_key.create,member.update,webhook.update,org.update}'::text[])[1 + k % 5],
    ('{contact,api_key,member,webhook,org}'::text[])[1 + k % 5], aged.id(o.at, 'target ' || k % 40)::text, '{}', 'r' || k
FROM aged.org o, generate_series(1, least(8 + o.contacts / 2, 20000)) AS k;
INSERT INTO idempotency_key (org_id, key, fingerprint, answer, created_at)
SELECT o.id, 'k' || k, aged.bytes('f' || k), '\x00', @now - k * interval '5 minutes'
FROM aged.org o, generate_series(1, least(1 + o.contacts / 20, 2000)) AS k;
INSERT INTO org_key (org_id, sealed) SELECT id, aged.bytes('org key ' || n) FROM aged.org WHERE class = 'tiny';
INSERT INTO org_sending (org_id, postal_address, default_purpose, daily_cap, blocked_countries, stop_on_reply,
    stop_on_company_reply, stop_on_deal_won, track_opens, track_clicks, updated_at, edit)
SELECT id, 'Street 1, 10115 Berlin', 'personal', 100000, '{}', true, false, false, true, true, at, 1 FROM aged.org;
INSERT INTO brand (org_id, brand_name, support_email) SELECT id, 'Brand ' || n, 'help@org' || n || '.example' FROM aged.org;
INSERT INTO plan_override (org_id, feature, value, source) SELECT id, 'contacts', 'null', 'override' FROM aged.org;
INSERT INTO plan_addon (org_id, id, feature, amount)
SELECT id, aged.id(at, 'addon ' || n), 'members', 10 FROM aged.org WHERE class <> 'tiny';

INSERT INTO billing_customer (org_id, stripe_id, stripe_key, keyed_at) SELECT id, 'cus_' || n, 'k' || n, at FROM aged.org;
INSERT INTO stripe_subscription (org_id, stripe_id, live, status, plan, interval, price_id, item_id, quantity,
    overage_item_id, overage_price_id, overage_quantity, period_start, period_end, cancel_at_period_end, schedule_id,
    invoice_id, read_at)
SELECT id, 'sub_' || n, true, 'active', 'white_label_enterprise', 'month', 'price_1', 'si_' || n, 1, '', '', 0,
    @now - interval '10 days', @now + interval '20 days', false, '', 'in_' || n, @now FROM aged.org;
INSERT INTO stripe_event (org_id, id, connect, account, type, customer, object_id, created_at, source, payload, worked_at,
    outcome)
SELECT o.id, 'evt_' || n || '_' || k, false, '', 'invoice.paid', 'cus_' || n, 'in_' || n || '_' || k,
    @now - k * interval '30 days', 'webhook', '{}', @now, 'applied' FROM aged.org o, generate_series(0, 2) AS k;
INSERT INTO billing_preview (org_id, id, plan, interval, timing, base, amount_due, total, currency, lines, proration_date,
    created_at, expires_at)
SELECT id, aged.id(@now - interval '1 hour', 'preview ' || n), 'agency_scale', 'month', 'now', '', 100, 100, 'eur', '[]', @now,
    @now, @now + interval '1 hour' FROM aged.org WHERE n % 5 = 0;
INSERT INTO plan_change (org_id, id, kind, state, from_plan, from_interval, to_plan, to_interval, params, stripe_key,
    keyed_at, amount_expected, currency, created_at, updated_at)
SELECT id, aged.id(at, 'change ' || n), 'start', 'applied', 'trial', '', 'white_label_enterprise', 'month', '{}',
    'change ' || n, at, 100, 'eur', at, at FROM aged.org;
INSERT INTO plan_change_step (org_id, change_id, id, event, detail, created_at)
SELECT id, aged.id(at, 'change ' || n), aged.id(at, 'step ' || n), 'applied', '{}', at FROM aged.org;
INSERT INTO connect_account (org_id, stripe_id, stripe_key, keyed_at, intended_at, state, state_since, created_at, updated_at)
SELECT id, 'acct_' || n, 'k' || n, at, at, 'enabled', at, at, at FROM aged.org WHERE class <> 'tiny';
INSERT INTO connect_sale (org_id, id, client_org_id, account, state, keyed_at, email, name, amount, currency, interval,
    days_until_due, subscription_id, fee_bps, fee_wanted, created_at, updated_at)
SELECT p.id, aged.id(o.at, 'sale ' || o.n), o.id, 'acct_1', 'active', o.at, 'a@b.example', 'Sale', 100, 'eur', 'month', 14,
    'sub_c' || o.n, 500, 500, o.at, o.at FROM aged.org o JOIN aged.org p ON p.n = o.parent;
INSERT INTO connect_fee (org_id, invoice_id, sale_id, account, charge_id, fee_id, currency, gross, stripe_fee,
    application_fee, net, fee_bps, paid_at, updated_at)
SELECT p.id, 'in_c' || o.n || '_' || k, aged.id(o.at, 'sale ' || o.n), 'acct_1', 'ch_' || o.n || k, 'fee_' || o.n || k, 'eur',
    100, 3, 5, 92, 500, @now - k * interval '30 days', @now
FROM aged.org o JOIN aged.org p ON p.n = o.parent, generate_series(0, 5) AS k;
INSERT INTO staff_access (org_id, id, user_id, parent_org_id, role, expires_at)
SELECT o.id, aged.id(@now, 'staff ' || o.n), aged.id(p.at, 'user 1 0'), p.id, 'admin', @now + interval '1 hour'
FROM aged.org o JOIN aged.org p ON p.n = o.parent;
INSERT INTO domain (org_id, id, host, token, status, proven_at, next_check_at)
SELECT id, aged.id(at, 'domain ' || n), 'crm.org' || n || '.example', 't' || n, 'active', at, @now + n % 60 * interval '1 minute'
FROM aged.org;
INSERT INTO social_grant (org_id, id, platform, kind, client_id, subject_id, sealed_access, sealed_refresh, granted_at,
    issued_at, refresh_at, access_expires_at)
SELECT o.id, aged.id(o.at + k * interval '1 day', 'grant ' || n || ' ' || k), p, CASE WHEN p LIKE '%ads' THEN 'ads' ELSE 'social' END,
    'app', 'person ' || n, '\x0100000001aa', '\x0100000001bb', @now, @now, @now + n % 1440 * interval '1 minute',
    @now + interval '60 days'
FROM aged.org o, unnest('{facebook,linkedin,google_ads}'::text[]) WITH ORDINALITY AS x (p, k);
INSERT INTO social_account (org_id, id, platform, kind, external_account_id, grant_id, display_name, connected_at)
SELECT g.org_id, aged.id(g.granted_at + j * interval '1 s', 'account ' || g.id || j), platform, kind, 'x' || j, g.id, 'Page ' || j, @now
FROM social_grant g, generate_series(1, 3) AS j;
INSERT INTO social_pending (org_id, id, platform, kind, client_id, actor_type, actor_id, granted_at, expires_at)
SELECT id, aged.id(@now, 'pending ' || n), 'facebook', 'social', 'app', 'user', aged.id(at, 'user ' || n || ' 0'), @now,
    @now + interval '1 hour' FROM aged.org WHERE n % 20 = 1;
INSERT INTO oauth_state (org_id, hash, platform, kind, actor_type, actor_id, expires_at)
SELECT id, aged.bytes('state ' || n), 'facebook', 'social', 'user', aged.id(at, 'user ' || n || ' 0'), @now + interval '1 hour'
FROM aged.org WHERE n % 20 = 1;
INSERT INTO ai_quota (org_id, period, used)
SELECT id, date_trunc('month', @now - k * interval '1 month')::date, 1000 FROM aged.org, generate_series(0, 5) AS k;
INSERT INTO ai_reservation (org_id, id, period, operation, estimate, charged, state, created_at, expires_at)
SELECT o.id, aged.id(@now - k * interval '1 day', 'ai ' || n || ' ' || k), date_trunc('month', @now)::date, 'draft', 10, 10,
    'settled', @now - k * interval '1 day', @now FROM aged.org o, generate_series(1, 3) AS k;
INSERT INTO email_month (org_id, period, slot, used)
SELECT id, date_trunc('month', @now - k * interval '1 month')::date, s, 10
FROM aged.org, generate_series(0, 11) AS k, generate_series(0, 1) AS s;
INSERT INTO system_mail (org_id, id, recipient, subject, created_at, sent_at)
SELECT o.id, aged.id(@now - k * interval '9 days', 'mail ' || n || ' ' || k), 'user0@org' || n || '.example', 'Hello',
    @now - k * interval '9 days', @now - k * interval '9 days' FROM aged.org o, generate_series(1, 3) AS k;
INSERT INTO sandbox_mail (org_id, id, recipient, subject, body)
SELECT org_id, id, recipient, subject, '\x00' FROM system_mail WHERE random() < 0.1;
INSERT INTO job_weight (org_id, weight) SELECT id, 3 FROM aged.org WHERE class IN ('huge', 'middle');
