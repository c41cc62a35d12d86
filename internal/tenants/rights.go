package tenants

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Rights is what an org may use, and why.
type Rights struct {
	Plan     string           `json:"plan"`
	Status   plans.Status     `json:"subscription_status"`
	Version  int64            `json:"entitlement_version"`
	Features map[string]Right `json:"features"`
	Grants   []Grant          `json:"grants"`
}

// Right is one feature. Value is true or false, a number, null for no limit, or a word.
type Right struct {
	Value  plans.Value  `json:"value"`
	Source plans.Source `json:"source"`
}

// Grant is an add-on, an operator's override, or an agency's allocation, in effect or expired.
type Grant struct {
	ID        *id.ID          `json:"id"` // of an add-on
	Feature   string          `json:"feature"`
	Value     json.RawMessage `json:"value"`
	Source    plans.Source    `json:"source"`
	ExpiresAt *wire.Time      `json:"expires_at"`
}

// Rights returns an org's rights, or fault.NotFound.
func (s *Service) Rights(ctx context.Context, which id.ID) (*Rights, error) {
	var grants []plans.Grant
	err := s.app.ReadTx(ctx, which, func(tx *postgres.Tx) (err error) {
		if _, err = org.Read(ctx, tx); err != nil {
			return err
		}
		grants, err = plans.Grants(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}

	now, err := s.plans.Of(ctx, which)
	if err != nil {
		return nil, err
	}

	out := &Rights{
		Plan: now.Plan, Status: now.Status, Version: now.Version, Features: map[string]Right{},
		Grants: make([]Grant, len(grants)),
	}
	for name, r := range now.Features {
		out.Features[name] = Right{r.Value, r.Source}
	}

	for i, g := range grants {
		out.Grants[i] = Grant{Feature: g.Feature, Value: g.Value, Source: g.Source, ExpiresAt: g.Expires}
		if !g.ID.IsZero() {
			out.Grants[i].ID = &g.ID
		}
	}

	return out, nil
}

// changeRights runs fn for an org and writes its result to the org's audit log.
func (s *Service) changeRights(ctx context.Context, by By, which id.ID,
	fn func(context.Context, *postgres.Tx) (org.Entry, error),
) error {
	return s.app.Tx(ctx, which, func(tx *postgres.Tx) error {
		if _, err := org.Read(ctx, tx); err != nil {
			return err
		}

		e, err := fn(ctx, tx)
		if err != nil {
			return err
		}

		e.Target = "feature"
		e.Detail["by"] = by.Actor
		e.Detail["reason"] = by.Reason
		org.Audit(ctx, tx, e)

		return nil
	})
}

// Override gives an org another value of a feature than its plan does, until a time or for good (nil).
func (s *Service) Override(ctx context.Context, by By, which id.ID, feature string, value json.RawMessage,
	until *time.Time,
) error {
	return s.changeRights(ctx, by, which, func(ctx context.Context, tx *postgres.Tx) (org.Entry, error) {
		detail := map[string]any{"value": value}
		if until != nil {
			detail["expires_at"] = wire.At(*until)
		}
		return org.Entry{Action: "plan.overridden", ID: feature, Detail: detail},
			s.plans.Override(ctx, tx, feature, value, until)
	})
}

// EndOverride ends an override, or returns fault.NotFound.
func (s *Service) EndOverride(ctx context.Context, by By, which id.ID, feature string) error {
	return s.changeRights(ctx, by, which, func(ctx context.Context, tx *postgres.Tx) (org.Entry, error) {
		return org.Entry{Action: "plan.override_ended", ID: feature, Detail: map[string]any{}},
			s.plans.Revoke(ctx, tx, feature)
	})
}

// Add gives an org more of a feature, on top of its plan, and returns the add-on's id. Without a limit, endless is set;
// for a feature that one has or has not, amount is 0.
func (s *Service) Add(ctx context.Context, by By, which id.ID, feature string, amount int64, endless bool) (addon id.ID,
	err error,
) {
	err = s.changeRights(ctx, by, which, func(ctx context.Context, tx *postgres.Tx) (org.Entry, error) {
		more := amount
		if endless {
			more = plans.Unlimited
		}

		var err error
		addon, err = s.plans.Extend(ctx, tx, feature, more)

		return org.Entry{
			Action: "plan.addon_added", ID: addon.String(),
			Detail: map[string]any{"feature": feature, "amount": amount, "endless": endless},
		}, err
	})
	return addon, err
}

// EndAddOn takes an add-on back, or returns fault.NotFound.
func (s *Service) EndAddOn(ctx context.Context, by By, which, addon id.ID) error {
	return s.changeRights(ctx, by, which, func(ctx context.Context, tx *postgres.Tx) (org.Entry, error) {
		return org.Entry{Action: "plan.addon_ended", ID: addon.String(), Detail: map[string]any{}},
			s.plans.Reduce(ctx, tx, addon)
	})
}

// Usage is how much of its features an org uses.
type Usage struct {
	Features map[string]Use `json:"features"`
	Jobs     Jobs           `json:"jobs"`
}

// Use is the use of one feature. Limit is null without a limit.
type Use struct {
	Used  int64       `json:"used"`
	Limit plans.Value `json:"limit"`
}

// Usage counts an org's use of all features with a number, limited or not, from its rows. It returns fault.NotFound if
// there is no such org.
func (s *Service) Usage(ctx context.Context, which id.ID) (*Usage, error) {
	d, err := s.Show(ctx, which)
	if err != nil {
		return nil, err
	}

	now, err := s.plans.Of(ctx, which)
	if err != nil {
		return nil, err
	}

	out := &Usage{Features: map[string]Use{}, Jobs: d.Jobs}
	use := func(feature string, used int64) {
		out.Features[feature] = Use{Used: used, Limit: now.Features[feature].Value}
	}
	for feature, used := range now.Used {
		use(feature, used)
	}

	var feature string
	var used int64
	err = s.app.ReadTx(ctx, which, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT feature, quota_truth($1, feature)
			FROM (SELECT DISTINCT feature FROM quota_source) AS f`, which)
		if err != nil {
			return err
		}

		_, err = pgx.ForEachRow(rows, []any{&feature, &used}, func() error {
			use(feature, used)
			return nil
		})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count usage: %w", err)
	}

	return out, nil
}
