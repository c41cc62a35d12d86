-- Pipelines, fields, segments, mailboxes, sequences, templates, endpoints, models, and the files of each org.
INSERT INTO pipeline (org_id, id, name, is_default, created_at, updated_at)
SELECT o.id, aged.id(o.at + p * interval '1 day', 'pipeline ' || n || ' ' || p), 'Pipeline ' || p, p = 0, o.at, o.at
FROM aged.org o, generate_series(0, CASE class WHEN 'tiny' THEN 0 ELSE 2 END) AS p;
INSERT INTO pipeline_stage (org_id, id, pipeline_id, place, name, kind, probability)
SELECT l.org_id, aged.id(l.created_at, 'stage ' || l.id || s), l.id, s, 'Stage ' || s,
    CASE s WHEN 4 THEN 'won' WHEN 5 THEN 'lost' ELSE 'open' END, CASE s WHEN 4 THEN 100 WHEN 5 THEN 0 ELSE 20 * s + 10 END
FROM pipeline l, generate_series(0, 5) AS s;
INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at)
SELECT o.id, f.key, initcap(f.key), f.type, o.at, o.at
FROM aged.org o, (VALUES ('plan', 'string'), ('seats', 'number'), ('renews_on', 'date'), ('trial', 'boolean')) AS f (key, type);

-- The first two segments are static. The others have filters of every kind.
INSERT INTO segment (org_id, id, key, name, kind, created_at, filter, reads, status, generation, fresh, built_at, updated_at)
SELECT o.id, aged.id(o.at + k * interval '1 hour', 'segment ' || n || ' ' || k), 'segment-' || k, 'Segment ' || k,
    CASE WHEN k < 2 THEN 'static' ELSE 'dynamic' END, o.at, CASE WHEN k >= 2 THEN f.filter END,
    CASE WHEN k >= 2 THEN f.reads ELSE '{}' END, 'ready', 1, true, @now, o.at
FROM aged.org o, generate_series(0, o.segments - 1) AS k,
LATERAL (SELECT * FROM (VALUES
    (0, '{"field": "stage", "op": "eq", "value": "lead"}'::json, '{stage}'::text[]),
    (1, '{"field": "lead_score", "op": "gte", "value": 50}', '{lead_score}'),
    (2, '{"field": "tag", "op": "eq", "value": "newsletter"}', '{tag}'),
    (3, '{"field": "attributes.plan", "op": "eq", "value": "pro"}', '{attributes}')) AS v (i, filter, reads)
    WHERE v.i = k % 4) AS f;
INSERT INTO segment_watch (org_id, watching) SELECT id, class <> 'tiny' FROM aged.org;

INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, smtp_host, smtp_port,
    imap_host, imap_port, daily_cap, time_zone, track_opens, verified_at, next_slot_at, checked_at, health_sent,
    health_at, spf, dkim, dmarc, domain_checked_at, created_at, updated_at, inbound_hash)
SELECT o.id, aged.id(o.at + k * interval '1 hour', 'mailbox ' || n || ' ' || k), 'Mailbox ' || k,
    CASE WHEN k = 0 THEN 'sandbox' ELSE 'smtp' END, 'box' || k || '@org' || n || '.example', 'box' || k || '@org' || n || '.example',
    'org' || n || '.example', CASE WHEN k = 4 THEN 'held' ELSE 'active' END, 'smtp.org' || n || '.example', 465,
    'imap.org' || n || '.example', 993, 500, 'Europe/Berlin', true, o.at, @now + k * interval '1 minute', @now, 100,
    @now - n % 1440 * interval '1 minute', 'pass', 'pass', 'pass', @now - n % 1440 * interval '1 minute', o.at, o.at,
    aged.bytes('inbound ' || n || ' ' || k)
