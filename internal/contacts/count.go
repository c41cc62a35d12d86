package contacts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// counted is the number up to which an estimate counts before it uses the planner.
const counted = 1000

// Count returns the exact number of contacts that f selects. Its cost is proportional to that number.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	q := buildQuery(tx.Org(), f, Newest)
	var n int64
	tx.Queue(planning)
	err := tx.QueryRow(ctx, "SELECT count(*) "+q.from.String()+" WHERE "+q.where.String(), q.args, &n)
	return n, err
}

// Estimate returns the number of contacts that f selects. It is exact up to 1,000 if counting is cheap. Otherwise it is
// the planner's estimate; above 1,000 it is at least 1,001.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	if f.ExternalID != nil {
		return Count(ctx, tx, f)
	}
	if len(f.Words) > 0 {
		return estimateWords(ctx, tx, f)
	}

	set, err := findSelectiveSet(ctx, tx, f, Newest, usualEffort().few)
	if err != nil {
		return 0, err
	}
	if set != nil && set.rows <= counted {
		return countIn(ctx, tx, buildQuery(tx.Org(), f, Newest), set.once)
	}

	n, err := buildQuery(tx.Org(), f, Newest).estimateCount(ctx, tx, f.Where != nil && f.Where.Asks(filter.Contains),
		false)
	if set != nil {
		n = min(n, int64(set.rows))
	}

	return n, err
}

// countIn counts the contacts of q that are in a small set.
func countIn(ctx context.Context, tx *postgres.Tx, q *query, set func(q *query) string) (n int64, err error) {
	q.from.WriteString(" JOIN (" + set(q) + ") AS found (contact_id) ON found.contact_id = c.id")
	tx.Queue(planning)
	err = tx.QueryRow(ctx, "SELECT count(*) "+q.from.String()+" WHERE "+q.where.String(), q.args, &n)
	return n, err
}

// estimateWords counts exactly if one of the words is selective; the cost is the number of contacts with that word.
func estimateWords(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	e := usualEffort()
	e.few = counted
	all, _, err := countTerms(ctx, tx, f, e)
	if err != nil {
		return 0, err
	}
	r := rarestTerm(all, e.few)
	if r < 0 {
		return buildQuery(tx.Org(), f, Newest).estimateCount(ctx, tx, false, true)
	}
	return countIn(ctx, tx, buildQuery(tx.Org(), f.withoutWords(), Newest), func(q *query) string {
		return q.onlyTerm(all, r)
	})
}

// quick is the maximum planner cost of a count that is executed: a few milliseconds.
const quick = 1000

// estimateCount counts up to the bound if that is cheap, and otherwise uses the planner alone; beyond means that the
// number is known to exceed the bound. blind means that the planner has no statistics for a condition, so the cost of
// the scan without a limit decides.
func (q *query) estimateCount(ctx context.Context, tx *postgres.Tx, blind, beyond bool) (int64, error) {
	sql, args := "SELECT 1 "+q.from.String()+" WHERE "+q.where.String(), q.args
	first := sql + " LIMIT " + q.arg(counted+1)
	cost, rows, err := explainCost(ctx, tx, first, q.args)
	if err != nil {
		return 0, err
	}
	if blind {
		if cost, rows, err = explainCost(ctx, tx, sql, args); err != nil {
			return 0, err
		}
	}
	least := int64(0)
	if beyond {
		least = counted + 1
	} else if cost <= quick {
		var n int64
		tx.Queue(planning)
		if err := tx.QueryRow(ctx, "SELECT count(*) FROM ("+first+") AS first", q.args, &n); err != nil ||
			n <= counted {
			return n, err
		}
		least = n
	}
	if rows < 0 { // the plan does not show the rows without the limit
		if _, rows, err = explainCost(ctx, tx, sql, args); err != nil {
			return 0, err
		}
	}

	return max(least, rows), nil
}

// explainCost returns the planner's cost of a statement, and its row estimate without the limit, or -1 if the plan does
// not show it.
func explainCost(ctx context.Context, tx *postgres.Tx, sql string, args []any) (cost float64, rows int64, err error) {
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
