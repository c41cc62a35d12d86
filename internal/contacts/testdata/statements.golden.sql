-- read one contact
SELECT c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone, c.country, c.company_id, c.stage, c.tags, c.attributes, c.owner_id, c.external_ids, c.consent, c.created_at, c.updated_at, c.archived_at, c.edit, s.score, s.probability, s.confidence, s.version, s.engagement, s.segments, s.computed + coalesce((SELECT w.epoch FROM segment_watch w WHERE w.org_id = $1), 0), CASE WHEN EXISTS (SELECT FROM segment_watch w WHERE w.org_id = $1) THEN
	ARRAY(SELECT '+' || g.key
		FROM (SELECT m.segment_id FROM segment_member m WHERE m.org_id = $1 AND m.contact_id = c.id OFFSET 0) m
		CROSS JOIN LATERAL (SELECT g.key FROM segment g WHERE g.org_id = $1 AND g.id = m.segment_id
			AND g.kind = 'dynamic' AND g.archived_at IS NULL LIMIT 1) g ORDER BY g.key)
	|| ARRAY(SELECT '-' || k FROM unnest(s.segments) AS k WHERE (k IN (
		SELECT g.key FROM segment g WHERE g.org_id = $1 AND g.archived_at IS NOT NULL)) IS TRUE
		ORDER BY k COLLATE "C") END FROM contact c JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = $2;

-- read one contact to score it
SELECT c.id, c.email, c.first_name, c.last_name, c.phone, c.job_title, c.source, c.time_zone, c.country, c.company_id, c.stage, c.tags, c.attributes, c.owner_id, c.external_ids, c.consent, c.created_at, c.updated_at, c.archived_at, c.edit, s.score, s.probability, s.confidence, s.version, s.engagement, '{}'::text[], s.computed, NULL::text[], s.announced, g.sums FROM contact c JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id LEFT JOIN LATERAL engagement(c.org_id, c.id, $3) g ON true WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND c.id = ANY ($2::uuid[]) AND s.contact_id = ANY ($2::uuid[]) ORDER BY c.id FOR NO KEY UPDATE OF c, s;

-- insert one contact
WITH made AS (
	INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, phone, job_title, source, time_zone, country, company_id, stage, tags, attributes, owner_id, external_ids, consent, created_at, updated_at, first_name_folded, phone_folded, job_title_folded, source_folded, time_zone_folded, country_folded, words)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
), rated AS (
	INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
	scored_at, stage)
	VALUES ($1, $2, $29, $30, $31, $32, $29, $33, $34, $35)
)
INSERT INTO contact_word (org_id, word, contact_id) SELECT $1, w, $2 FROM unnest($36::text[]) w;

-- insert many contacts
WITH made AS (INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, phone, job_title, source, time_zone, country, company_id, stage, tags, attributes, owner_id, external_ids, consent, created_at, updated_at, first_name_folded, phone_folded, job_title_folded, source_folded, time_zone_folded, country_folded, words)
SELECT $1, u.id, u.email, u.email_folded, u.first_name, u.last_name, u.last_name_folded, u.phone, u.job_title, u.source, u.time_zone, u.country, u.company_id, u.stage, u.tags::text[], u.attributes::jsonb, u.owner_id, u.external_ids::jsonb, u.consent::jsonb, u.created_at, u.updated_at, u.first_name_folded, u.phone_folded, u.job_title_folded, u.source_folded, u.time_zone_folded, u.country_folded, u.words
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::uuid[], $18::text[], $19::text[], $20::timestamptz[], $21::timestamptz[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[]) AS u (id, email, email_folded, first_name, last_name, last_name_folded, phone, job_title, source, time_zone, country, company_id, stage, tags, attributes, owner_id, external_ids, consent, created_at, updated_at, first_name_folded, phone_folded, job_title_folded, source_folded, time_zone_folded, country_folded, words) RETURNING 1)
SELECT quota_noted($1, 'contacts', 1, (SELECT count(*) FROM made));

-- update one contact
UPDATE contact SET email = $3, email_folded = CASE WHEN contact.email = $3 THEN contact.email_folded ELSE $4 END, first_name = $5, last_name = $6, last_name_folded = $7, phone = $8, job_title = $9, source = $10, time_zone = $11, country = $12, company_id = $13, stage = $14, tags = $15, attributes = $16, owner_id = $17, external_ids = $18, consent = $19, updated_at = $20, first_name_folded = $21, phone_folded = $22, job_title_folded = $23, source_folded = $24, time_zone_folded = $25, country_folded = $26, words = $27, edit = edit + 1
WHERE org_id = $1 AND id = $2;

-- update many contacts
UPDATE contact c SET email = u.email, email_folded = CASE WHEN c.email = u.email THEN c.email_folded ELSE u.email_folded END, first_name = u.first_name, last_name = u.last_name, last_name_folded = u.last_name_folded, phone = u.phone, job_title = u.job_title, source = u.source, time_zone = u.time_zone, country = u.country, company_id = u.company_id, stage = u.stage, tags = u.tags::text[], attributes = u.attributes::jsonb, owner_id = u.owner_id, external_ids = u.external_ids::jsonb, consent = u.consent::jsonb, updated_at = u.updated_at, first_name_folded = u.first_name_folded, phone_folded = u.phone_folded, job_title_folded = u.job_title_folded, source_folded = u.source_folded, time_zone_folded = u.time_zone_folded, country_folded = u.country_folded, words = u.words, edit = c.edit + 1
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::uuid[], $18::text[], $19::text[], $20::timestamptz[], $21::timestamptz[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[]) AS u (id, email, email_folded, first_name, last_name, last_name_folded, phone, job_title, source, time_zone, country, company_id, stage, tags, attributes, owner_id, external_ids, consent, created_at, updated_at, first_name_folded, phone_folded, job_title_folded, source_folded, time_zone_folded, country_folded, words)
WHERE c.org_id = $1 AND c.id = u.id;

