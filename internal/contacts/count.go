package contacts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// counted is how far an estimate counts before it asks the planner.
const counted = 1000

// Count answers how many contacts f holds, exactly: its cost grows with the answer.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	q := build(tx.Org(), f, Newest, false)
	var n int64
	tx.Queue(planning)
	err := tx.QueryRow(ctx, "SELECT count(*) "+q.from.String()+" WHERE "+q.where.String(), q.args, &n)
	return n, err
}

// Estimate is exact up to 1,000 where counting that far is quick; else it is what the planner expects from its
// statistics, beyond 1,000 at least 1,001.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	if len(f.Words) > 0 {
		return estimateWords(ctx, tx, f)
	}
	set, err := rare(ctx, tx, f, Newest, usual().few)
	if err != nil {
		return 0, err
	}
	if set != nil && set.rows <= counted {
		return countIn(ctx, tx, build(tx.Org(), f, Newest, false), set.once)
	}
	n, err := build(tx.Org(), f, Newest, false).estimate(ctx, tx, f.Where != nil && f.Where.Asks(filter.Contains), false)
	if set != nil {
		n = min(n, int64(set.rows))
	}
	return n, err
}

// countIn counts those of q that are in a set of few contacts.
func countIn(ctx context.Context, tx *postgres.Tx, q *query, set func(q *query) string) (n int64, err error) {
	q.from.WriteString(" JOIN (" + set(q) + ") AS found (contact_id) ON found.contact_id = c.id")
	tx.Queue(planning)
	err = tx.QueryRow(ctx, "SELECT count(*) "+q.from.String()+" WHERE "+q.where.String(), q.args, &n)
	return n, err
}

// estimateWords counts where one of the words is rare: as many contacts as have it are looked at.
func estimateWords(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	e := usual()
	e.few = counted
	all, err := terms(ctx, tx, f, e)
	if err != nil {
		return 0, err
	}
	r := rarest(all, e.few)
	if r < 0 {
		return build(tx.Org(), f, Newest, false).estimate(ctx, tx, false, true)
	}
	return countIn(ctx, tx, build(tx.Org(), f.wordless(), Newest, false), func(q *query) string { return q.only(all, r) })
}

// quick is what the planner may expect of a count that is made, in its units: a few milliseconds.
const quick = 1000

// estimate counts to the bound, if that is quick, and else asks the planner alone: also where the number is known to lie
// beyond. Of blind conditions the planner knows nothing, so that only all that they look at tells whether it is quick.
func (q *query) estimate(ctx context.Context, tx *postgres.Tx, blind, beyond bool) (int64, error) {
	sql, args := "SELECT 1 "+q.from.String()+" WHERE "+q.where.String(), q.args
	first := sql + " LIMIT " + q.arg(counted+1)
	cost, rows, err := expected(ctx, tx, first, q.args)
	if err != nil {
		return 0, err
	}
	if blind {
		if cost, rows, err = expected(ctx, tx, sql, args); err != nil {
			return 0, err
		}
	}
	least := int64(0)
	if beyond {
		least = counted + 1
	} else if cost <= quick {
		var n int64
		tx.Queue(planning)
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM ("+first+") AS first", q.args, &n); err != nil || n <= counted {
			return n, err
		}
		least = n
	}
	if rows < 0 { // the planner sees no further than the limit
		if _, rows, err = expected(ctx, tx, sql, args); err != nil {
			return 0, err
		}
	}
	return max(least, rows), nil
}

// expected is what the planner expects a statement to cost, and the rows that it would have without its limit; -1
// where that is not told.
func expected(ctx context.Context, tx *postgres.Tx, sql string, args []any) (cost float64, rows int64, err error) {
	var raw []byte
	tx.Queue(planning)
	if err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, args, &raw); err != nil {
		return 0, 0, fmt.Errorf("estimate: %w", err)
	}
	type node struct {
		Type  string  `json:"Node Type"`
		Cost  float64 `json:"Total Cost"`
		Rows  float64 `json:"Plan Rows"`
		Plans []node
	}
	var plan []struct{ Plan node }
	if err := json.Unmarshal(raw, &plan); err != nil || len(plan) == 0 {
		return 0, 0, fmt.Errorf("read plan: %w", err)
	}
	top := plan[0].Plan
	switch {
	case top.Type != "Limit":
		return top.Cost, int64(top.Rows), nil
	case len(top.Plans) == 1:
		return top.Cost, int64(top.Plans[0].Rows), nil
	default:
		return top.Cost, -1, nil
	}
}
