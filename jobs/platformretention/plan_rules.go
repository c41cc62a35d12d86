package platformretention

// planRules is rules for data that the plans of some orgs keep for a shorter time than the longest. Each statement
// follows orgsSQL, whose rows due(org_id, bound, first) are the page's orgs with a shorter time, and deletes at most $1
// of their rows. It finds them by a key that begins with the org: the id of a row is as old as the row, and the
// condition on its time keeps a row that is younger than its id. Days are partitions of all orgs, so a row is found by
// its id in one of them, and its space is free when the day goes.
var planRules = []struct {
	table string
	of    func(*Keep) *Days
	sql   string
}{
	{"email_attachment", mailDays, `
		gone AS (DELETE FROM email_attachment WHERE ctid = ANY (ARRAY(SELECT a.ctid FROM due d
			JOIN email_content c ON c.org_id = d.org_id AND c.email_id < d.first AND c.created_at < d.bound
			JOIN email_attachment a ON a.org_id = c.org_id AND a.email_id = c.email_id
			WHERE NOT EXISTS (SELECT FROM email e WHERE e.org_id = c.org_id AND e.id = c.email_id
				AND (e.status IN ('scheduled', 'planned', 'transmitting') OR e.sent_at >= d.bound))
			LIMIT $1)) RETURNING 1)`},
	{"email_content", mailDays, `
		gone AS (DELETE FROM email_content WHERE ctid = ANY (ARRAY(SELECT c.ctid FROM due d
			JOIN email_content c ON c.org_id = d.org_id AND c.email_id < d.first AND c.created_at < d.bound
			WHERE NOT EXISTS (SELECT FROM email e WHERE e.org_id = c.org_id AND e.id = c.email_id
				AND (e.status IN ('scheduled', 'planned', 'transmitting') OR e.sent_at >= d.bound))
			AND NOT EXISTS (SELECT FROM email_attachment a WHERE a.org_id = c.org_id AND a.email_id = c.email_id)
			LIMIT $1)) RETURNING 1)`},
	{"message_raw", mailDays, `
		gone AS (DELETE FROM message_raw WHERE ctid = ANY (ARRAY(SELECT m.ctid FROM due d
			JOIN message_raw m ON m.org_id = d.org_id
				AND m.id < d.raw_first AND m.created_at < d.raw_bound
			LIMIT $1)) RETURNING 1)`},
	{"message", mailDays, `
		gone AS (DELETE FROM message WHERE ctid = ANY (ARRAY(SELECT m.ctid FROM due d
			JOIN message m ON m.org_id = d.org_id AND m.id < d.first AND m.received_at < d.bound
			LIMIT $1)) RETURNING 1)`},
	{"thread", mailDays, `
		gone AS (DELETE FROM thread WHERE ctid = ANY (ARRAY(SELECT t.ctid FROM due d
			JOIN thread t ON t.org_id = d.org_id AND t.last_message_at < d.bound
			LIMIT $1)) RETURNING 1)`},
	{"webhook_attempt", func(k *Keep) *Days { return &k.Attempts }, partitionedSQL("webhook_attempt")},
	{"webhook_delivery", func(k *Keep) *Days { return &k.Deliveries }, partitionedSQL("webhook_delivery")},
	{"event", func(k *Keep) *Days { return &k.Events }, partitionedSQL("event")},
}

func mailDays(k *Keep) *Days { return &k.Mail }

// partitionedSQL returns the statement of a table whose rows have no address of their own but in their partition.
func partitionedSQL(table string) string {
	return `
		expired AS (SELECT t.org_id, t.id FROM due d JOIN ` + table + ` t ON t.org_id = d.org_id AND t.id < d.first
			LIMIT $1),
		gone AS (DELETE FROM ` + table + ` t USING expired e WHERE t.org_id = e.org_id AND t.id = e.id RETURNING 1)`
}

// orgsSQL selects a page of orgs and, as due, those of them that keep data for a shorter time than the longest, $7. A
// client org has the days of its agency. $4 and $5 are plans and their days, $6 is the days of the other plans. %s is
// the condition that the plan of s is in effect. uuid_floor is called for each number of days: it takes longer than the
// search for an org's rows.
const orgsSQL = `
	WITH page AS MATERIALIZED (
		SELECT org_id FROM subscription WHERE org_id > $2 ORDER BY org_id LIMIT $3
	), kept AS MATERIALIZED (
		SELECT p.org_id, coalesce(
			CASE WHEN NOT %s THEN ($5::int[])[array_position($4::text[], 'free')] END,
			($5::int[])[array_position($4::text[], s.plan)], $6::int) AS days
		FROM page p JOIN org o ON o.id = p.org_id
		JOIN subscription s ON s.org_id = coalesce(o.parent_org_id, o.id)
	), lengths AS MATERIALIZED (
		SELECT days, now() - make_interval(days => days) AS bound,
			uuid_floor(now() - make_interval(days => days)) AS first,
			now() - make_interval(days => least(days, 90)) AS raw_bound,
			uuid_floor(now() - make_interval(days => least(days, 90))) AS raw_first
		FROM (SELECT DISTINCT unnest($5::int[] || $6::int) AS days) d WHERE days < $7::int
	), due AS MATERIALIZED (SELECT org_id, l.* FROM kept JOIN lengths l USING (days)), `

// endSQL follows the statement of a rule. It selects how many rows it has deleted and the last org of the page.
const endSQL = `
	SELECT (SELECT count(*) FROM gone), coalesce((SELECT org_id FROM page ORDER BY org_id DESC LIMIT 1),
		'00000000-0000-0000-0000-000000000000')`
