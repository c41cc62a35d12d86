-- What orgs with files have: imports, exports, bulk changes, broadcasts, batches, merges, duplicates. It needs the contacts.
CREATE TABLE aged.file AS SELECT o.*, k, aged.id(o.at + interval '1 day', k || ' ' || n) AS file,
    @now - k * interval '10 days' AS made FROM aged.org o, generate_series(0, o.files - 1) AS k;
CREATE TABLE aged.some AS SELECT org_id, n, g, id, at, row_number() OVER (PARTITION BY org_id ORDER BY g) - 1 AS i
FROM aged.seed WHERE files > 0 AND g <= 3000;
CREATE INDEX ON aged.some (org_id, i);
INSERT INTO contact_import (org_id, id, status, columns, blocks, next_block, rows_total, rows_created, actor_type, actor_id,
    request_id, link_key, created_at, started_at, completed_at)
SELECT id, aged.id(made, 'import ' || n || ' ' || k), CASE WHEN k = 0 THEN 'running' ELSE 'completed' END, '[{"name": "email", "field": "email", "type": "string"}]', 2, 1, 100, 50, 'user',
    aged.id(at, 'user ' || n || ' 0')::text, 'r', '\x00', made, made, CASE WHEN k > 0 THEN made END FROM aged.file;
INSERT INTO contact_import_block (org_id, import_id, block, data) SELECT id, aged.id(made, 'import ' || n || ' ' || k), 1, aged.bytes('b') FROM aged.file;
INSERT INTO contact_import_error (org_id, import_id, row, code, detail, cells)
SELECT id, aged.id(made, 'import ' || n || ' ' || k), r, 'invalid', 'No address.', '\x00' FROM aged.file, generate_series(1, 20) AS r;
INSERT INTO contact_import_warning (org_id, import_id, number, row, col, code, detail)
SELECT id, aged.id(made, 'import ' || n || ' ' || k), r, r, 'phone', 'invalid', 'No number.' FROM aged.file, generate_series(1, 20) AS r;
INSERT INTO contact_import_effect (org_id, import_id, contact_id, act, was_edit, edit)
SELECT f.id, aged.id(made, 'import ' || f.n || ' ' || k), s.id, 'created', 0, 1 FROM aged.file f JOIN aged.some s ON s.org_id = f.id
WHERE s.i / 100 = f.k;
INSERT INTO contact_export (org_id, id, status, format, archived, fields, rows, bytes, parts, actor_type, actor_id, request_id,
    link_key, created_at, started_at, completed_at, expires_at)
SELECT id, aged.id(made, 'export ' || n || ' ' || k), 'completed', 'csv', false, '{email}', 100, 1000, 1, 'user',
    aged.id(at, 'user ' || n || ' 0')::text, 'r', '\x00', made, made, made, made + interval '20 days' FROM aged.file;
INSERT INTO contact_export_part (org_id, export_id, part, data) SELECT id, aged.id(made, 'export ' || n || ' ' || k), 0, aged.bytes('e') FROM aged.file;
INSERT INTO contact_bulk (org_id, id, action, filter, dry_run, status, rows_total, rows_changed, actor_type, actor_id, request_id,
    created_at, updated_at, completed_at)
SELECT id, aged.id(made, 'bulk ' || n || ' ' || k), '{"type": "tag", "add": ["x"]}', '{"field": "stage", "op": "eq", "value": "lead"}',
    false, CASE WHEN k = 0 THEN 'running' ELSE 'completed' END, 1000, 500, 'user', aged.id(at, 'user ' || n || ' 0')::text, 'r', made, made,
    CASE WHEN k > 0 THEN made END FROM aged.file;
INSERT INTO contact_bulk_part (org_id, bulk_id, n, ids, size)
SELECT f.id, aged.id(made, 'bulk ' || f.n || ' 0'), 1 + i / 100, array_agg(s.id), count(*) FROM aged.file f JOIN aged.some s ON s.org_id = f.id
WHERE k = 0 GROUP BY f.id, f.n, made, i / 100;
INSERT INTO broadcast (org_id, id, name, mailbox_id, segment, mail, send_at, status, frozen, frozen_at, total, sendable, created_at,
    updated_at, completed_at)
