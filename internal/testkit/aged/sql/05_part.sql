-- The contacts of one part, and all that hangs on a contact. It runs once for each part.
CREATE UNLOGGED TABLE aged.part AS SELECT * FROM aged.seed WHERE part = @part ORDER BY org_id, at;
ANALYZE aged.part;

INSERT INTO contact (org_id, id, email, email_folded, first_name, first_name_folded, last_name, last_name_folded, phone,
    phone_folded, job_title, job_title_folded, source, source_folded, time_zone, time_zone_folded, country, country_folded,
    company_id, stage, tags, attributes, owner_id, created_at, updated_at, archived_at, consent, external_ids, words)
SELECT org_id, id, email, email, initcap(first), first, initcap(last), last, phone, phone, job, lower(job), source, source,
    zone, lower(zone), country, lower(country), company_id, stage, tags, attributes, owner, at,
    at + (@now - at) * h8 * h8, CASE WHEN h8 > 0.97 THEN @now - h1 * interval '30 days' END,
    CASE WHEN h6 < 0.2 THEN '{"basis": "consent"}'::jsonb END,
    CASE WHEN h6 > 0.8 THEN jsonb_build_object('hubspot', g::text) ELSE '{}' END,
    concat(' ', first, CASE WHEN last <> first THEN ' ' || last END, ' ', last, g, ' ', replace(domain, '.', ' '))
FROM (
    SELECT p.*, k.id AS company_id, coalesce(k.domain, 'gmail.com') AS domain,
        first || '.' || last || g || '@' || coalesce(k.domain, 'gmail.com') AS email,
        CASE WHEN h3 < 0.5 THEN '+49 30 ' || lpad(g::text, 7, '0') END AS phone,
        CASE WHEN h4 < 0.6 THEN ('{Head of,Director of,VP,Manager,Assistant}'::text[])[1 + floor(5 * h1)::int] || ' '
            || ('{Marketing,Sales,Finance,Product,Support}'::text[])[1 + floor(5 * h5)::int] END AS job,
        CASE WHEN h6 < 0.7 THEN ('{website,referral,ads,import,event,partner,outbound,podcast}'::text[])
            [1 + floor(8 * (h6 / 0.7) ^ 2)::int] END AS source,
        CASE WHEN h7 < 0.3 THEN ('{Europe/Berlin,Europe/Paris,America/New_York,Asia/Tokyo,UTC}'::text[])
            [1 + floor(5 * h2)::int] END AS zone,
        CASE WHEN h7 < 0.4 THEN ('{DE,FR,US,JP,CH}'::text[])[1 + floor(5 * h2)::int] END AS country,
        array_remove(ARRAY[CASE WHEN stage = 'subscriber' AND h6 < 0.8 OR h6 < 0.2 THEN 'newsletter' END,
            CASE WHEN stage IN ('lead', 'mql') AND h7 < 0.15 THEN 'webinar' END,
            CASE WHEN h7 BETWEEN 0.5 AND 0.55 THEN 'event-2026' END,
            CASE WHEN stage = 'customer' AND h2 < 0.3 THEN 'vip' END, CASE WHEN h3 < 0.001 THEN 'partner' END,
            CASE WHEN h4 > 0.9998 THEN 'board' END], NULL) AS tags,
        jsonb_strip_nulls(jsonb_build_object('plan', CASE WHEN h2 < 0.35 THEN 'free' WHEN h2 < 0.55 THEN 'pro'
            WHEN h2 < 0.6 THEN 'enterprise' WHEN h2 > 0.9995 THEN 'legacy' END,
            'seats', CASE WHEN h7 < 0.4 THEN 1 + floor(1000 * (2 * h7) ^ 3) END,
            'renews_on', CASE WHEN h1 < 0.2 THEN ('2026-01-01'::date + floor(h1 * 1200)::int)::text END)) AS attributes,
        CASE WHEN h8 < 0.8 THEN aged.id(org_at, 'user ' || n || ' ' || floor(members * h8)::int) END AS owner
    FROM (SELECT *, aged.name(floor(2000 * h1 ^ 3)::int) AS first, aged.name(floor(8000 * h2 ^ 2)::int) AS last
        FROM aged.part) AS p
    LEFT JOIN aged.company k ON k.org_id = p.org_id AND k.i = CASE WHEN h3 < 0.6 THEN floor(companies * h4 ^ 2)::int END
) AS c;
INSERT INTO contact_tag (org_id, tag, archived, created_at, contact_id)
SELECT c.org_id, t, archived_at IS NOT NULL, created_at, c.id
FROM contact c JOIN aged.part p ON p.org_id = c.org_id AND p.id = c.id, unnest(c.tags) AS t;
INSERT INTO external_id (org_id, kind, system, value, record_id, archived)
SELECT c.org_id, 'contact', e.key, e.value, c.id, c.archived_at IS NOT NULL
FROM contact c JOIN aged.part p ON p.org_id = c.org_id AND p.id = c.id, jsonb_each_text(c.external_ids) AS e
ORDER BY 1, 2, 3, 4;
INSERT INTO vocabulary (org_id, kind, folded, name, created_at)
SELECT DISTINCT c.org_id, 'tag', lower(t), t, @now FROM contact c JOIN aged.part p ON p.org_id = c.org_id AND p.id = c.id,
    unnest(c.tags) AS t
