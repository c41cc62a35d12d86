package contacts

import (
	"context"
	"encoding/json"
	"fmt"

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

// Estimate is exact up to 1,000; beyond, it is what the planner expects from its statistics, at least 1,001.
func Estimate(ctx context.Context, tx *postgres.Tx, f *Filter) (int64, error) {
	q := build(tx.Org(), f, Newest, false)
	inner := "SELECT 1 " + q.from.String() + " WHERE " + q.where.String()
	var n int64
	limit := q.arg(counted + 1)
	tx.Queue(planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM ("+inner+" LIMIT "+limit+") AS first", q.args, &n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	if n <= counted {
		return n, nil
	}
	var raw []byte
	if err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+inner, q.args[:len(q.args)-1], &raw); err != nil {
		return 0, fmt.Errorf("estimate: %w", err)
	}
	var plan []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(raw, &plan); err != nil || len(plan) == 0 {
		return 0, fmt.Errorf("read plan: %w", err)
	}
	return max(n, int64(plan[0].Plan.Rows)), nil
}
