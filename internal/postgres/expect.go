package postgres

import (
	"context"
	"encoding/json"
	"fmt"
)

// ExpectedRows returns the number of rows that the planner expects sql to return. It executes nothing.
func (tx *Tx) ExpectedRows(ctx context.Context, sql string, args []any) (int64, error) {
	var (
		raw  []byte
		plan []struct {
			Plan struct {
				Rows float64 `json:"Plan Rows"`
			}
		}
	)
	if err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+sql, args, &raw); err != nil {
		return 0, fmt.Errorf("plan: %w", err)
	}
	if err := json.Unmarshal(raw, &plan); err != nil || len(plan) == 0 {
		return 0, fmt.Errorf("read plan: %w", err)
	}

	return int64(plan[0].Plan.Rows), nil
}