SELECT id, aged.id(at + interval '1 day', 'broadcast ' || n || ' ' || k), 'Broadcast ' || k, aged.id(at, 'mailbox ' || n || ' 0'),
    aged.id(at, 'segment ' || n || ' 0'), '{"subject": "Hello", "html": "", "text": "Hi", "template_id": null, "variants": []}', made,
    CASE k WHEN 0 THEN 'sending' WHEN 1 THEN 'draft' ELSE 'sent' END, CASE WHEN k <> 1 THEN
        '{"blocks": null, "subject": "Hello", "html": "", "text": "Hi", "thread": "new", "variants": [], "auto": false}'::json END, made, 100, 90, made, made,
    CASE WHEN k > 1 THEN made END FROM aged.file;
INSERT INTO enrolment_batch (org_id, id, sequence_id, request, status, done, total, enrolled, created_at, completed_at)
SELECT id, aged.id(at + interval '1 day', 'batch ' || n || ' ' || k), aged.id(at, 'sequence ' || n || ' 0'), json_build_object('dry_run', false, 'segment', aged.id(at, 'segment ' || n || ' 0')),
    CASE WHEN k = 0 THEN 'running' ELSE 'completed' END, 100, 100, 90, made, CASE WHEN k > 0 THEN made END FROM aged.file;
INSERT INTO enrolment_result (org_id, batch_id, contact_id, reason, created_at)
SELECT f.id, aged.id(f.at + interval '1 day', 'batch ' || f.n || ' ' || k), s.id, 'suppressed', made
FROM aged.file f JOIN aged.some s ON s.org_id = f.id WHERE s.i / 100 = f.k;
INSERT INTO enrolment_move (org_id, id, sequence_id, from_version, to_version, chosen, dry_run, status, total, created_by, created_at,
    completed_at)
SELECT id, aged.id(made, 'move ' || n || ' ' || k), aged.id(at, 'sequence ' || n || ' 0'), 1, 1, '{}', true, 'completed', 10, '', made, made
FROM aged.file;
INSERT INTO contact_merge (org_id, id, survivor_id, loser_ids, created_at)
SELECT org_id, aged.id(at, 'merge ' || n || ' ' || i), id, ARRAY[aged.id(at, 'loser ' || n || i)], at FROM aged.some WHERE i % 20 = 0;
INSERT INTO contact_merged (org_id, survivor_id, contact_id, merge_id)
SELECT org_id, survivor_id, loser_ids[1], id FROM contact_merge;
INSERT INTO contact_duplicate (org_id, reason, n, contact_ids)
SELECT org_id, r, i / 2, array_agg(id) FROM aged.some, unnest('{email,name_company,phone}'::text[]) AS r WHERE i < 400 GROUP BY 1, 2, 3;
INSERT INTO contact_duplicate_search (org_id, asked_at, completed_at) SELECT id, @now, @now FROM aged.org;
INSERT INTO suppression_import (org_id, id, status, purpose, reason, rows_total, rows_added, created_by, link_key, created_at, completed_at)
SELECT id, aged.id(made, 'suppressions ' || n || ' ' || k), 'completed', 'all', 'manual', 10, 10, '', '\x00', made, made FROM aged.file;
INSERT INTO suppression_import_block (org_id, import_id, block, data) SELECT org_id, id, 0, '\x00' FROM suppression_import;
INSERT INTO suppression_import_error (org_id, import_id, row, code, detail, cells)
SELECT org_id, id, r, 'invalid', 'No address.', '\x00' FROM suppression_import, generate_series(1, 5) AS r;
INSERT INTO suppression_import_warning (org_id, import_id, number, row, col, code, detail)
SELECT org_id, id, r, r, 'note', 'too_long', 'Too long.' FROM suppression_import, generate_series(1, 5) AS r;
INSERT INTO word_index (org_id, ready, due, building, fence) SELECT id, false, false, false, pg_current_xact_id() FROM aged.org WHERE class <> 'tiny';
INSERT INTO word_index_mark (org_id, contact_id) SELECT org_id, id FROM aged.some WHERE i < 50;