FROM aged.org o, generate_series(0, o.mailboxes - 1) AS k;
INSERT INTO mailbox_folder (org_id, mailbox_id, folder, uidvalidity, uidnext, next_sync_at, synced_at)
SELECT org_id, id, f, 1, 100, @now + (hashtext(id::text) & 255) * interval '1 second', @now
FROM mailbox, unnest('{INBOX,Sent}'::text[]) AS f WHERE kind = 'smtp';
INSERT INTO mailbox_silence (org_id, mailbox_id, server, since, failures, detail, next_at)
SELECT org_id, id, 'imap', @now - interval '5 minutes', 3, 'The server does not respond.', @now + interval '4 minutes'
FROM (SELECT *, row_number() OVER (ORDER BY id) AS nr FROM mailbox WHERE kind = 'smtp') AS m WHERE nr % 50 = 1;
INSERT INTO mailbox_provider (org_id, id, provider, key, created_at, updated_at)
SELECT org_id, id, 'ses', aged.bytes('provider'), created_at, created_at FROM mailbox WHERE kind = 'smtp';
INSERT INTO provider_event (org_id, mailbox_id, identity, received_at)
SELECT m.org_id, m.id, aged.bytes('identity ' || m.id || k), @now - k * interval '1 day' FROM mailbox m, generate_series(1, 3) AS k;
INSERT INTO sending_domain (org_id, id, domain, status, spf, dmarc, created_at, verified_at, checked_at, next_check_at)
SELECT id, aged.id(at, 'sending ' || n), 'org' || n || '.example', 'verified', 'pass', 'pass', at, at, @now,
    @now + n % 1440 * interval '1 minute' FROM aged.org;
INSERT INTO sending_key (org_id, id, domain_id, selector, sealed, public_key, found, created_at)
SELECT id, aged.id(at, 'sending key ' || n), aged.id(at, 'sending ' || n), 'fw1', aged.bytes('sk'), 'p', true, at FROM aged.org;
INSERT INTO template (org_id, id, name, name_folded, subject, text, created_at, updated_at, archived_at)
SELECT o.id, aged.id(o.at + k * interval '1 day', 'template ' || n || ' ' || k), 'Template ' || k, 'template ' || k, 'Hello', 'Hi',
    o.at + k * interval '1 day', o.at, CASE WHEN k % 7 = 6 THEN @now END
FROM aged.org o, generate_series(1, least(2 + o.contacts / 20, 200)) AS k;

INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at, enroll_segment)
SELECT o.id, aged.id(o.at + k * interval '1 day', 'sequence ' || n || ' ' || k), 'Sequence ' || k, 'sequence ' || k,
    CASE WHEN k % 6 = 5 THEN 'paused' ELSE 'active' END, 1, 1, o.at + k * interval '1 day', o.at,
    CASE WHEN k = 1 AND o.segments > 2 THEN aged.id(o.at + 2 * interval '1 hour', 'segment ' || n || ' 2') END
FROM aged.org o, generate_series(0, o.sequences - 1) AS k;
INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
SELECT s.org_id, s.id, 1, json_build_object('mailbox_ids', (SELECT json_agg(m.id) FROM mailbox m WHERE m.org_id = s.org_id),
    'rotation', 'sticky', 'schedule', json_build_object('time_zone', 'contact', 'days', '["mon","tue","wed","thu","fri"]'::json,
    'from', '09:00', 'to', '17:00', 'holidays', '[]'::json), 'goal', NULL, 'stop_on', json_build_object('reply', true,
    'company_reply', true, 'deal_won', true), 'exclusive', false, 'allow_reenroll', true, 'max_new_per_day', NULL,
    'late_after_hours', 24, 'enroll_segment', s.enroll_segment), s.created_at, s.created_at FROM sequence s;
INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
SELECT org_id, id, 1, k, 's' || k, 'email', json_build_object('key', 's' || k, 'kind', 'email', 'delay',
    json_build_object('value', 2, 'unit', 'days'), 'email', json_build_object('subject', 'Hello', 'html', '', 'text', 'Hi',
    'thread', 'new', 'variants', '[{"key":"a","weight":1,"subject":"","html":"","text":""},{"key":"b","weight":1,"subject":"","html":"","text":""}]'::json, 'auto', true))
