package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Override sets an operator's override of one feature of tx's org: a JSON value that replaces the plan's until a time,
// or permanently (nil). It replaces an earlier override and an agency's allocation. Rights, limits and rate are updated
// in tx; existing use above a lower limit stays. The caller writes the audit log.
//
// Errors: fault.ValidationFailed for an unknown feature, or a value that does not have the feature's type.
func (c *Catalogue) Override(ctx context.Context, tx *postgres.Tx, feature string, raw json.RawMessage,
	until *time.Time,
) error {
	if err := c.checkGrantable(feature); err != nil {
		return err
	}

	v, err := ParseValue(c.types[feature], raw)
	if err != nil || feature == RequestRate && v.Max < 1 {
		return fault.Invalid("value", "invalid_value", "This feature's value is a "+string(c.types[feature])+".")
	}

	tx.Queue(`INSERT INTO plan_override (org_id, feature, value, source, expires_at) VALUES ($1, $2, $3, 'override', $4)
		ON CONFLICT (org_id, feature) DO UPDATE SET value = excluded.value, source = excluded.source, expires_at =
		excluded.expires_at, created_at = now()`,
		tx.Org(), feature, string(raw), until)

	return c.Settle(ctx, tx)
}

// Revoke deletes an operator's override of a feature of tx's org. It returns fault.NotFound if there is none. It does
// not delete an agency's allocation.
func (c *Catalogue) Revoke(ctx context.Context, tx *postgres.Tx, feature string) error {
	n, err := tx.Exec(ctx, `DELETE FROM plan_override WHERE org_id = $1 AND feature = $2 AND source = 'override'`,
		tx.Org(), feature)
	if err != nil {
		return fmt.Errorf("end override: %w", err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "There is no override of this feature.")
	}

	return c.Settle(ctx, tx)
}

// Extend adds to a feature of tx's org on top of its plan, for as long as the plan is in effect, and returns the
// add-on's id. amount applies to limits; Unlimited removes the limit. For a boolean feature, the add-on enables it.
func (c *Catalogue) Extend(ctx context.Context, tx *postgres.Tx, feature string, amount int64) (id.ID, error) {
	addon := id.New()
	if err := c.checkGrantable(feature); err != nil {
		return addon, err
	}

	var stored *int64

	switch t := c.types[feature]; {
	case t == Text, t == Limit && amount < 1:
		return addon,
			fault.Invalid("amount", "invalid_value",
				"An add-on is more of a limit, or a feature that one has or has not.")
	case t == Limit && amount != Unlimited:
		stored = &amount
	}

	tx.Queue(`INSERT INTO plan_addon (org_id, id, feature, amount) VALUES ($1, $2, $3, $4)`, tx.Org(), addon, feature,
		stored)

	return addon, c.Settle(ctx, tx)
}

// Reduce deletes an add-on of tx's org. It returns fault.NotFound if there is no add-on with that id.
func (c *Catalogue) Reduce(ctx context.Context, tx *postgres.Tx, addon id.ID) error {
	n, err := tx.Exec(ctx, `DELETE FROM plan_addon WHERE org_id = $1 AND id = $2`, tx.Org(), addon)
	if err != nil {
		return fmt.Errorf("end add-on: %w", err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "There is no such add-on.")
	}

	return c.Settle(ctx, tx)
}

func (c *Catalogue) checkGrantable(feature string) error {
	if c.types[feature] == "" {
		return fault.Invalid("feature", "unknown_feature",
			fault.Choices("There is no such feature.", feature, slices.Sorted(maps.Keys(c.types))))
	}
	return nil
}

// Grant is an add-on or an override of an org.
type Grant struct {
	ID      id.ID // of an add-on; zero for an override
	Feature string
	Value   json.RawMessage // null: no limit; for an add-on, the amount added
	Source  Source
	Expires *wire.Time
}

// Grants returns the add-ons and overrides of tx's org, including expired ones, by feature.
func Grants(ctx context.Context, tx *postgres.Tx) ([]Grant, error) {
	rows, err := tx.Query(ctx, `
		SELECT id, feature, to_json(amount) AS value, 'addon' AS source, NULL::timestamptz AS expires
		FROM plan_addon WHERE org_id = $1
		UNION ALL SELECT '00000000-0000-0000-0000-000000000000', feature, value, source, expires_at
		FROM plan_override WHERE org_id = $1
		ORDER BY feature, id`, tx.Org())
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Grant, err error) {
		var value []byte
		err = row.Scan(&g.ID, &g.Feature, &value, &g.Source, &g.Expires)
		if g.Value = value; value == nil {
			g.Value = json.RawMessage("null")
		}
		return g, err
	})
}

// Print writes the entitlements of tx's org for an operator: each feature with its value, its source and its use, then
// the add-ons and overrides.
func (c *Catalogue) Print(ctx context.Context, tx *postgres.Tx, out io.Writer) error {
	r, f, err := c.readRights(ctx, tx)
	if err != nil {
		return err
	}

	rows, err := tx.Query(ctx, `SELECT feature, used FROM quota WHERE org_id = $1`, tx.Org())
	if err != nil {
		return fmt.Errorf("read quota: %w", err)
	}

	used := map[string]string{}
	var feature string
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&feature, &n}, func() error {
		used[feature] = strconv.FormatInt(n, 10)
		return nil
	}); err != nil {
		return fmt.Errorf("read quota: %w", err)
	}

	grants, err := Grants(ctx, tx)
	if err != nil {
		return err
	}

	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "plan %s, %s, version %d\n\nFEATURE\tVALUE\tSOURCE\tUSED\n", r.Plan, r.Status, f.version)
	for _, line := range c.Lines() {
		value, err := json.Marshal(r.Features[line.Key].Value)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", line.Key, value, r.Features[line.Key].Source, used[line.Key])
	}

	if len(grants) > 0 {
		_, _ = fmt.Fprint(w, "\nGRANT\tFEATURE\tVALUE\tUNTIL\n")
	}

	for _, g := range grants {
		what := string(g.Source)
		until := ""
		if !g.ID.IsZero() {
			what = g.ID.String()
		}
		if g.Expires != nil {
			until = g.Expires.String()
		}

		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", what, g.Feature, g.Value, until)
	}

	return w.Flush()
}