ON CONFLICT DO NOTHING;
INSERT INTO refolding (org_id, version, ended_at) SELECT DISTINCT org_id, 1, @now FROM aged.part ON CONFLICT DO NOTHING;
INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, number, created_at)
SELECT c.org_id, c.id, a.key, archived_at IS NOT NULL,
    CASE WHEN jsonb_typeof(a.value) = 'string' THEN lower(a.value #>> '{}') END,
    CASE WHEN jsonb_typeof(a.value) = 'number' THEN (a.value #>> '{}')::float8 END, created_at
FROM contact c JOIN aged.part p ON p.org_id = c.org_id AND p.id = c.id, jsonb_each(c.attributes) AS a;
INSERT INTO contact_word (org_id, word, contact_id)
SELECT c.org_id, w, c.id
FROM contact c JOIN aged.part p ON p.org_id = c.org_id AND p.id = c.id, regexp_split_to_table(ltrim(c.words), ' ') AS w
ON CONFLICT DO NOTHING;

-- Scores follow the stages: few leads are above most customers.
INSERT INTO contact_score (org_id, contact_id, stage, score, probability, version, confidence, announced, archived, segments,
    scored_at, fades_at)
SELECT org_id, id, stage, s, s / 100, 'prior', 'prior', s, h8 > 0.97, array_remove(ARRAY[CASE WHEN h1 > 0.8 THEN 'segment-0' END,
    CASE WHEN h4 < 0.005 THEN 'segment-1' END, CASE WHEN segments > 2 AND stage = 'lead' THEN 'segment-2' END,
    CASE WHEN segments > 3 AND s >= 50 THEN 'segment-3' END], NULL), @now - h2 * interval '20 days',
    CASE WHEN h6 > 0.95 THEN @now + h7 * interval '20 days' END
FROM (SELECT *, round((CASE stage WHEN 'customer' THEN 80 WHEN 'evangelist' THEN 85 WHEN 'opportunity' THEN 65
    WHEN 'sql' THEN 55 WHEN 'mql' THEN 40 WHEN 'lead' THEN 15 ELSE 5 END + 15 * h7 * h7)::numeric, 2)::float8 AS s
    FROM aged.part) AS x;
INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
SELECT p.org_id, aged.id(p.org_at + k * interval '1 hour', 'segment ' || p.n || ' ' || k), h8 > 0.97, p.at, p.id
FROM aged.part p JOIN contact_score s ON s.org_id = p.org_id AND s.contact_id = p.id, unnest(s.segments) AS key,
LATERAL (SELECT right(key, 1)::int AS k) AS x;
INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
SELECT org_id, id, @now - h2 * interval '20 days' - k * interval '9 days', 10 * h7, 0.1 * h7, 'prior'
FROM aged.part, generate_series(0, (2 * h3)::int) AS k;
INSERT INTO segment_mark (org_id, contact_id) SELECT org_id, id FROM aged.part WHERE h3 > 0.99 AND class <> 'tiny';
INSERT INTO segment_entry (org_id, id, sequence_id, segment_id, contact_id, due_at, created_at)
SELECT org_id, aged.id(@now - h1 * interval '1 hour', 'entry ' || x), aged.id(org_at + interval '1 day', 'sequence ' || n || ' 1'),
    aged.id(org_at + 2 * interval '1 hour', 'segment ' || n || ' 2'), id, @now, @now
FROM aged.part WHERE h3 > 0.99 AND class <> 'tiny' AND stage = 'lead';
INSERT INTO consent_request (org_id, contact_id) SELECT org_id, id FROM aged.part WHERE h2 < 0.02;
INSERT INTO suppression (org_id, id, kind, hash, address, purpose, reason, source, created_at, lifted_at)
SELECT p.org_id, aged.id(p.at, 'suppression ' || x), 'email', aged.bytes('address ' || x), c.email,
    CASE WHEN h2 < 0.7 THEN 'marketing' ELSE 'all' END,
    ('{unsubscribe,unsubscribe,hard_bounce,complaint,manual}'::text[])[1 + floor(5 * h4)::int], 'import', p.at,
    CASE WHEN h1 < 0.1 THEN @now END
FROM aged.part p JOIN contact c ON c.org_id = p.org_id AND c.id = p.id WHERE h3 > 0.92;

-- Deals, notes and tasks.
INSERT INTO deal (org_id, id, name, contact_id, company_id, pipeline_id, stage_id, status, open_stage_id, amount, currency,
    lost_reason, expected_close_on, owner_id, closed_at, created_at, updated_at, archived_at)
SELECT p.org_id, aged.id(p.at, 'deal ' || x), 'Deal ' || initcap(aged.name(g % 8000)), p.id, k.id,
    aged.id(org_at, 'pipeline ' || n || ' 0'), aged.id(org_at, 'stage ' || aged.id(org_at, 'pipeline ' || n || ' 0') || s),
    CASE s WHEN 4 THEN 'won' WHEN 5 THEN 'lost' ELSE 'open' END,
    CASE WHEN s < 4 THEN aged.id(org_at, 'stage ' || aged.id(org_at, 'pipeline ' || n || ' 0') || s) END,
    100 * floor(10000 * h1 ^ 4)::bigint, 'eur', CASE s WHEN 5 THEN 'price' END,
    (p.at + h2 * interval '200 days')::date, aged.id(org_at, 'user ' || n || ' ' || floor(members * h8)::int),
    CASE WHEN s >= 4 THEN p.at + (@now - p.at) * h2 END, p.at, p.at, CASE WHEN h4 > 0.97 THEN @now END
FROM (SELECT *, CASE WHEN stage = 'customer' THEN 4 ELSE floor(6 * h7)::int END AS s FROM aged.part
    WHERE h6 < 0.25 OR stage = 'customer') AS p
LEFT JOIN aged.company k ON k.org_id = p.org_id AND k.i = floor(companies * h4 ^ 2)::int;
INSERT INTO deal_word (org_id, word, deal_id)
SELECT d.org_id, w, d.id FROM deal d JOIN aged.part p ON p.org_id = d.org_id AND p.id = d.contact_id,
    regexp_split_to_table(lower(d.name), ' ') AS w;
INSERT INTO score_snapshot (org_id, deal_id, contact_id, at, seen)
SELECT d.org_id, d.id, p.id, d.created_at, jsonb_build_object('stage', p.stage, 'email', 'a@b.example', 'tags', '[]'::jsonb, 'company',
    true, 'phone', true, 'owner', true, 'attributes', '{}'::jsonb)
FROM deal d JOIN aged.part p ON p.org_id = d.org_id AND p.id = d.contact_id;
INSERT INTO note (org_id, id, body, author_id, contact_id, deal_id, created_at, updated_at, archived_at)
SELECT org_id, aged.id(at, 'note ' || x), 'Called, and will call again.', aged.id(org_at, 'user ' || n || ' ' || floor(members * h1)::int),
    id, CASE WHEN h6 < 0.1 THEN aged.id(at, 'deal ' || x) END, at, at, CASE WHEN h5 > 0.97 THEN @now END
FROM aged.part WHERE h2 < 0.2;
INSERT INTO task (org_id, id, title, status, priority, due_at, assignee_id, contact_id, completed_at, created_at, updated_at)
SELECT org_id, aged.id(at, 'task ' || x), 'Call', CASE WHEN h6 < 0.7 THEN 'done' ELSE 'open' END,
    ('{low,normal,high}'::text[])[1 + floor(3 * h2)::int], at + h2 * interval '9 days',
    aged.id(org_at, 'user ' || n || ' ' || floor(members * h1)::int), id, CASE WHEN h6 < 0.7 THEN at + h3 * interval '9 days' END, at, at
FROM aged.part WHERE h4 > 0.8;
INSERT INTO timeline (org_id, contact_id, id, type, actor_type, object_id, data, at)
SELECT org_id, id, aged.id(at + k * (@now - at) * 0.3 * h1, 'timeline ' || x || ' ' || k),
    ('{contact.created,contact.updated,contact.scored,deal.created}'::text[])[1 + k], 'system', id,
    '{"object": {"stage": "lead"}, "changes": null}', at + k * (@now - at) * 0.3 * h1
FROM aged.part, generate_series(0, (2.4 * h3)::int) AS k;

-- Mail: enrolments in all states, their emails, opens and clicks, threads with replies.
INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, reason, step, step_number, due_at, kept_due_at,
    resume_at, grp, prio, mailbox_id, zone, stop_company, stop_deal, created_at, started_at, state_at, ended_at, batch_id)
SELECT p.org_id, aged.id(p.at, 'enrolment ' || x), s.sequence_id, 1, p.id, state,
    CASE state WHEN 'failed' THEN 'no_address' ELSE '' END, 's' || 1 + floor(3 * h2)::int, 1 + floor(3 * h2)::int,
    CASE WHEN state IN ('pending', 'active') THEN @now + (h4 - 0.1) * interval '3 days' END,
    CASE WHEN state = 'paused' THEN @now END, CASE WHEN state = 'paused' AND h4 < 0.5 THEN @now + h4 * interval '9 days' END,
    s.id, (h2 < 0.5)::int, s.mailbox_id, s.zone, true, true, p.at, CASE WHEN state <> 'pending' THEN p.at END, p.at,
    CASE WHEN state NOT IN ('pending', 'active', 'sending', 'paused') THEN p.at + h3 * (@now - p.at) END,
    CASE WHEN h7 < 0.2 AND files > 0 THEN aged.id(org_at + interval '1 day', 'batch ' || n || ' 1') END
FROM (SELECT *, CASE WHEN h6 < 0.03 THEN 'pending' WHEN h6 < 0.12 THEN 'active' WHEN h6 < 0.125 THEN 'sending'
        WHEN h6 < 0.14 THEN 'paused' WHEN h6 < 0.35 THEN 'finished' WHEN h6 < 0.40 THEN 'replied'
        WHEN h6 < 0.43 THEN 'unsubscribed' WHEN h6 < 0.45 THEN 'bounced' WHEN h6 < 0.46 THEN 'goal_met'
        WHEN h6 < 0.47 THEN 'failed' ELSE 'removed' END AS state FROM aged.part WHERE h6 < 0.5 AND h8 < 0.97) AS p
JOIN (SELECT DISTINCT org_id, groups FROM aged.send_group) AS c ON c.org_id = p.org_id
JOIN aged.send_group s ON s.org_id = p.org_id AND s.i = floor(c.groups * h1 ^ 2)::int;
INSERT INTO enrolment_history (org_id, enrolment_id, id, at, from_state, to_state, step, cause)
SELECT p.org_id, aged.id(p.at, 'enrolment ' || x), aged.id(p.at + k * interval '2 days', 'history ' || x || ' ' || k),
    p.at + k * interval '2 days', CASE k WHEN 0 THEN '' ELSE 'active' END, 'active', 's1', 'sent'
FROM aged.part p, generate_series(0, 2) AS k WHERE h6 < 0.5 AND h8 < 0.97;

INSERT INTO email (org_id, id, mailbox_id, contact_id, thread_id, enrolment_id, step, variant, broadcast_id, automated,
    purpose, subject, to_email, to_domain, message_id, message_hash, status, due_at, attempt, marked_at, sent_at, bounced,
    track_opens, track_clicks, complained_at, replied_at, opens, clicks, created_at, updated_at, scheduled_at)
SELECT p.org_id, p.mail, aged.id(org_at + floor(mailboxes * h1 ^ 2)::int * interval '1 hour',
        'mailbox ' || n || ' ' || floor(mailboxes * h1 ^ 2)::int), p.id, p.mail,
    CASE WHEN h6 < 0.5 THEN aged.id(p.at, 'enrolment ' || x) END, CASE WHEN h6 < 0.5 THEN 's1' END,
    CASE WHEN h6 < 0.5 THEN CASE WHEN h4 < 0.5 THEN 'a' ELSE 'b' END END,
    CASE WHEN h6 >= 0.5 AND files > 0 AND h3 < 0.5 THEN aged.id(org_at + interval '1 day', 'broadcast ' || n || ' ' || floor(files * h3)::int) END,
    h6 < 0.5, CASE WHEN h6 < 0.5 THEN 'personal' ELSE 'marketing' END, 'Hello', c.email, split_part(c.email, '@', 2),
    p.mail || '@org.example', substr(aged.bytes('message ' || x), 1, 16), status, p.sent, (status <> 'scheduled')::int,
    CASE WHEN status IN ('sent', 'unknown') THEN p.sent END, CASE WHEN status = 'sent' THEN p.sent END,
    CASE WHEN status = 'sent' AND h2 < 0.02 THEN 'hard' END, true, true,
    CASE WHEN status = 'sent' AND h2 > 0.997 THEN p.sent END, CASE WHEN status = 'sent' AND h4 > 0.9 THEN p.sent END,
    (3 * h7)::int, (1.2 * h7)::int, p.sent, p.sent, CASE WHEN status = 'scheduled' THEN @now + h4 * interval '9 days' END
FROM (SELECT *, aged.id(sent, 'email ' || x) AS mail, CASE WHEN h7 < 0.93 THEN 'sent' WHEN h7 < 0.95 THEN 'failed'
        WHEN h7 < 0.96 THEN 'cancelled' WHEN h7 < 0.97 THEN 'unknown' WHEN h7 < 0.99 THEN 'scheduled' ELSE 'planned' END AS status
    FROM (SELECT *, CASE WHEN h2 < 0.4 THEN aged.happened(h4, h5) ELSE at + h4 * (@now - at) END AS sent FROM aged.part) AS a) AS p
JOIN contact c ON c.org_id = p.org_id AND c.id = p.id
WHERE h8 < 0.7;
CREATE UNLOGGED TABLE aged.mail AS
SELECT p.*, e.id AS mail, e.mailbox_id, e.status, e.due_at AS sent, e.to_email, e.replied_at
FROM aged.part p JOIN email e ON e.org_id = p.org_id AND e.contact_id = p.id;
INSERT INTO email_content (org_id, email_id, from_email, from_name, reply_to, to_name, html, text, in_reply_to, refs,
    list_unsubscribe, dated_at, created_at)
SELECT org_id, mail, 'box@org.example', 'Box', '', '', '', 'Hello, this is the text of a mail of usual length.', '', '{}',
    '{}', sent, sent FROM aged.mail;
INSERT INTO email_attachment (org_id, email_id, n, name, type, content)
SELECT org_id, mail, 1, 'a.txt', 'text/plain', '\x61' FROM aged.mail WHERE h3 < 0.02;
INSERT INTO email_link (org_id, email_id, n, url) SELECT org_id, mail, 1, 'https://org.example/a' FROM aged.mail WHERE h3 < 0.5;
INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, link, machine, why, at)
SELECT org_id, aged.id(sent + k * interval '1 hour', 'fact ' || x || ' ' || k), mail, id, CASE k WHEN 0 THEN 'opened' ELSE 'clicked' END,
    nullif(k, 0), h1 < 0.2, '{}', sent + k * interval '1 hour' FROM aged.mail, generate_series(0, (1.2 * h7)::int) AS k WHERE status = 'sent';
