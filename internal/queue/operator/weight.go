package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
)

// MaxWeight is the greatest weight of an org.
const MaxWeight = 100

// ErrWeight reports a weight out of range.
var ErrWeight = fmt.Errorf("weight must be from 1 to %d", MaxWeight)

// ErrNoOrg reports a weight without an org. The platform's own jobs have weight 1.
var ErrNoOrg = errors.New("a weight needs an org")

// Weight is an org's share of the slots when several orgs compete; 1 unless set.
type Weight struct {
	Org    id.ID `json:"org_id"`
	Weight int   `json:"weight"`
}

// SetWeight sets an org's weight from the feeder's next round on. It returns false if the org already had that weight.
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
	if weight == 1 { // the default needs no row
		sql, args = `DELETE FROM job_weight WHERE org_id = $6`, args[:1]
	}
	n, err := o.execAudited(ctx, by, "weight", sql, args...)
	return n > 0, err
}

// Weights returns the orgs with a weight other than 1.
func (o *Operator) Weights(ctx context.Context) ([]Weight, error) {
	return collectRows(ctx, o, "list weights", pgx.RowToStructByPos[Weight],
		`SELECT org_id, weight FROM job_weight WHERE weight > 1 ORDER BY weight DESC, org_id`)
}
