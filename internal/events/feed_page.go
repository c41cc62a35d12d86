package events

import (
	"context"
	"fmt"

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
	return readPage(ctx, tx, feedSQL, feedOfTypesSQL, after, types, limit)
}

// LatestPage returns a page of the events before seq, in the reverse order of FeedPage. It has the same events: those
// that the feed holds back are in neither.
func LatestPage(ctx context.Context, tx *postgres.Tx, before int64, types []string, limit int) (Page, error) {
	return readPage(ctx, tx, latestSQL, latestOfTypesSQL, before, types, limit)
}

func readPage(ctx context.Context, tx *postgres.Tx, all, ofTypes string, seq int64, types []string, limit int) (
	p Page, err error,
) {
	// The horizon is read in the snapshot of the statement itself, so that it matches the rows.
	sql, args := all, []any{tx.Org(), seq, limit}
	if len(types) > 0 {
		sql, args = ofTypes, append(args, types)
		tx.Queue(inOrder)
	}
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return p, fmt.Errorf("read events: %w", err)
	}
	last := false // whether it is the last of those that a page of some types looks at
	read, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (*Stored, error) {
		s, matches := &Stored{OrgID: tx.Org()}, true
		err := r.Scan(&s.ID, &s.Seq, &s.Type, &s.ActorType, &s.ActorID, &s.RequestID, &s.Data, &s.CreatedAt, &matches,
			&last)
		if p.Seen = s.Seq; !matches {
			s = nil
		}
		return s, err
	})
	if err != nil {
		return p, fmt.Errorf("read events: %w", err)
	}
	for _, s := range read {
		if s != nil {
			p.Events = append(p.Events, s)
		}
	}
	p.More = last || len(p.Events) == limit
	return p, nil
}

// inOrder makes the planner read each day by the index in the order of seq, as far as the page needs. In a day that was
// never analyzed it expects few events, and to sort them all costs as little.
const inOrder = `SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('jit', 'off', true)`

// The statements of a page. Those of some types look at 500 events, and also return the last one of these, matching or
// not.
const (
	feedColumns = `SELECT id, seq, type, actor_type, actor_id, request_id, data, created_at`
	feedKept    = `AND seq < (SELECT event_horizon()) AND id >= uuid_floor(now() - interval '30 days') `
	feedWhere   = ` FROM event WHERE org_id = $1 AND seq > $2 ` + feedKept
	latestWhere = ` FROM event WHERE org_id = $1 AND seq < $2 ` + feedKept

	feedSQL   = feedColumns + `, true, false` + feedWhere + `ORDER BY seq LIMIT $3`
	latestSQL = feedColumns + `, true, false` + latestWhere + `ORDER BY seq DESC LIMIT $3`

	feedOfTypesSQL = ofTypesBegin + `(ORDER BY seq) AS n` + feedWhere + `ORDER BY seq` + ofTypesEnd +
		`ORDER BY seq LIMIT $3`
	latestOfTypesSQL = ofTypesBegin + `(ORDER BY seq DESC) AS n` + latestWhere + `ORDER BY seq DESC` + ofTypesEnd +
		`ORDER BY seq DESC LIMIT $3`

	ofTypesBegin = feedColumns + `, matches, n = 500 FROM (` + feedColumns +
		`, type = ANY ($4) AS matches, row_number() OVER `
	ofTypesEnd = ` LIMIT 500) AS looked_at WHERE matches OR n = 500 `
)