INSERT INTO email_hit (org_id, id, email_id, link, at, signs, net)
SELECT org_id, aged.id(@now - h1 * interval '10 minutes', 'hit ' || x), mail, -1, @now - h1 * interval '10 minutes', 0, '\x00'
FROM aged.mail WHERE h3 > 0.98;
INSERT INTO thread (org_id, id, mailbox_id, contact_id, subject, incoming, unread, last_message_at, created_at)
SELECT org_id, mail, mailbox_id, id, 'Hello', 1, h1 < 0.3, sent + interval '2 hours', sent FROM aged.mail WHERE h4 > 0.75;
INSERT INTO message (org_id, id, mailbox_id, identity, via, received_at, read_at, thread_id, contact_id, email_id, message_id,
    from_email, from_folded, subject, text, reply_text, class, match)
SELECT org_id, aged.id(sent + interval '2 hours', 'message ' || x), mailbox_id, aged.bytes('incoming ' || x), 'http',
    sent + interval '2 hours', sent + interval '2 hours', mail, id, mail, x || '@far.example', to_email, to_email, 'Re: Hello',
    'Thank you.', 'Thank you.', ('{human,human,auto_reply,out_of_office}'::text[])[1 + floor(4 * h1)::int], 'header'
FROM aged.mail WHERE h4 > 0.75;
INSERT INTO message_raw (org_id, id, raw, created_at)
SELECT org_id, aged.id(sent + interval '2 hours', 'message ' || x), aged.bytes('raw ' || x), sent FROM aged.mail WHERE h4 > 0.75;
INSERT INTO sandbox_email (org_id, id, message_id, sender, recipient, raw, received_at)
SELECT org_id, mail, mail || '@org.example', 'box@org.example', to_email, '\x00', sent FROM aged.mail WHERE h3 > 0.98;
INSERT INTO broadcast_recipient (org_id, broadcast_id, contact_id, due_at, written, created_at)
SELECT org_id, aged.id(org_at + interval '1 day', 'broadcast ' || n || ' ' || floor(files * h3)::int), id, at, h2 < 0.95, at
FROM aged.part WHERE files > 0 AND h6 >= 0.5;

