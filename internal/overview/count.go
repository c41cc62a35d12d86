package overview

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// maxNews is the maximum number of events that one count looks at; with more, all days are counted.
const maxNews = 20_000

// state is an org's row of overview_state, and the end of the events to count.
type state struct {
	seq, horizon int64
	whole, late  bool      // count all days; count the deliveries of earlier days
	hooks        bool      // the org has, or had, webhooks
	since        time.Time // no event that is not counted is older
	now          time.Time
}

// news is what the events since the last count are about.
type news struct {
	count        int
	whole, deals bool // all days may have changed; deals have changed
	mails        bool // emails were sent, or answered
	contacts     []time.Time
	closed       []time.Time // days on which deals were, or had been, closed
}

const stateSQL = `SELECT seq, event_horizon(), whole_at <= now() - interval '1 day',
	late_at <= now() - interval '10 minutes', EXISTS (SELECT FROM webhook_endpoint e WHERE e.org_id = $1),
	greatest(counted_at - interval '1 hour', now() - interval '30 days'), now()
	FROM overview_state WHERE org_id = $1 FOR UPDATE`

// newsSQL reads the days of contacts and deals from the events themselves. Merges, purges and imports change more
// contacts than their events hold. The bound on id is an argument, so that the statement is planned for the few
// partitions that it needs.
const newsSQL = `
WITH news AS MATERIALIZED (
	SELECT type, data FROM event
	WHERE org_id = $1 AND seq > $2 AND seq < $3 AND id >= $5
		AND type = ANY ('{contact.created,contact.archived,contact.restored,contact.merged,contact.purged,` +
	`import.completed,deal.created,deal.updated,deal.stage_changed,deal.archived,deal.restored,email.sent,` +
	`email.received}')
	ORDER BY seq LIMIT $4
)
SELECT count(*), coalesce(bool_or(type IN ('contact.merged', 'contact.purged', 'import.completed')), false),
	coalesce(bool_or(type LIKE 'deal.%'), false), coalesce(bool_or(type LIKE 'email.%'), false),
	coalesce(array_agg(DISTINCT ((data -> 'object' ->> 'created_at')::timestamptz AT TIME ZONE 'UTC')::date)
		FILTER (WHERE type IN ('contact.created', 'contact.archived', 'contact.restored')), '{}'),
	array_remove(coalesce(array_agg(DISTINCT ((data -> 'object' ->> 'closed_at')::timestamptz AT TIME ZONE 'UTC')::date)
		FILTER (WHERE type LIKE 'deal.%'), '{}')
	|| coalesce(array_agg(DISTINCT ((data -> 'previous' ->> 'closed_at')::timestamptz AT TIME ZONE 'UTC')::date)
		FILTER (WHERE type LIKE 'deal.%'), '{}'), NULL)
FROM news`

