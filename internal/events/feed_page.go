package events

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Page is a page of the feed. It may be shorter than its limit, or empty, though there are more events.
type Page struct {
	Events []*Stored
	// More is set if there are more events than those that the page looked at, up to Seen.
	More bool
	Seen int64
}

// FeedPage returns a page of Feed: at most limit events. If types is not empty, they are of the next 500 events alone:
// no index has the type, since each event would pay for it, and a page of a rare type would read those of 30 days.
func FeedPage(ctx context.Context, tx *postgres.Tx, after int64, types []string, limit int) (Page, error) {
	r := pageReader{after: after, before: math.MaxInt64, types: types, limit: limit}
	return r.readPage(ctx, tx, feedSpans(time.Now()))
}

// LatestPage returns a page of the events before seq, in the reverse order of FeedPage. It has the same events: those
// that the feed holds back are in neither.
func LatestPage(ctx context.Context, tx *postgres.Tx, before int64, types []string, limit int) (Page, error) {
	r := pageReader{before: before, types: types, limit: limit, latest: true}
	spans := feedSpans(time.Now())
	slices.Reverse(spans)
	return r.readPage(ctx, tx, spans)
}

// pageReader reads the events between two numbers, in one order, from one span after the other. The order of ids is
// about that of numbers, but not exactly: history is written later, and clocks differ. So it looks into each span, with
// bounds that a span with more events than the page needs makes narrower.
type pageReader struct {
	after, before int64 // numbers of the events to be read are between these
	types         []string
	limit         int
	latest        bool

	found []*Stored
	cut   bool  // whether there are more events than those that were looked at
	seen  int64 // number of the last event that was looked at, if cut
}

func (r *pageReader) readPage(ctx context.Context, tx *postgres.Tx, spans []span) (p Page, err error) {
	// Everything below the horizon is visible to each later statement, or never will be.
	err = tx.QueryRow(ctx, `SELECT least(event_horizon(), $1)`, []any{r.before}, &r.before)
	if err != nil {
		return p, fmt.Errorf("read the feed's horizon: %w", err)
	}
	for _, s := range spans {
		if err := r.readSpan(ctx, tx, s); err != nil {
			return p, fmt.Errorf("read events: %w", err)
		}
	}
	slices.SortFunc(r.found, func(a, b *Stored) int {
		if r.latest {
			a, b = b, a
		}
		return cmp.Compare(a.Seq, b.Seq)
	})
	p = Page{Events: r.found, More: r.cut, Seen: r.seen}
	if len(p.Events) >= r.limit {
		p.Events = p.Events[:r.limit]
		p.More, p.Seen = true, p.Events[r.limit-1].Seq
	}
	return p, nil
}

// readSpan adds the events of a span. If it looks at as many as a page may, the page ends there: what is beyond its
// last one is left out, and is not looked at in other spans.
func (r *pageReader) readSpan(ctx context.Context, tx *postgres.Tx, s span) error {
	args := []any{tx.Org(), r.after, r.before, s.From, s.To, r.limit}
	sql := r.spanSQL()
	if len(r.types) > 0 {
		args = append(args, r.types)
	}
	tx.Queue(inOrder)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	looked, last := 0, int64(0)
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (none struct{}, err error) {
		e := &Stored{OrgID: tx.Org()}
		matches, end := true, false
		err = row.Scan(&e.ID, &e.Seq, &e.Type, &e.ActorType, &e.ActorID, &e.RequestID, &e.Data, &e.CreatedAt, &matches,
			&end)
		last = e.Seq
		if matches {
			r.found = append(r.found, e)
			looked++
		}
		if end {
			looked = r.limit
		}
		return none, err
	})
	if err == nil && looked >= r.limit {
		r.endAt(last)
	}
	return err
}

// endAt ends the page with the event of that number.
func (r *pageReader) endAt(seq int64) {
	r.cut, r.seen = true, seq
	if r.latest {
		r.after = seq - 1
	} else {
		r.before = seq + 1
	}
	r.found = slices.DeleteFunc(r.found, func(e *Stored) bool { return e.Seq <= r.after || e.Seq >= r.before })
}

// inOrder makes the planner read each day by the index in the order of seq, as far as the page needs. In a day that was
// never analyzed it expects few events, and to sort them all costs as little.
const inOrder = postgres.PlanByDay + `, set_config('enable_sort', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`

// spanSQL returns the statement of a span. That of some types looks at 500 events, and also returns the last one of
// these, matching or not.
func (r *pageReader) spanSQL() string {
	switch {
	case r.latest && len(r.types) > 0:
		return latestOfTypesSQL
	case r.latest:
		return latestSQL
	case len(r.types) > 0:
		return feedOfTypesSQL
	}
	return feedSQL
}

const (
	feedColumns = `SELECT id, seq, type, actor_type, actor_id, request_id, data, created_at`
	spanWhere   = ` FROM event WHERE org_id = $1 AND seq > $2 AND seq < $3 AND id >= $4 AND id < $5 `

	feedSQL   = feedColumns + `, true, false` + spanWhere + `ORDER BY seq LIMIT $6`
	latestSQL = feedColumns + `, true, false` + spanWhere + `ORDER BY seq DESC LIMIT $6`

	feedOfTypesSQL = ofTypesBegin + `(ORDER BY seq) AS n` + spanWhere + `ORDER BY seq` + ofTypesEnd +
		`ORDER BY seq LIMIT $6`
	latestOfTypesSQL = ofTypesBegin + `(ORDER BY seq DESC) AS n` + spanWhere + `ORDER BY seq DESC` + ofTypesEnd +
		`ORDER BY seq DESC LIMIT $6`

	ofTypesBegin = feedColumns + `, matches, n = 500 FROM (` + feedColumns +
		`, type = ANY ($7) AS matches, row_number() OVER `
	ofTypesEnd = ` LIMIT 500) AS looked_at WHERE matches OR n = 500 `
)