-- The sums that triggers and jobs keep.
UPDATE segment g SET counted = m.n FROM (SELECT org_id, segment_id, count(*) AS n FROM segment_member WHERE NOT archived GROUP BY 1, 2) AS m
WHERE m.org_id = g.org_id AND m.segment_id = g.id;
INSERT INTO segment_tally (org_id, segment_id, id, step) OVERRIDING SYSTEM VALUE
SELECT org_id, id, t, CASE WHEN t % 2 = 0 THEN 1 ELSE -1 END FROM segment, generate_series(1, 4) AS t;
SELECT setval(pg_get_serial_sequence('segment_tally', 'id'), 1000);
INSERT INTO day_count (org_id, day, contacts)
SELECT org_id, (created_at AT TIME ZONE 'UTC')::date, count(*) FROM contact WHERE archived_at IS NULL GROUP BY 1, 2;
INSERT INTO day_count (org_id, day, deliveries, delivery_failures)
SELECT org_id, (created_at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE status = 'delivered'), count(*) FILTER (WHERE status IN ('failed', 'exhausted'))
FROM webhook_delivery GROUP BY 1, 2
ON CONFLICT (org_id, day) DO UPDATE SET deliveries = excluded.deliveries, delivery_failures = excluded.delivery_failures;
INSERT INTO day_count (org_id, day, emails_sent)
SELECT org_id, (marked_at AT TIME ZONE 'UTC')::date, count(*) FROM email WHERE status = 'sent' GROUP BY 1, 2
ON CONFLICT (org_id, day) DO UPDATE SET emails_sent = excluded.emails_sent;
INSERT INTO day_deals (org_id, day, status, currency, deals, amount)
SELECT org_id, coalesce((closed_at AT TIME ZONE 'UTC')::date, 'infinity'), status, currency, count(*), sum(amount)
FROM deal WHERE archived_at IS NULL GROUP BY 1, 2, 3, 4;
INSERT INTO quota (org_id, feature, cap, used)
SELECT m.org_id, 'members', 1000, count(*) FROM (SELECT org_id FROM member WHERE removed_at IS NULL
    UNION ALL SELECT org_id FROM invitation WHERE closed_at IS NULL) AS m GROUP BY 1;
INSERT INTO quota (org_id, feature, cap, used)
SELECT org_id, 'webhooks', 100, count(*) FROM webhook_endpoint WHERE archived_at IS NULL GROUP BY 1;

-- The counts of sequences and broadcasts, as they were folded now, and a few changes of each that are not folded.
INSERT INTO outreach_count (org_id, source_id, xid, step, variant, pending, active, sending, paused, finished, replied,
    unsubscribed, bounced, goal_met, failed, removed, waiting, transmitting, sent, unknown, refused, cancelled, delivered,
    returned, complained, answered, clicked, opened, machine_clicked, machine_opened, unsubscribing, machine_clicks,
    machine_opens, marked_at)
SELECT s.org_id, s.id, pg_current_xact_id()::text::bigint, '', '',
    count(*) FILTER (WHERE n.state = 'pending'), count(*) FILTER (WHERE n.state = 'active'),
    count(*) FILTER (WHERE n.state = 'sending'), count(*) FILTER (WHERE n.state = 'paused'),
    count(*) FILTER (WHERE n.state = 'finished'), count(*) FILTER (WHERE n.state = 'replied'),
    count(*) FILTER (WHERE n.state = 'unsubscribed'), count(*) FILTER (WHERE n.state = 'bounced'),
    count(*) FILTER (WHERE n.state = 'goal_met'), count(*) FILTER (WHERE n.state = 'failed'),
    count(*) FILTER (WHERE n.state = 'removed'), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL
