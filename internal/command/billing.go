package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/jobscmd"
	"github.com/funnelwork/funnelwork/internal/tenants"
)

type billingGroup struct {
	Sync     billingSync     `cmd:"" help:"Make the payment processor's products and prices of the plans; repeatable."`
	Rights   billingRights   `cmd:"" help:"Print what an org may use, why, and how much of it is used."`
	Override billingOverride `cmd:"" help:"Give an org another value of a feature than its plan does."`
	Addon    billingAddon    `cmd:"" name:"addon" help:"Give an org more of a feature, on top of its plan."`
}

type billingSync struct {
	DryRun bool `help:"Say what would be made, and make nothing."`
}

// Run implements the kong command.
func (b *billingSync) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeyset(ctx, "billing", log, func(p *process) error {
		if err := p.openBilling(ctx, nil, nil); err != nil {
			return err
		}
		if p.billing == nil {
			return errors.New("billing is not configured: set STRIPE_SECRET_KEY, or FUNNELWORK_SANDBOXES=stripe " +
				"for the sandbox's prices")
		}

		published, err := sync.New(p.billing).Publish(ctx, b.DryRun)
		for _, one := range published {
			if _, say := fmt.Fprintf(out, "%-8s %-45s %d %s %s\n", one.Done, one.Name, one.Amount, one.Currency,
				one.ID); say != nil {
				return say
			}
		}

		if err == nil && b.DryRun {
			_, err = fmt.Fprintln(out, "nothing was made: this was a dry run")
		}

		return err
	})
}

// grant is the common flags of commands that decide on an org's rights.
type grant struct {
	orgArg
	Actor  string         `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who decides, for the org's audit log."`
	Reason jobscmd.Reason `help:"Why, for the same."`
}

// decideForOrg runs fn for the org.
func (g *grant) decideForOrg(ctx context.Context, s *settings, log *slog.Logger,
	fn func(t *tenants.Service, by tenants.By, which id.ID) error,
) error {
	which, err := g.parseID()
	if err != nil {
		return err
	}
	return withTenants(ctx, s, log, func(t *tenants.Service) error {
		return fn(t, tenants.By{Actor: g.Actor, Reason: string(g.Reason)}, which)
	})
}

// atOrg runs fn in a transaction of the org. It returns an error if there is no such org.
func atOrg(ctx context.Context, s *settings, log *slog.Logger, which string,
	fn func(context.Context, *postgres.Tx, *plans.Catalogue) error,
) error {
	at, err := id.Parse(which)
	if err != nil {
		return fmt.Errorf("org id: %w", err)
	}

	return s.withDatabase(ctx, "billing", log, func(p *process) error {
		return p.app.Tx(ctx, at, func(tx *postgres.Tx) error {
			if _, err := org.Read(ctx, tx); err != nil {
				return err
			}
			return api.Plainly(fn(ctx, tx, p.plans))
		})
	})
}

type billingRights struct {
	Org string `arg:"" help:"Id of the org."`
}

// Run implements the kong command.
func (b *billingRights) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return atOrg(ctx, s, log, b.Org, func(ctx context.Context, tx *postgres.Tx, c *plans.Catalogue) error {
		return c.Print(ctx, tx, out)
	})
}

type billingOverride struct {
	grant
	Feature string    `arg:"" help:"Key of the feature."`
	Value   string    `arg:"" optional:"" help:"As JSON: true, false, number, null (no limit) or quoted word."`
	Until   time.Time `help:"When it ends, such as 2027-01-31T00:00:00Z; never where it is not given."`
	Clear   bool      `help:"End the override instead."`
}

// Run implements the kong command.
func (b *billingOverride) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return b.decideForOrg(ctx, s, log, func(t *tenants.Service, by tenants.By, which id.ID) error {
		if b.Clear {
			return t.EndOverride(ctx, by, which, b.Feature)
		}

		var until *time.Time
		if !b.Until.IsZero() {
			until = &b.Until
		}

		return t.Override(ctx, by, which, b.Feature, json.RawMessage(b.Value), until)
	})
}

type billingAddon struct {
	grant
	Feature string `arg:"" optional:"" help:"Key of the feature."`
	Amount  int64  `arg:"" optional:"" help:"How much more of a limit; none for a feature that one has or has not."`
	Endless bool   `help:"No limit."`
	End     string `help:"Id of an add-on to take back instead."`
}

// Run implements the kong command.
func (b *billingAddon) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return b.decideForOrg(ctx, s, log, func(t *tenants.Service, by tenants.By, which id.ID) error {
		if b.End != "" {
			addon, err := id.Parse(b.End)
			if err != nil {
				return fmt.Errorf("add-on id: %w", err)
			}
			return t.EndAddOn(ctx, by, which, addon)
		}

		addon, err := t.Add(ctx, by, which, b.Feature, b.Amount, b.Endless)
		if err == nil {
			_, err = fmt.Fprintln(out, "addon:", addon)
		}

		return err
	})
}
