package jobscmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue/operator"
)

// List prints jobs.
type List struct {
	Fit
	State string `help:"State: dead, waiting, retry, pushed, running or open." default:"dead"`
	Limit int    `help:"Maximum number of jobs." default:"50"`
}

// Run implements the command.
func (l *List) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		f, err := l.filter(l.State)
		if err != nil {
			return err
		}
		jobs, _, err := c.Operator.Search(ctx, f, max(l.Limit, 1), nil)
		if err != nil {
			return err
		}
		return table(c, "JOB KIND LANE STATE FAILED SINCE ORG ERROR", jobs, func(j operator.Job) []any {
			since := j.CreatedAt
			if j.DiedAt != nil {
				since = *j.DiedAt
			}
			return []any{
				j.ID, j.Kind, j.Lane, j.State, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), since, j.Org,
				j.LastError,
			}
		})
	})
}

// Show prints one job in full.
type Show struct {
	Job string `arg:"" help:"Job id."`
}

// Run implements the command.
func (s *Show) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		keys, err := c.find(ctx, []string{s.Job})
		if err != nil {
			return err
		}
		j, err := c.Operator.Show(ctx, keys[0])
		if err != nil {
			return err
		}
		if j == nil {
			return errNone
		}
		e := json.NewEncoder(c.Out)
		e.SetEscapeHTML(false)
		if !c.JSON {
			e.SetIndent("", "  ")
		}
		return e.Encode(j)
	})
}

// Named is the arguments of a command for jobs by id.
type Named struct {
	Jobs   []string `arg:"" help:"Job ids."`
	Reason Reason   `help:"Reason for the audit log."`
}

// Retry runs jobs now; dead jobs start over.
type Retry struct{ Named }

// Run implements the command.
func (r *Retry) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error { return c.act(ctx, r.Reason, r.Jobs, c.Operator.Run) })
}

// Archive makes jobs dead.
type Archive struct{ Named }

// Run implements the command.
func (a *Archive) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error { return c.act(ctx, a.Reason, a.Jobs, c.Operator.Archive) })
}

// Drop deletes jobs, by id or by filter.
type Drop struct {
	Fit
	Jobs   []string `arg:"" optional:"" help:"Job ids; or select jobs with flags."`
	State  string   `help:"State, with flags: dead, waiting, retry, pushed or open." default:"dead"`
	Reason Reason   `required:"" help:"Reason for the audit log."`
}

// Run implements the command.
func (d *Drop) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		switch {
		case len(d.Jobs) > 0 && d.Fit != Fit{}:
			return errors.New("give either job ids or filter flags, not both")
		case len(d.Jobs) > 0:
			return c.act(ctx, d.Reason, d.Jobs, c.Operator.Drop)
		}
		f, err := d.filter(d.State)
		if err != nil {
			return err
		}
		total := 0
		for more := true; more; {
			var n int
			n, more, err = c.Operator.DropMatching(ctx, c.by(d.Reason), f, time.Minute)
			total += n
			if err != nil {
				return err
			}
			if n == 0 {
				break // runs hold the remaining jobs
			}
		}
		type dropped struct {
			Dropped int `json:"dropped"`
		}
		return table(c, "DROPPED", []dropped{{total}}, func(d dropped) []any { return []any{d.Dropped} })
	})
}

// Redrive reruns dead jobs at a limited rate.
type Redrive struct {
	Fit
	Rate   int    `help:"Jobs per second." default:"50"`
	Reason Reason `help:"Reason for the audit log."`
}

// Run implements the command.
func (r *Redrive) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		f, err := r.filter("")
		if err != nil {
			return err
		}
		out, err := c.Operator.StartRedrive(ctx, c.by(r.Reason), f, r.Rate, c.Redrive)
		if err != nil {
			return err
		}
		return c.redrives(*out)
	})
}

// Redrives prints the newest redrives, or cancels one.
type Redrives struct {
	Cancel string `help:"Id of a redrive to cancel; redriven jobs stay redriven."`
	Reason Reason `help:"Reason for the audit log."`
}

