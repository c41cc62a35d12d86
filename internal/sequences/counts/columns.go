package counts

import "strings"

// The columns of outreach_count and outreach_delta that are added up.
const (
	// enrolmentAmounts are in the order of states.All.
	enrolmentAmounts = `pending, active, sending, paused, finished, replied, unsubscribed, bounced, goal_met, failed,
	removed`
	emailAmounts = `waiting, transmitting, sent, unknown, refused, cancelled, delivered, returned, complained, answered,
	clicked, opened, machine_clicked, machine_opened, unsubscribing, machine_clicks, machine_opens`
)

// live counts the sources $2 of the org $1 from their enrolments and emails, which may be none.
const live = `
	SELECT n.sequence_id AS source_id, '' AS step, '' AS variant,
		count(*) FILTER (WHERE n.state = 'pending') AS pending, count(*) FILTER (WHERE n.state = 'active') AS active,
		count(*) FILTER (WHERE n.state = 'sending') AS sending, count(*) FILTER (WHERE n.state = 'paused') AS paused,
		count(*) FILTER (WHERE n.state = 'finished') AS finished,
		count(*) FILTER (WHERE n.state = 'replied') AS replied,
		count(*) FILTER (WHERE n.state = 'unsubscribed') AS unsubscribed,
		count(*) FILTER (WHERE n.state = 'bounced') AS bounced,
		count(*) FILTER (WHERE n.state = 'goal_met') AS goal_met,
		count(*) FILTER (WHERE n.state = 'failed') AS failed, count(*) FILTER (WHERE n.state = 'removed') AS removed,
		0::bigint AS waiting, 0::bigint AS transmitting, 0::bigint AS sent, 0::bigint AS unknown, 0::bigint AS refused,
		0::bigint AS cancelled, 0::bigint AS delivered, 0::bigint AS returned, 0::bigint AS complained,
		0::bigint AS answered, 0::bigint AS clicked, 0::bigint AS opened, 0::bigint AS machine_clicked,
		0::bigint AS machine_opened, 0::bigint AS unsubscribing, 0::bigint AS machine_clicks,
		0::bigint AS machine_opens, NULL::timestamptz AS marked_at, NULL::timestamptz AS unmarked_at
	FROM enrolment n WHERE n.org_id = $1 AND n.sequence_id = ANY ($2::uuid[])
	GROUP BY n.sequence_id
	UNION ALL
	SELECT n.sequence_id, e.step, coalesce(e.variant, ''), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ` + liveEmails + `,
		count(*) FILTER (WHERE n.state = 'unsubscribed' AND n.last_email_id = e.id),
		coalesce(sum(e.machine_clicks), 0), coalesce(sum(e.machine_opens), 0), min(e.marked_at), NULL
	FROM enrolment n JOIN email e ON e.org_id = n.org_id AND e.enrolment_id = n.id
	WHERE n.org_id = $1 AND n.sequence_id = ANY ($2::uuid[]) AND e.step IS NOT NULL
	GROUP BY n.sequence_id, e.step, coalesce(e.variant, '')
	UNION ALL
	SELECT e.broadcast_id, '', coalesce(e.variant, ''), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ` + liveEmails + `, 0,
		coalesce(sum(e.machine_clicks), 0), coalesce(sum(e.machine_opens), 0), min(e.marked_at), NULL
	FROM email e WHERE e.org_id = $1 AND e.broadcast_id = ANY ($2::uuid[])
	GROUP BY e.broadcast_id, coalesce(e.variant, '')`

const liveEmails = `
		count(*) FILTER (WHERE e.status IN ('scheduled', 'planned')), count(*) FILTER (WHERE e.status = 'transmitting'),
		count(*) FILTER (WHERE e.status = 'sent'), count(*) FILTER (WHERE e.status = 'unknown'),
		count(*) FILTER (WHERE e.status = 'failed'), count(*) FILTER (WHERE e.status = 'cancelled'),
		count(e.delivered_at), count(e.bounced), count(e.complained_at), count(e.replied_at),
		count(*) FILTER (WHERE e.clicks > 0), count(*) FILTER (WHERE e.opens > 0),
		count(*) FILTER (WHERE e.machine_clicks > 0), count(*) FILTER (WHERE e.machine_opens > 0)`

// firstMark returns SQL for the time of the first mark of the emails of a source's step and variant.
func firstMark(org, source, step, variant string) string {
	return strings.NewReplacer("@org", org, "@source", source, "@step", step, "@variant", variant).Replace(`
		SELECT min(m.marked_at) FROM (
			SELECT e.marked_at FROM enrolment n JOIN email e ON e.org_id = n.org_id AND e.enrolment_id = n.id
			WHERE n.org_id = @org AND n.sequence_id = @source AND e.step = @step AND coalesce(e.variant, '') = @variant
			UNION ALL
			SELECT e.marked_at FROM email e
			WHERE e.org_id = @org AND e.broadcast_id = @source AND @step = '' AND coalesce(e.variant, '') = @variant
		) AS m`)
}

// counted reads the counts of the sources $2 of the org $1 with the deltas since, in one snapshot; nothing of a source
// that was not counted yet. A version above the ids of this cluster is of another one, whose database was restored.
// OFFSET 0 keeps the look-ups by key from becoming scans of both tables.
var counted = `
	WITH source AS MATERIALIZED (
		SELECT u.id, c.xid,
			CASE WHEN c.xid <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint THEN c.xid ELSE 0 END AS low
		FROM (SELECT DISTINCT unnest($2::uuid[])) AS u (id)
		CROSS JOIN LATERAL (SELECT o.xid FROM outreach_count o WHERE o.org_id = $1 AND o.source_id = u.id
			ORDER BY o.xid DESC LIMIT 1) AS c
	)
	SELECT s.id AS source_id, x.step, x.variant, ` + eachAmount("coalesce(sum(x.@), 0)::bigint AS @") + `,
		min(x.marked_at) AS marked_at, min(x.unmarked_at) AS unmarked_at
	FROM source s
	CROSS JOIN LATERAL (
		SELECT step, variant, ` + eachAmount("@") + `, marked_at, unmarked_at FROM outreach_count o
		WHERE o.org_id = $1 AND o.source_id = s.id AND o.xid = s.xid
		UNION ALL
		SELECT step, variant, ` + eachAmount("@") + `, marked_at, unmarked_at FROM outreach_delta d
		WHERE d.org_id = $1 AND d.source_id = s.id AND d.xid >= s.low
		OFFSET 0
	) AS x
	GROUP BY s.id, x.step, x.variant`

// eachAmount returns an SQL expression of each amount, separated by commas. @ stands for the amount.
func eachAmount(expression string) string {
	all := strings.FieldsFunc(enrolmentAmounts+","+emailAmounts, func(r rune) bool {
		return strings.ContainsRune(", \n\t", r)
	})
	for i, column := range all {
		all[i] = strings.ReplaceAll(expression, "@", column)
	}
	return strings.Join(all, ", ")
}

// byKeys makes the plans of the transaction use keys, whatever the statistics say of tables that are empty at times.
const byKeys = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`
