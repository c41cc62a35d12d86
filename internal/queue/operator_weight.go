package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// MaxWeight is the greatest weight of an org.
const MaxWeight = 100

// ErrWeight is a weight that there is not.
var ErrWeight = fmt.Errorf("a weight is from 1 to %d", MaxWeight)

// ErrNoOrg is a weight for nobody: the platform's own jobs have weight 1.
var ErrNoOrg = errors.New("a weight is an org's")

// Weight is an org's part of the slots where several orgs want them; 1 unless it was set.
type Weight struct {
	Org    id.ID `json:"org_id"`
	Weight int   `json:"weight"`
}

// SetWeight gives an org its weight from the feeder's next round on; false where it had that one.
func (o *Operator) SetWeight(ctx context.Context, by By, org id.ID, weight int) (bool, error) {
	switch {
	case weight < 1 || weight > MaxWeight:
		return false, ErrWeight
	case org.IsZero():
		return false, ErrNoOrg
	}
	by.Scope = fmt.Sprintf("org %s: %d", org, weight)
	sql := `INSERT INTO job_weight (org_id, weight) VALUES ($6, $7)
	ON CONFLICT (org_id) DO UPDATE SET weight = excluded.weight WHERE job_weight.weight <> excluded.weight`
	args := []any{org, weight}
	if weight == 1 { // as good as no row
		sql, args = `DELETE FROM job_weight WHERE org_id = $6`, args[:1]
	}
	n, err := o.noted(ctx, by, "weight", sql, args...)
	return n > 0, err
}

// Weights answers the orgs whose weight is not 1.
func (o *Operator) Weights(ctx context.Context) ([]Weight, error) {
	var out []Weight
	err := o.ledger.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT org_id, weight FROM job_weight WHERE weight > 1 ORDER BY weight DESC, org_id`)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Weight])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list weights: %w", err)
	}
	return out, nil
}
