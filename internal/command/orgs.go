package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/jobscmd"
	"github.com/funnelwork/funnelwork/internal/tenants"
)

type orgsGroup struct {
	List     orgsList        `cmd:"" help:"Print orgs, newest first."`
	Show     orgsShow        `cmd:"" help:"Print all of an org."`
	Suspend  orgsSuspend     `cmd:"" help:"Refuse an org's calls and hold its jobs; nothing is lost."`
	Resume   orgsResume      `cmd:"" help:"End a suspension."`
	Plan     orgsPlan        `cmd:"" help:"Put an org on a plan that is paid elsewhere or not at all."`
	Rights   orgsRights      `cmd:"" help:"Print what an org may use, and why, as JSON."`
	Override billingOverride `cmd:"" help:"Give an org another value of a feature than its plan does."`
	Addon    billingAddon    `cmd:"" name:"addon" help:"Give an org more of a feature, on top of its plan."`
	Usage    orgsUsage       `cmd:"" help:"Print how much an org uses, as JSON."`
}

// withTenants runs fn with the operators' view of orgs. A fault's field error becomes an error for a command line.
func withTenants(ctx context.Context, s *settings, log *slog.Logger, fn func(*tenants.Service) error) error {
	return s.withDatabase(ctx, "orgs", log, func(p *process) error {
		return api.Plainly(fn(tenants.New(p.app, p.system, p.plans)))
	})
}

// orgArg is the argument of commands about one org.
type orgArg struct {
	Org string `arg:"" help:"Id of the org."`
}

func (o orgArg) parseID() (id.ID, error) {
	which, err := id.Parse(o.Org)
	if err != nil {
		return which, fmt.Errorf("org id: %w", err)
	}
	return which, nil
}

// asJSON writes v as one line, or indented for people.
func asJSON(out io.Writer, v any, people bool) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if people {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}

type orgsList struct {
	JSON   bool   `name:"json" help:"Print one JSON object per line."`
	Search string `help:"Part of the name, the id, or the mail address of a member."`
	Status string `enum:",active,suspended,paused,trial_ended" default:"" help:"Status: active, suspended, paused or trial_ended."` //nolint:lll // a tag cannot be broken
	Plan   string `help:"Key of the plan."`
	Limit  int    `help:"Maximum number of orgs." default:"50"`
}

// Run implements the kong command.
func (l *orgsList) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return withTenants(ctx, s, log, func(t *tenants.Service) error {
		all, err := t.List(ctx, tenants.Filter{Search: l.Search, Status: l.Status, Plan: l.Plan}, nil, max(l.Limit, 1))
		if err != nil {
			return err
		}
		if l.JSON {
			for _, o := range all {
				if err := asJSON(out, o, false); err != nil {
					return err
				}
			}
			return nil
		}

		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ORG\tSTATUS\tPLAN\tSUBSCRIPTION\tSINCE\tNAME")
		for _, o := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%q\n", o.ID, o.Status, o.Plan, o.Subscription,
				o.CreatedAt.Format(time.DateOnly), o.Name)
		}

		return w.Flush()
	})
}

type orgsShow struct{ orgArg }

// Run implements the kong command.
func (c *orgsShow) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return aboutOrg(ctx, s, log, c.orgArg, out, func(t *tenants.Service, which id.ID) (any, error) {
		return t.Show(ctx, which)
	})
}

type orgsUsage struct{ orgArg }

// Run implements the kong command.
func (c *orgsUsage) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return aboutOrg(ctx, s, log, c.orgArg, out, func(t *tenants.Service, which id.ID) (any, error) {
		return t.Usage(ctx, which)
	})
}

type orgsRights struct{ orgArg }

// Run implements the kong command.
func (c *orgsRights) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return aboutOrg(ctx, s, log, c.orgArg, out, func(t *tenants.Service, which id.ID) (any, error) {
		return t.Rights(ctx, which)
	})
}

type orgsSuspend struct {
	orgArg
	Actor  string         `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who decides, for the logs."`
	Reason jobscmd.Reason `required:"" help:"Why, for the same."`
}

// Run implements the kong command.
func (c *orgsSuspend) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return aboutOrg(ctx, s, log, c.orgArg, out, func(t *tenants.Service, which id.ID) (any, error) {
		return t.Suspend(ctx, tenants.By{Actor: c.Actor, Reason: string(c.Reason)}, which)
	})
}

type orgsResume struct {
	orgArg
	Actor  string         `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who decides, for the logs."`
	Reason jobscmd.Reason `help:"Why, for the same."`
}

// Run implements the kong command.
func (c *orgsResume) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return aboutOrg(ctx, s, log, c.orgArg, out, func(t *tenants.Service, which id.ID) (any, error) {
		return t.Resume(ctx, tenants.By{Actor: c.Actor, Reason: string(c.Reason)}, which)
	})
}

type orgsPlan struct {
	grant
	Plan string `arg:"" help:"Key of the plan."`
}

// Run implements the kong command.
func (c *orgsPlan) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return c.decideForOrg(ctx, s, log, func(t *tenants.Service, by tenants.By, which id.ID) error {
		return t.SetPlan(ctx, by, which, c.Plan)
	})
}

// aboutOrg prints what fn returns for an org.
func aboutOrg(ctx context.Context, s *settings, log *slog.Logger, org orgArg, out io.Writer,
	fn func(*tenants.Service, id.ID) (any, error),
) error {
	which, err := org.parseID()
	if err != nil {
		return err
	}

	return withTenants(ctx, s, log, func(t *tenants.Service) error {
		v, err := fn(t, which)
		if err != nil {
			return err
		}
		return asJSON(out, v, true)
	})
}