// Run implements the command.
func (r *Redrives) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		if r.Cancel != "" {
			which, err := id.Parse(r.Cancel)
			if err != nil {
				return fmt.Errorf("redrive id: %w", err)
			}
			switch done, err := c.Operator.CancelRedrive(ctx, c.by(r.Reason), which); {
			case err != nil:
				return err
			case !done:
				return errors.New("there is no such redrive, or it has ended")
			}
		}
		all, err := c.Operator.Redrives(ctx)
		if err != nil {
			return err
		}
		return c.redrives(all...)
	})
}

func (c *CLI) redrives(all ...operator.Redrive) error {
	return table(c, "REDRIVE STATE DONE TOTAL RATE SINCE BY FILTER REASON", all, func(r operator.Redrive) []any {
		state := "goes on"
		switch {
		case r.Cancelled:
			state = "cancelled"
		case r.EndedAt != nil:
			state = "ended"
		}
		filter, _ := json.Marshal(r.Filter) // a filter always encodes: it was read from JSON
		return []any{r.ID, state, r.Done, r.Total, r.Rate, r.CreatedAt, r.Actor, string(filter), r.Reason}
	})
}

// What holds the arguments that name a lane, a kind or an org.
type What struct {
	Scope  string `arg:"" enum:"lane,kind,org" help:"Scope: lane, kind or org."`
	Name   string `arg:"" help:"Name of the lane or kind, or org id."`
	Reason Reason `help:"Reason for the audit log."`
}

// Pause keeps jobs from starting.
type Pause struct{ What }

// Run implements the command.
func (p *Pause) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		if _, err := c.Operator.Pause(ctx, c.by(p.Reason), p.Scope, p.Name); err != nil {
			return err
		}
		return c.pauses(ctx)
	})
}

// Resume ends a pause.
type Resume struct{ What }

// Run implements the command.
func (r *Resume) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		switch changed, err := c.Operator.Resume(ctx, c.by(r.Reason), r.Scope, r.Name); {
		case err != nil:
			return err
		case !changed:
			return fmt.Errorf("%s %s is not paused", r.Scope, r.Name)
		}
		return c.pauses(ctx)
	})
}

// Pauses prints the pauses.
type Pauses struct{}

// Run implements the command.
func (Pauses) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error { return c.pauses(ctx) })
}

func (c *CLI) pauses(ctx context.Context) error {
	all, err := c.Operator.Pauses(ctx)
	if err != nil {
		return err
	}
	return table(c, "PAUSED NAME SINCE", all, func(p operator.Pause) []any {
		return []any{p.Scope, p.Name, p.PausedAt}
	})
}

// Weight sets an org's share of the slots.
type Weight struct {
	Org    string `arg:"" help:"Org id."`
	Weight int    `arg:"" help:"Weight from 1 (the default) to 100."`
	Reason Reason `help:"Reason for the audit log."`
}

// Run implements the command.
func (w *Weight) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		org, err := id.Parse(w.Org)
		if err != nil {
			return fmt.Errorf("org: %w", err)
		}
		if _, err := c.Operator.SetWeight(ctx, c.by(w.Reason), org, w.Weight); err != nil {
			return err
		}
		all, err := c.Operator.Weights(ctx)
		if err != nil {
			return err
		}
		return table(c, "ORG WEIGHT", all, func(w operator.Weight) []any { return []any{w.Org, w.Weight} })
	})
}

// Acts prints the audit log.
type Acts struct {
	Limit int `help:"Maximum number of entries." default:"50"`
}

// Run implements the command.
func (a *Acts) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *CLI) error {
		acts, err := c.Operator.AuditLog(ctx, max(a.Limit, 1), nil)
		if err != nil {
			return err
		}
		return table(c, "AT BY ACT COUNT ABOUT REASON", acts, func(a operator.AuditEntry) []any {
			about := a.Scope
			if about == "" && len(a.Jobs) > 0 {
				about = a.Jobs[0].String()
			}
			if len(a.Jobs) > 1 && a.Scope == "" {
				about += fmt.Sprintf(" and %d more", len(a.Jobs)-1)
			}
			return []any{a.At, a.Actor, a.Act, a.Count, about, a.Reason}
		})
	})
}
