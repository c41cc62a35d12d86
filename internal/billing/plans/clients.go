package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Join makes tx's org, which tx has just created, a client org: its rights follow its agency's.
func (c *Catalogue) Join(ctx context.Context, tx *postgres.Tx) error {
	tx.Queue(`UPDATE subscription SET plan = $2, status = 'active', trial_ends_at = NULL, updated_at =
		clock_timestamp() WHERE org_id = $1`, tx.Org(), Client)
	return c.Settle(ctx, tx)
}

// Leave puts tx's org, which has left its agency, on a trial of the given number of days (0: unlimited) and deletes its
// agency's allocations.
func (c *Catalogue) Leave(ctx context.Context, tx *postgres.Tx, days int) error {
	tx.Queue(`DELETE FROM plan_override WHERE org_id = $1 AND source = 'allocation'`, tx.Org())
	tx.Queue(
		`UPDATE subscription SET plan = $2, status = 'trialing', updated_at = clock_timestamp() WHERE org_id = $1`,
		tx.Org(), c.trials.Key)
	Begin(tx, days)
	return c.Settle(ctx, tx)
}

// Allot changes the allocations of tx's org, a client org: JSON values by feature; nil removes an allocation. A value
// above the agency's own is capped at it. field is the path of the values in the request, for errors.
func (c *Catalogue) Allot(ctx context.Context, tx *postgres.Tx, field string,
	features map[string]json.RawMessage,
) error {
	for name, raw := range features {
		if c.types[name] == "" || name == Clients {
			return fault.Invalid(field+"/"+name, "unknown_feature",
				fault.Choices("There is no such feature to allot.", name, c.allottableFeatures()))
		}
		if raw == nil {
			tx.Queue(`DELETE FROM plan_override WHERE org_id = $1 AND feature = $2 AND source = 'allocation'`,
				tx.Org(), name)
			continue
		}

		v, err := ParseValue(c.types[name], raw)
		if err != nil || name == RequestRate && v.Max < 1 {
			return fault.Invalid(field+"/"+name, "invalid_value",
				"This feature's value is a "+string(c.types[name])+".")
		}

		// An operator's override takes precedence.
		tx.Queue(`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, $2, $3, 'allocation')
			ON CONFLICT (org_id, feature) DO UPDATE SET value = excluded.value
			WHERE plan_override.source = 'allocation'`, tx.Org(), name, string(raw))
	}

	return c.Settle(ctx, tx)
}

// allottableFeatures returns the features that an agency may allot, in alphabetical order.
func (c *Catalogue) allottableFeatures() []string {
	names := slices.Sorted(maps.Keys(c.types))
	return slices.DeleteFunc(names, func(name string) bool { return name == Clients })
}

// Allotted returns the allocations of tx's org.
func (c *Catalogue) Allotted(ctx context.Context, tx *postgres.Tx) (map[string]Value, error) {
	rows, err := tx.Query(ctx, overridesSQL, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read allocations: %w", err)
	}

	all, err := pgx.CollectRows(rows, c.scanOverride)
	if err != nil {
		return nil, fmt.Errorf("read allocations: %w", err)
	}

	out := map[string]Value{}
	for _, o := range slices.DeleteFunc(all, func(o Override) bool {
		return o.Source != FromAllocation || o.Value.Type == ""
	}) {
		out[o.Feature] = o.Value
	}

	return out, nil
}
