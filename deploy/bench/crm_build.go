package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// crmSQL inserts the rows that the service itself would have written, for all orgs at once. Names, companies and scores
// have a realistic skew: a few values are common, most are rare. bench_seed has each contact's number and eight values
// in [0, 1) derived from it, so that builds are reproducible.
var crmSQL = []struct{ what, sql string }{
	{"orgs", `
	CREATE TABLE bench_org AS SELECT id, n, big, companies FROM (
		SELECT gen_random_uuid() AS id, @contacts::int AS n, true AS big, @companies::int AS companies
		UNION ALL SELECT gen_random_uuid(), @small::int, false, 20 FROM generate_series(1, @others::int)) AS o;
	INSERT INTO org (id, name) SELECT id, 'crm ' || n FROM bench_org;
	INSERT INTO plan_override (org_id, feature, value, source) SELECT id, 'contacts', 'null', 'override' FROM bench_org;
	INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at)
	SELECT id, f.key, f.key, f.type, now(), now() FROM bench_org, (VALUES ('plan', 'string'), ('seats', 'number'),
	('renews_on', 'date')) AS f (key, type)`},
	{"names", `
	CREATE FUNCTION bench_name(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT (ARRAY['ba','ke','li','mo','nu','ra','se','ti','vo','zu','da','fe','gi','ho','ju','ka','le','mi','no',
			'pu'])[1 + i % 20]
			|| (ARRAY['lan','mer','nik','ros','tun','wal','ben','der','fin','gor','hal','jan','kor','lem','mar','nor',
			'pol','rik','sun','tal'])[1 + i / 20 % 20]
			|| (ARRAY['','a','o','en','er','is','ov','ez','ini','sen','ski','mann','berg','son','ström','ova','aki',
			'ito','ard','ell'])[1 + i / 400 % 20]
			|| CASE WHEN i >= 8000 THEN chr(97 + i / 8000 % 26) ELSE '' END $$;
	CREATE TABLE bench_company AS
	SELECT o.id AS org_id, i, uuidv7_at(now() - interval '400 days' + i * interval '1 minute') AS id,
		initcap(bench_name(i * 7 % 20000)) || ' ' || (ARRAY['GmbH', 'Media', 'Labs', 'Consulting', 'Group',
		'Foods', 'Logistics', 'Systems'])[1 + i % 8]
			|| CASE WHEN i >= 20000 THEN ' ' || bench_name(i % 400) ELSE '' END AS name,
		bench_name(i * 7 % 20000) || i || '.example' AS domain, now() - interval '400 days' + i * interval
		'1 minute' AS at
	FROM bench_org o, generate_series(0, o.companies - 1) i;
	CREATE UNIQUE INDEX ON bench_company (org_id, i);
	INSERT INTO company (org_id, id, name, name_folded, domain, created_at, updated_at)
	SELECT org_id, id, name, lower(name), domain, at, at FROM bench_company;
	INSERT INTO company_word (org_id, word, company_id)
	SELECT DISTINCT org_id, w, id FROM bench_company, regexp_split_to_table(lower(name) || '.' || domain, '[ .]+')
	w ORDER BY 1, 2, 3`},
	{"seeds", `
	CREATE TABLE bench_seed AS
	SELECT org_id, big, companies, g, at, uuidv7_at(at) AS id, h[1] AS h1, h[2] AS h2, h[3] AS h3, h[4] AS h4,
	h[5] AS h5, h[6] AS h6, h[7] AS h7, h[8] AS h8
	FROM (SELECT o.id AS org_id, o.big, o.companies, g, date_trunc('second', now()) - (o.n - g + 1) * (interval
	'360 days' / o.n) AS at,
			ARRAY(SELECT (hashint8extended(g, k) & 2147483647) / 2147483648.0::float8 FROM generate_series(1, 8) k) AS h
		FROM bench_org o, generate_series(1, o.n) g) AS made
	ORDER BY org_id, at`},
	{"contacts", `
	INSERT INTO contact (org_id, id, email, email_folded, first_name, first_name_folded, last_name,
	last_name_folded, phone, phone_folded, job_title, job_title_folded,
		source, source_folded, time_zone, time_zone_folded, company_id, stage, tags, attributes, owner_id,
		created_at, updated_at, archived_at, words)
	SELECT org_id, id, email, email, initcap(first), first, initcap(last), last, phone, phone, job, lower(job),
	source, source, zone, lower(zone), company_id, stage, tags, attributes, owner,
		at, at + (now() - at) * h8 * h8, CASE WHEN h8 > 0.98 THEN now() END,
		concat(' ', first, CASE WHEN last <> first THEN ' ' || last END, ' ', last, g, CASE
		WHEN domain = 'gmail.com' THEN ' gmail com' ELSE ' ' || replace(domain, '.', ' ') END)
	FROM (SELECT s.*, k.id AS company_id, COALESCE(k.domain, 'gmail.com') AS domain, first || '.' || last || g ||
	'@' || COALESCE(k.domain, 'gmail.com') AS email,
			CASE WHEN h3 < 0.5 THEN '+49 30 ' || lpad(g::text, 7, '0') END AS phone,
			CASE WHEN h4 < 0.6 THEN (ARRAY['Head of', 'Director of', 'VP', 'Manager,', 'Assistant,'])[1 + floor(5
			* h1)::int] || ' ' || (ARRAY['Marketing', 'Sales', 'Finance', 'Product', 'Support'])[1 + floor(5 *
			h5)::int] END AS job,
			CASE WHEN h6 < 0.7 THEN (ARRAY['website', 'referral', 'ads', 'import', 'event', 'partner', 'outbound',
			'podcast'])[1 + floor(8 * (h6 / 0.7) ^ 2)::int] END AS source,
			CASE WHEN h7 < 0.3 THEN (ARRAY['Europe/Berlin', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo',
			'UTC'])[1 + floor(5 * h2)::int] END AS zone,
			CASE WHEN h5 < 0.55 THEN 'lead' WHEN h5 < 0.75 THEN 'subscriber' WHEN h5 < 0.85 THEN 'mql'
			WHEN h5 < 0.90 THEN 'sql' WHEN h5 < 0.94 THEN 'opportunity' WHEN h5 < 0.99 THEN 'customer'
			WHEN h5 < 0.995 THEN 'evangelist' ELSE 'other' END AS stage,
			array_remove(ARRAY[CASE WHEN h6 < 0.4 THEN 'newsletter' END, CASE
			WHEN h7 < 0.1 THEN 'webinar' END, CASE WHEN h7 BETWEEN 0.5 AND 0.55 THEN 'event-2026' END,
				CASE WHEN h2 < 0.01 THEN 'vip' END, CASE WHEN h3 < 0.001 THEN 'partner' END, CASE
				WHEN h4 > 0.99995 THEN 'board' END], NULL) AS tags,
			jsonb_strip_nulls(jsonb_build_object('plan', CASE WHEN h2 < 0.42 THEN 'free' WHEN h2 < 0.63 THEN 'pro'
			WHEN h2 < 0.7 THEN 'enterprise' WHEN h2 > 0.9999 THEN 'legacy' END,
				'seats', CASE WHEN h7 < 0.5 THEN 1 + floor(1000 * (2 * h7) ^ 3) END, 'renews_on', CASE
				WHEN h1 < 0.3 THEN ('2026-01-01'::date + floor(h1 * 1200)::int)::text END)) AS attributes,
			CASE WHEN h8 < 0.8 THEN ('00000000-0000-7000-8000-' || lpad(floor(25 * h8)::text, 12, '0'))::uuid END
			AS owner
		FROM (SELECT *, bench_name(floor(2000 * h1 ^ 3)::int) AS first, bench_name(floor(20000 * h2 ^ 2)::int) AS
		last FROM bench_seed) AS s
		LEFT JOIN bench_company k ON k.org_id = s.org_id AND k.i = CASE
		WHEN h3 < 0.6 THEN floor(s.companies * h4 ^ 2)::int END) AS x
	ORDER BY org_id, at`},
	{"scores", `
	INSERT INTO segment (org_id, id, key, name, kind, created_at)
	SELECT o.id, gen_random_uuid(), k, k, 'static', now() FROM bench_org o, unnest(ARRAY['q4-campaign', 'hot']) k;
	INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, archived,
	segments, scored_at)
	SELECT org_id, id, s, s / 100, 'bench', 'prior', s, h8 > 0.98, array_remove(ARRAY[CASE WHEN h1 BETWEEN 0.9
	AND 0.95 THEN 'q4-campaign' END, CASE WHEN h4 < 0.005 THEN 'hot' END], NULL), at
	FROM (SELECT *, round((100 * h7 * (0.4 + 0.6 * h1))::numeric, 2)::float8 AS s FROM bench_seed) AS x
	ORDER BY org_id, at`},
	{"members", `
	INSERT INTO segment_member (org_id, segment_id, archived, created_at, contact_id)
	SELECT s.org_id, g.id, s.archived, s.scored_at, s.contact_id FROM contact_score s, unnest(s.segments) k
	JOIN segment g ON g.key = k WHERE g.org_id = s.org_id ORDER BY 1, 2, 3, 4;
	UPDATE segment g SET counted = (SELECT count(*) FROM segment_member m WHERE m.org_id = g.org_id
	AND m.segment_id = g.id AND NOT m.archived)`},
	{"tags", `
	INSERT INTO contact_tag (org_id, tag, archived, created_at, contact_id)
	SELECT org_id, t, archived_at IS NOT NULL, created_at, id FROM contact, unnest(tags) t ORDER BY 1, 2, 3, 4, 5`},
	{"attributes", `
	INSERT INTO contact_attribute (org_id, contact_id, key, archived, text, number, created_at)
	SELECT org_id, id, a.key, archived_at IS NOT NULL, CASE
	WHEN jsonb_typeof(a.value) = 'string' THEN lower(a.value #>> '{}') END,
		CASE WHEN jsonb_typeof(a.value) = 'number' THEN (a.value #>> '{}')::float8 END, created_at
		FROM contact, jsonb_each(attributes) a ORDER BY 1, 2, 3`},
	{"words", `
	INSERT INTO contact_word (org_id, word, contact_id) SELECT org_id, w, id
	FROM contact, regexp_split_to_table(ltrim(words), ' ') w ORDER BY 1, 2, 3`},
}