FROM sequence s LEFT JOIN enrolment n ON n.org_id = s.org_id AND n.sequence_id = s.id GROUP BY s.org_id, s.id
UNION ALL
SELECT n.org_id, n.sequence_id, pg_current_xact_id()::text::bigint, e.step, coalesce(e.variant, ''),
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count(*) FILTER (WHERE e.status IN ('scheduled', 'planned')),
    count(*) FILTER (WHERE e.status = 'transmitting'), count(*) FILTER (WHERE e.status = 'sent'),
    count(*) FILTER (WHERE e.status = 'unknown'), count(*) FILTER (WHERE e.status = 'failed'),
    count(*) FILTER (WHERE e.status = 'cancelled'), count(e.delivered_at), count(e.bounced), count(e.complained_at),
    count(e.replied_at), count(*) FILTER (WHERE e.clicks > 0), count(*) FILTER (WHERE e.opens > 0),
    count(*) FILTER (WHERE e.machine_clicks > 0), count(*) FILTER (WHERE e.machine_opens > 0),
    count(*) FILTER (WHERE n.state = 'unsubscribed' AND n.last_email_id = e.id), sum(e.machine_clicks),
    sum(e.machine_opens), min(e.marked_at)
FROM enrolment n JOIN email e ON e.org_id = n.org_id AND e.enrolment_id = n.id WHERE e.step IS NOT NULL GROUP BY 1, 2, 4, 5
UNION ALL
SELECT b.org_id, b.id, pg_current_xact_id()::text::bigint, '', coalesce(e.variant, ''),
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count(*) FILTER (WHERE e.status IN ('scheduled', 'planned')),
    count(*) FILTER (WHERE e.status = 'transmitting'), count(*) FILTER (WHERE e.status = 'sent'),
    count(*) FILTER (WHERE e.status = 'unknown'), count(*) FILTER (WHERE e.status = 'failed'),
    count(*) FILTER (WHERE e.status = 'cancelled'), count(e.delivered_at), count(e.bounced), count(e.complained_at),
    count(e.replied_at), count(*) FILTER (WHERE e.clicks > 0), count(*) FILTER (WHERE e.opens > 0),
    count(*) FILTER (WHERE e.machine_clicks > 0), count(*) FILTER (WHERE e.machine_opens > 0), 0,
    coalesce(sum(e.machine_clicks), 0), coalesce(sum(e.machine_opens), 0), min(e.marked_at)
FROM broadcast b LEFT JOIN email e ON e.org_id = b.org_id AND e.broadcast_id = b.id GROUP BY 1, 2, 5;
INSERT INTO outreach_delta (org_id, source_id, xid, step, variant, active, sending)
SELECT org_id, id, pg_current_xact_id()::text::bigint, '', '', k, -k FROM sequence, unnest('{1,1,-1,-1}'::int[]) AS k;

UPDATE overview_state s SET seq = (SELECT max(seq) FROM event),
    ended_before = least((SELECT d.id FROM webhook_delivery d WHERE d.org_id = s.org_id AND d.status = 'pending' ORDER BY d.id LIMIT 1), uuid_floor(@now - interval '2 hours'));
UPDATE overview_state s SET ended_deliveries = d.delivered, ended_failures = d.failed
FROM (SELECT o.org_id, count(*) FILTER (WHERE d.status = 'delivered') AS delivered, count(*) FILTER (WHERE d.status IN ('failed', 'exhausted')) AS failed
    FROM overview_state o
    JOIN webhook_delivery d ON d.org_id = o.org_id AND d.id < o.ended_before AND d.id >= uuid_floor(date_trunc('day',
        to_timestamp(('x' || left(replace(o.ended_before::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
    GROUP BY 1) AS d
WHERE d.org_id = s.org_id;
DROP TABLE aged.file, aged.some, aged.company, aged.seed, aged.send_group, aged.person;