FROM sequence, generate_series(1, 3) AS k;
INSERT INTO variant_comparison (org_id, sequence_id, step, check_at)
SELECT org_id, id, 's1', @now + (hashint8(latest) & 255) * interval '1 minute' FROM sequence;
INSERT INTO schedule_zone (org_id, schedule, zone, body, opens_at, closes_at)
SELECT o.id, '\x00112233445566778899aabbccddeeff', z, '{"days": [false,true,true,true,true,true,false], "from": 540, "to": 1020, "holidays": []}',
    @now, @now + interval '8 hours' FROM aged.org o, unnest('{UTC,Europe/Berlin,Europe/Paris,America/New_York,Asia/Tokyo}'::text[]) AS z;
-- A group for each sequence, mailbox and zone.
CREATE TABLE aged.send_group AS
SELECT s.org_id, hashtextextended(s.id::text || m.id || z.zone, 0) AS id, s.id AS sequence_id, m.id AS mailbox_id, z.zone,
    row_number() OVER (PARTITION BY s.org_id ORDER BY s.id, m.id, z.zone) - 1 AS i, count(*) OVER (PARTITION BY s.org_id) AS groups
FROM sequence s JOIN mailbox m ON m.org_id = s.org_id
JOIN schedule_zone z ON z.org_id = s.org_id;
INSERT INTO send_group (org_id, id, sequence_id, mailbox_id, schedule, zone, wake_at)
SELECT org_id, id, sequence_id, mailbox_id, '\x00112233445566778899aabbccddeeff', zone, @now + i * interval '10 seconds' FROM aged.send_group;
CREATE UNIQUE INDEX ON aged.send_group (org_id, i);

INSERT INTO webhook_endpoint (org_id, id, url, events, secret, created_at, updated_at)
SELECT o.id, aged.id(o.at + k * interval '1 hour', 'endpoint ' || n || ' ' || k), 'https://hooks.org' || n || '.example/' || k,
    '{*}', aged.bytes('secret'), o.at, o.at FROM aged.org o, generate_series(0, o.endpoints - 1) AS k;
INSERT INTO webhook_health (org_id, endpoint_id) SELECT org_id, id FROM webhook_endpoint;
INSERT INTO webhook_replay (org_id, id, endpoint_id, from_at, to_at, types, only_failed, to_disabled, status, events, sent,
    created_at, updated_at, completed_at)
SELECT org_id, aged.id(@now - k * interval '2 days', 'replay ' || id || k), id, @now - interval '20 days', @now - interval '10 days', '{}',
    k % 2 = 0, false, CASE k WHEN 0 THEN 'running' ELSE 'completed' END, 1000, 500, @now - k * interval '2 days', @now,
    CASE WHEN k > 0 THEN @now END
FROM webhook_endpoint, generate_series(0, 2) AS k;
INSERT INTO job_line (org_id, id, slots) SELECT org_id, id, 10 FROM webhook_endpoint WHERE rate_limit IS NULL;

INSERT INTO score_model (org_id, number, created_at, promoted_at, learned_to, outcomes, model, report)
SELECT o.id, k, @now - (10 - k) * interval '7 days', @now, @now, 100, '{"version": "learned-1", "confidence": "learned", "intercept": 0, "weights": {}}', '{}'
FROM aged.org o, generate_series(1, CASE class WHEN 'tiny' THEN 0 ELSE 5 END) AS k;
INSERT INTO score_current (org_id, number, trained, trained_at) SELECT id, 0, 0, @now FROM aged.org;
INSERT INTO score_training (org_id, id, status, created_at, completed_at)
SELECT o.id, aged.id(@now - k * interval '7 days', 'training ' || n || k), 'completed', @now - k * interval '7 days', @now
FROM aged.org o, generate_series(1, CASE class WHEN 'tiny' THEN 1 ELSE 5 END) AS k;
