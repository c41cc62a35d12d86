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
	whole, late  bool      // count all days; count the emails of earlier days
	never        bool      // no count has been made of all days
	hooks        bool      // the org has, or had, webhooks
	since        time.Time // no event that is not counted is older
	now          time.Time

	ended             *id.ID // each delivery with a lower id had ended at the last count
	delivered, failed int64  // how many of these are of the day of ended
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
	whole_at = '-infinity', late_at <= now() - interval '10 minutes',
	EXISTS (SELECT FROM webhook_endpoint e WHERE e.org_id = $1),
	greatest(counted_at - interval '1 hour', now() - interval '30 days'), now(),
	ended_before, ended_deliveries, ended_failures
	FROM overview_state WHERE org_id = $1 FOR UPDATE`

// newsSQL reads the days of contacts and deals from the events themselves. Merges, purges and imports change more
// contacts than their events hold. The bound on id is an argument, so that the statement is planned for the few
// partitions that it needs.
const newsSQL = `
WITH news AS MATERIALIZED (
	SELECT type, data FROM event
	WHERE org_id = $1 AND seq > $2 AND seq < $3 AND id >= $5 AND id < $6
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
	s, err := readState(ctx, tx)
	if err != nil || s == nil {
		return err
	}

	var n news
	if !s.whole {
		if n, err = s.readNews(ctx, tx); err != nil {
			return err
		}
	}

	return s.countNews(ctx, tx, n)
}

// readState locks and returns the state of tx's org, nil if it has none.
func readState(ctx context.Context, tx *postgres.Tx) (*state, error) {
	tx.Queue(planningRead)
	var s state
	err := tx.QueryRow(ctx, stateSQL, []any{tx.Org()}, &s.seq, &s.horizon, &s.whole, &s.never, &s.late, &s.hooks,
		&s.since, &s.now, &s.ended, &s.delivered, &s.failed)
	if postgres.None(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state of counts: %w", err)
	}

	return &s, nil
}

// readNews reads what the events since the last count are about.
func (s *state) readNews(ctx context.Context, tx *postgres.Tx) (n news, err error) {
	err = tx.QueryRow(ctx, newsSQL, []any{tx.Org(), s.seq, s.horizon, maxNews + 1, id.Floor(s.since), s.newestBound()},
		&n.count, &n.whole, &n.deals, &n.mails, &n.contacts, &n.closed)
	if err != nil {
		return n, fmt.Errorf("read events to count: %w", err)
	}
	return n, nil
}

// newestBound returns an id above those of all rows that there are. Partitions of later days are left out of plans by
// it.
func (s *state) newestBound() id.ID { return id.Floor(s.now.Add(lateCommit)) }

// countNews counts what may have changed, and writes the new state.
func (s *state) countNews(ctx context.Context, tx *postgres.Tx, n news) error {
	if s.whole = s.whole || n.whole || n.count > maxNews; s.whole {
		countAll(tx)
	} else {
		countContacts(tx, n.contacts)
		if n.deals {
			countDeals(tx, n.closed)
		}
	}

	if s.hooks {
		if err := s.countDeliveries(ctx, tx, s.alreadyEnded()); err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
	}
	if s.whole || s.late || n.mails {
		countEmails(tx, s.emailDays())
	}

	saveState(tx, s)
	if err := tx.Flush(ctx); err != nil {
		return fmt.Errorf("count: %w", err)
	}

	return nil
}

// stored is the number of days, before today, of which all deliveries are stored.
const stored = 29

// Recount makes the next Count of tx's org, which is due at once, count all that is stored: for rows that were written
// with times of the past and without events.
func Recount(tx *postgres.Tx, now time.Time) {
	tx.Queue(`UPDATE overview_state SET whole_at = '-infinity', rest_until = '-infinity', counted_at = '-infinity',
		ended_before = $2, due_at = now(), look_at = now() WHERE org_id = $1`, tx.Org(),
		id.Floor(now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -stored)))
}

// saveState queues the new state. Deliveries under way make the org due again, and so many newer jobs that there may be
// some behind them. An overview that is read is looked at after
// the rest, another one after a minute or more.
func saveState(tx *postgres.Tx, s *state) {
	tx.Queue(`UPDATE overview_state SET seq = $2, counted_at = now(),
			whole_at = CASE WHEN $3 THEN now() ELSE whole_at END,
			late_at = CASE WHEN $3 OR $4 THEN now() ELSE late_at END,
			rest_until = clock_timestamp() + greatest(interval '3 seconds', 20 * (clock_timestamp() - now())),
			look_at = clock_timestamp() + greatest(20 * (clock_timestamp() - now()), CASE
				WHEN read_at > now() - interval '10 minutes' THEN interval '3 seconds' ELSE interval '1 minute' END),
			due_at = (SELECT now() + CASE WHEN j.kind = '`+events.DeliverKind+`'
					AND j.id >= uuid_floor(now() - interval '1 minute') THEN interval '3 seconds'
					ELSE interval '1 minute' END
				FROM (SELECT id, kind, state, row_number() OVER (ORDER BY id DESC) AS n FROM job WHERE org_id = $1
					AND id >= uuid_floor(now() - interval '5 days') ORDER BY id DESC LIMIT $5) AS j
				WHERE j.kind = '`+events.DeliverKind+`' AND j.state = 'ready' OR j.n = $5 ORDER BY j.id DESC LIMIT 1)
		WHERE org_id = $1`, tx.Org(), s.horizon-1, s.whole, s.late, jobsAtOnce)
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

// emailDays returns today and the days before it of which emails are counted, in UTC.
func (s *state) emailDays() []time.Time {
	back := 1
	if s.whole || s.late {
		back = retried
	}
	return daysFrom(s.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -back), s.now)
}

// countEmails queues the counts of the emails and replies of days, in one statement, since planning takes longer than
// counting.
func countEmails(tx *postgres.Tx, days []time.Time) {
	next := make([]time.Time, len(days))
	first := make([]id.ID, len(days))
	beyond := make([]id.ID, len(days))
	for i, day := range days {
		next[i] = day.AddDate(0, 0, 1)
		first[i], beyond[i] = id.Floor(day), id.Floor(next[i])
	}

	tx.Queue(`INSERT INTO day_count (org_id, day, emails_sent, replies)
		SELECT $1, d.day, coalesce((SELECT sum(e.n) FROM mailbox m CROSS JOIN LATERAL (
				SELECT count(*) AS n FROM email WHERE org_id = $1 AND mailbox_id = m.id
					AND marked_at >= d.since AND marked_at < d.next AND status = 'sent') AS e WHERE m.org_id = $1), 0),
			(SELECT count(*) FROM message WHERE org_id = $1 AND id >= d.first AND id < d.beyond AND class = 'human'
				AND sure AND NOT own)
		FROM unnest($2::date[], $3::timestamptz[], $4::timestamptz[], $5::uuid[], $6::uuid[])
			AS d (day, since, next, first, beyond)
		ON CONFLICT (org_id, day) DO UPDATE SET emails_sent = excluded.emails_sent, replies = excluded.replies
		WHERE (day_count.emails_sent, day_count.replies) IS DISTINCT FROM (excluded.emails_sent, excluded.replies)`,
		tx.Org(), days, days, next, first, beyond)
}