-- Events of the last month, with their deliveries and attempts.
CREATE UNLOGGED TABLE aged.happening AS
SELECT p.*, k, t, aged.id(t, 'event ' || x || ' ' || k) AS event, aged.h(x * 4 + k, 11) AS e1, aged.h(x * 4 + k, 12) AS e2
FROM aged.part p, generate_series(0, (1.6 * h4)::int) AS k,
    LATERAL (SELECT aged.happened(aged.h(p.x * 4 + k, 9), aged.h(p.x * 4 + k, 10)) AS t) AS m;
INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
SELECT org_id, event, row_number() OVER (ORDER BY event) + (@part - 1) * 2000000, CASE WHEN e1 < 0.55 THEN 'contact.updated' WHEN e1 < 0.8 THEN 'contact.created'
    WHEN e1 < 0.9 THEN 'email.sent' WHEN e1 < 0.97 THEN 'lead.scored' WHEN e1 < 0.999 THEN 'deal.created'
    ELSE 'contact.purged' END, 'system', json_build_object('object', json_build_object('id', id, 'created_at', at)), t
FROM aged.happening;
INSERT INTO timeline (org_id, contact_id, id, type, actor_type, object_id, data, at)
SELECT h.org_id, h.id, e.id, e.type, 'system', h.id, '{"object": {"stage": "lead"}, "changes": null}', h.t
FROM aged.happening h JOIN event e ON e.org_id = h.org_id AND e.id = h.event WHERE e.type <> 'contact.purged';
CREATE UNLOGGED TABLE aged.delivery AS
SELECT h.*, aged.id(t, 'delivery ' || x || ' ' || k) AS delivery, aged.id(org_at + endpoint * interval '1 hour',
    'endpoint ' || n || ' ' || endpoint) AS endpoint_id,
    CASE WHEN t > @now - interval '2 days' AND e2 < 0.6 THEN 'pending' WHEN e2 < 0.93 THEN 'delivered' WHEN e2 < 0.95 THEN 'failed'
        WHEN e2 < 0.99 THEN 'exhausted' ELSE 'discarded' END AS status