// buildCRM fills an empty schema. Secondary indexes are created at the end; triggers do not run.
func buildCRM(ctx context.Context, admin *pgx.Conn, n int) error {
	replace := strings.NewReplacer("@contacts", strconv.Itoa(n), "@companies", strconv.Itoa(n/20), "@others",
		strconv.Itoa(crmOthers), "@small", strconv.Itoa(crmOthersContacts))
	for _, sql := range []string{
		"SET synchronous_commit = off", "SET maintenance_work_mem = '512MB'",
		"SET work_mem = '256MB'",
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	rows, err := admin.Query(ctx, `SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
		WHERE indrelid::regclass::text IN ('contact', 'contact_score', 'contact_attribute', 'segment_member')
		AND NOT indisprimary`)
	if err != nil {
		return err
	}
	var name, definition string
	var later []string
	var drop []string
	if _, err := pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		drop, later = append(drop, "DROP INDEX "+name), append(later, definition)
		return nil
	}); err != nil {
		return err
	}
	run := func(what string, statements ...string) error {
		began := time.Now()
		for _, sql := range statements {
			if _, err := admin.Exec(ctx, sql); err != nil {
				return fmt.Errorf("build %s: %w", what, err)
			}
		}
		fmt.Fprintf(os.Stderr, "built %s in %s\n", what, time.Since(began).Round(100*time.Millisecond))
		return nil
	}
	if err := run("nothing yet", drop...); err != nil {
		return err
	}
	for _, step := range crmSQL {
		role := "SET session_replication_role = replica"
		if step.what == "orgs" {
			role = "SET session_replication_role = origin" // a trigger creates an org's subscription
		}
		if err := run(step.what, role, replace.Replace(step.sql)); err != nil {
			return err
		}
	}
	if err := run("indexes",
		append(later, "SET session_replication_role = origin", "DROP TABLE bench_seed")...); err != nil {
		return err
	}
	if err := run("statistics", "VACUUM ANALYZE", "CHECKPOINT"); err != nil {
		return err
	}
	return run("all", "CREATE TABLE bench_world (made int)",
		fmt.Sprintf("INSERT INTO bench_world VALUES (%d)", crmWorld), "RESET ALL")
}
