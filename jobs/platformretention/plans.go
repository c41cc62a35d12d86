package platformretention

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	// orgsAtOnce is how many orgs one statement of a plan's rule looks at.
	orgsAtOnce = 1000
	// plansTime is how long a run deletes what plans keep for a shorter time. The next run continues.
	plansTime = 5 * time.Minute
)

// applyPlans deletes what the plans of some orgs keep for a shorter time than the longest, which the other rules apply
// to all orgs. Each transaction reads the plans again, so a run has nothing to remember: one that was killed is
// repeated, and an org that has changed its plan has the days of the new one from then on.
func (j Job) applyPlans(ctx context.Context) error {
	catalogue := cmp.Or(j.Plans, plans.Standard())
	ends := time.Now().Add(plansTime)
	for _, r := range planRules {
		d := r.of(&j.Keep)
		if len(d.Plans) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(d.Plans))
		days := make([]int, len(names))
		for i, name := range names {
			days[i] = d.Plans[name]
		}
		sql := fmt.Sprintf(orgsSQL, catalogue.InEffectSQL("s")) + r.sql + endSQL
		total := int64(0)
		for after, more := (id.ID{}), true; more; {
			if time.Now().After(ends) {
				j.Log.WarnContext(ctx, "rows that plans keep for a shorter time are left to the next run", "table",
					r.table)
				return nil
			}
			var gone int64
			var last id.ID
			err := j.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
				tx.Queue(byOrgSQL)
				args := []any{batch, after, orgsAtOnce, names, days, d.Usual, d.longest(0)}
				return tx.QueryRow(ctx, sql, args, &gone, &last)
			})
			if err != nil {
				return fmt.Errorf("delete expired rows of %s by plan: %w", r.table, err)
			}
			total += gone
			if gone < batch { // else the page may have more
				after, more = last, !last.IsZero()
			}
		}
		if total > 0 {
			j.Log.DebugContext(ctx, "rows deleted that plans keep for a shorter time", "table", r.table, "rows", total)
		}
	}

	return nil
}

// byOrgSQL has a statement find rows by the keys of orgs alone, whatever the statistics say.
const byOrgSQL = `SELECT set_config(name, 'off', true) FROM unnest(
	'{enable_seqscan,enable_hashjoin,enable_mergejoin,jit}'::text[]) AS name`