FROM (SELECT *, floor(endpoints * h1 ^ 2)::int AS endpoint FROM aged.happening WHERE endpoints > 0) AS h;
INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, attempts, last_status, next_attempt_at,
    created_at, updated_at, attempt_id, request_headers, answer, answer_cut, dns_us, connect_us, tls_us, first_byte_us, total_us,
    remote_addr, started_at, replay_id)
SELECT d.org_id, d.delivery, d.endpoint_id, d.event, CASE WHEN e1 < 0.55 THEN 'contact.updated' WHEN e1 < 0.8 THEN 'contact.created'
    WHEN e1 < 0.9 THEN 'email.sent' WHEN e1 < 0.97 THEN 'lead.scored' WHEN e1 < 0.999 THEN 'deal.created' ELSE 'contact.purged' END,
    d.status, CASE d.status WHEN 'pending' THEN 0 WHEN 'delivered' THEN 1 ELSE 3 END,
    CASE d.status WHEN 'pending' THEN NULL WHEN 'delivered' THEN 200 ELSE 500 END, NULL, t, t,
    CASE d.status WHEN 'delivered' THEN aged.id(t, 'attempt ' || x || ' ' || k) END, kept.headers, kept.answer, kept.cut,
    kept.us, kept.us, kept.us, kept.us, kept.us, kept.address, kept.at,
    CASE WHEN e2 > 0.97 THEN aged.id(@now - interval '2 days', 'replay ' || d.endpoint_id || '1') END