// Count brings the counts of tx's org up to date. Concurrent counts of one org wait for each other.
func Count(ctx context.Context, tx *postgres.Tx) error {
	var (
		s state
		n news
	)
	tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
		set_config('plan_cache_mode', 'force_custom_plan', true)`)
	err := tx.QueryRow(ctx, stateSQL, []any{tx.Org()}, &s.seq, &s.horizon, &s.whole, &s.late, &s.hooks, &s.since,
		&s.now)
	if postgres.None(err) {
		return nil
	}
	if err == nil && !s.whole {
		err = tx.QueryRow(ctx, newsSQL, []any{tx.Org(), s.seq, s.horizon, maxNews + 1, id.Floor(s.since)},
			&n.count, &n.whole, &n.deals, &n.mails, &n.contacts, &n.closed)
	}
	if err != nil {
		return fmt.Errorf("read events to count: %w", err)
	}
	if s.whole = s.whole || n.whole || n.count > maxNews; s.whole {
		countAll(tx)
	} else {
		countContacts(tx, n.contacts)
		if n.deals {
			countDeals(tx, n.closed)
		}
	}
	back := 1
	if s.whole || s.late {
		back = retried
	}
	days := lastDays(s.now, back)
	if s.hooks {
		countDeliveries(tx, days)
	}
	if s.whole || s.late || n.mails {
		countEmails(tx, days)
	}
	save(tx, &s)
	if err := tx.Flush(ctx); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return nil
}

// stored is the number of days, before today, of which all deliveries are stored.
const stored = 29

// Recount queues the counts that rows need which were written with times of the past and without events: those of the
// deliveries at once, since Count looks at the last days only, and the others with the next Count of tx's org, which is
// due at once.
func Recount(tx *postgres.Tx, now time.Time) {
	countDeliveries(tx, lastDays(now, stored))
	tx.Queue(`UPDATE overview_state SET whole_at = '-infinity', rest_until = '-infinity', counted_at = '-infinity',
		due_at = now(), look_at = now() WHERE org_id = $1`, tx.Org())
}

// save queues the new state. Deliveries under way make the org due again. An overview that is read is looked at after
// the rest, another one after a minute or more.
func save(tx *postgres.Tx, s *state) {
	tx.Queue(`UPDATE overview_state SET seq = $2, counted_at = now(),
			whole_at = CASE WHEN $3 THEN now() ELSE whole_at END,
			late_at = CASE WHEN $3 OR $4 THEN now() ELSE late_at END,
			rest_until = clock_timestamp() + greatest(interval '3 seconds', 20 * (clock_timestamp() - now())),
			look_at = clock_timestamp() + greatest(20 * (clock_timestamp() - now()), CASE
				WHEN read_at > now() - interval '10 minutes' THEN interval '3 seconds' ELSE interval '1 minute' END),
			due_at = (SELECT now() + CASE WHEN j.id >= uuid_floor(now() - interval '1 minute') THEN interval '3 seconds'
					ELSE interval '1 minute' END
				FROM job j WHERE j.org_id = $1 AND j.kind = '`+events.DeliverKind+`' AND j.state = 'ready'
					AND j.id >= uuid_floor(now() - interval '5 days')
				ORDER BY j.id DESC LIMIT 1)
		WHERE org_id = $1`, tx.Org(), s.horizon-1, s.whole, s.late)
}

// countAll queues the counts of contacts and deals of all days.
func countAll(tx *postgres.Tx) {
	tx.Queue(`UPDATE day_count SET contacts = 0 WHERE org_id = $1 AND contacts <> 0`, tx.Org())
	tx.Queue(`INSERT INTO day_count (org_id, day, contacts)
		SELECT $1, (created_at AT TIME ZONE 'UTC')::date AS day, count(*) FROM contact
		WHERE org_id = $1 AND archived_at IS NULL GROUP BY day
		ON CONFLICT (org_id, day) DO UPDATE SET contacts = excluded.contacts`, tx.Org())
	tx.Queue(`DELETE FROM day_deals WHERE org_id = $1`, tx.Org())
	tx.Queue(`INSERT INTO day_deals (org_id, day, status, currency, deals, amount)
		SELECT $1, coalesce((closed_at AT TIME ZONE 'UTC')::date, 'infinity') AS day, status, currency, count(*),
			least(sum(amount), 9223372036854775807)::bigint
		FROM deal WHERE org_id = $1 AND archived_at IS NULL GROUP BY day, status, currency`, tx.Org())
}

// countContacts queues the counts of contacts that were created on days.
func countContacts(tx *postgres.Tx, days []time.Time) {
	if len(days) == 0 {
		return
	}
	tx.Queue(`INSERT INTO day_count (org_id, day, contacts)
		SELECT $1, d.day, (SELECT count(*) FROM contact WHERE org_id = $1 AND archived_at IS NULL
			AND created_at >= d.day::timestamp AT TIME ZONE 'UTC'
			AND created_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC')
		FROM unnest($2::date[]) AS d (day)
		ON CONFLICT (org_id, day) DO UPDATE SET contacts = excluded.contacts`, tx.Org(), days)
}

// countDeals queues the sums of deals that were closed on days, and of open deals.
func countDeals(tx *postgres.Tx, days []time.Time) {
	tx.Queue(`DELETE FROM day_deals WHERE org_id = $1 AND (day = 'infinity' OR day = ANY ($2::date[]))`, tx.Org(), days)
	tx.Queue(`INSERT INTO day_deals (org_id, day, status, currency, deals, amount)
		SELECT $1, 'infinity', 'open', currency, count(*), least(sum(amount), 9223372036854775807)::bigint
		FROM deal WHERE org_id = $1 AND status = 'open' AND archived_at IS NULL GROUP BY currency`, tx.Org())
	tx.Queue(`INSERT INTO day_deals (org_id, day, status, currency, deals, amount)
		SELECT $1, d.day, c.status, c.currency, count(*), least(sum(c.amount), 9223372036854775807)::bigint
		FROM (SELECT DISTINCT unnest($2::date[])) AS d (day) JOIN deal c ON c.org_id = $1 AND c.archived_at IS NULL
			AND c.closed_at >= d.day::timestamp AT TIME ZONE 'UTC'
			AND c.closed_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
		GROUP BY d.day, c.status, c.currency`, tx.Org(), days)
}

// retried is the number of days, before today, in which a delivery may still be attempted.
const retried = 5

// lastDays returns today and back days before it, in UTC.
func lastDays(now time.Time, back int) []time.Time {
	today := now.UTC().Truncate(24 * time.Hour)
	days := make([]time.Time, 0, back+1)
	for n := range back + 1 {
		days = append(days, today.AddDate(0, 0, -n))
	}
	return days
}

// countDeliveries queues the counts of deliveries of days. Other days keep their counts when their deliveries are
// removed. Each day has a statement of its own, which is planned for the one partition of that day.
func countDeliveries(tx *postgres.Tx, days []time.Time) {
	for _, day := range days {
		tx.Queue(`INSERT INTO day_count (org_id, day, deliveries, delivery_failures)
			SELECT $1, $2, sum(w.delivered), sum(w.failed)
			FROM webhook_endpoint e CROSS JOIN LATERAL (
				SELECT (SELECT count(*) FROM webhook_delivery w WHERE w.org_id = $1 AND w.endpoint_id = e.id
					AND w.indexed_status = '' AND w.status = 'delivered' AND w.id >= $3 AND w.id < $4) AS delivered,
				(SELECT count(*) FROM webhook_delivery w WHERE w.org_id = $1 AND w.endpoint_id = e.id
					AND w.indexed_status IN ('failed', 'exhausted') AND w.id >= $3 AND w.id < $4) AS failed) AS w
			WHERE e.org_id = $1 HAVING count(*) > 0
			ON CONFLICT (org_id, day) DO UPDATE
			SET deliveries = excluded.deliveries, delivery_failures = excluded.delivery_failures
			WHERE (day_count.deliveries, day_count.delivery_failures)
				IS DISTINCT FROM (excluded.deliveries, excluded.delivery_failures)`,
			tx.Org(), day, id.Floor(day), id.Floor(day.AddDate(0, 0, 1)))
	}
}

// countEmails queues the counts of the emails and replies of days, in one statement, since planning takes longer than
// counting.
func countEmails(tx *postgres.Tx, days []time.Time) {
	next, first, beyond := make([]time.Time, len(days)), make([]id.ID, len(days)), make([]id.ID, len(days))
	for i, day := range days {
		next[i] = day.AddDate(0, 0, 1)
		first[i], beyond[i] = id.Floor(day), id.Floor(next[i])
	}
	tx.Queue(`INSERT INTO day_count (org_id, day, emails_sent, replies)
		SELECT $1, d.day, (SELECT count(*) FROM mailbox m JOIN email e ON e.org_id = $1 AND e.mailbox_id = m.id
				AND e.marked_at >= d.since AND e.marked_at < d.next AND e.status = 'sent' WHERE m.org_id = $1),
			(SELECT count(*) FROM message WHERE org_id = $1 AND id >= d.first AND id < d.beyond AND class = 'human'
				AND NOT own)
		FROM unnest($2::date[], $3::timestamptz[], $4::timestamptz[], $5::uuid[], $6::uuid[])
			AS d (day, since, next, first, beyond)
		ON CONFLICT (org_id, day) DO UPDATE SET emails_sent = excluded.emails_sent, replies = excluded.replies
		WHERE (day_count.emails_sent, day_count.replies) IS DISTINCT FROM (excluded.emails_sent, excluded.replies)`,
		tx.Org(), days, days, next, first, beyond)
}