FROM aged.delivery d LEFT JOIN LATERAL (SELECT '{"Content-Type": "application/json"}'::json AS headers, '\x6f6b'::bytea AS answer,
    false AS cut, 1000 AS us, '192.0.2.1:443' AS address, d.t AS at) AS kept ON d.status = 'delivered';
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, total_us, started_at)
SELECT org_id, aged.id(t, 'attempt ' || x || ' ' || k || ' ' || a), delivery, a, 'event', '{}', 500, 1000, t
FROM aged.delivery, generate_series(1, 3) AS a WHERE status IN ('failed', 'exhausted');
INSERT INTO job (id, org_id, kind, args, lane, max_attempts, run_at, created_at, line, due)
SELECT delivery, org_id, 'webhook.deliver', json_build_object('delivery', delivery), 'webhooks', 10, t, t, endpoint_id, true
FROM aged.delivery WHERE status = 'pending';
INSERT INTO job (id, org_id, kind, args, lane, max_attempts, run_at, created_at, due)
SELECT aged.id(@now - h1 * interval '1 hour', 'job ' || x), org_id, 'lead.score', json_build_object('contact', id), 'default', 10,
    @now, @now, true FROM aged.part WHERE h3 > 0.98;
INSERT INTO job (id, org_id, kind, args, lane, max_attempts, run_at, created_at, due)
SELECT aged.id(@now - h1 * interval '1 hour', 'email job ' || x), org_id, 'email.send', json_build_object('email', mail), 'default', 12,
    @now + h4 * interval '9 days', @now, false FROM aged.mail WHERE status = 'scheduled';
INSERT INTO job (id, org_id, kind, args, lane, max_attempts, run_at, created_at, state, last_error)
SELECT aged.id(@now - h1 * interval '30 days', 'dead ' || x), org_id, 'lead.score', json_build_object('contact', id), 'default', 10,
    at, at, 'dead', 'failed' FROM aged.part WHERE h3 < 0.01;
INSERT INTO job_death (org_id, id, kind, lane, error) SELECT org_id, id, kind, lane, last_error FROM job WHERE state = 'dead'
ON CONFLICT DO NOTHING;

DROP TABLE aged.delivery, aged.happening, aged.mail, aged.part;
