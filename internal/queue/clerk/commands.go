package clerk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// List prints jobs.
type List struct {
	Fit
	State string `help:"dead, waiting, retry, pushed, running or open." default:"dead"`
	Limit int    `help:"At most so many." default:"50"`
}

// Run is kong's.
func (l *List) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		f, err := l.filter(l.State)
		if err != nil {
			return err
		}
		jobs, _, err := c.Operator.Search(ctx, f, max(l.Limit, 1), nil)
		if err != nil {
			return err
		}
		return table(c, "JOB KIND LANE STATE FAILED SINCE ORG ERROR", jobs, func(j queue.Job) []any {
			since := j.CreatedAt
			if j.DiedAt != nil {
				since = *j.DiedAt
			}
			return []any{j.ID, j.Kind, j.Lane, j.State, fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts), since, j.Org, j.LastError}
		})
	})
}

// Show prints all of one job.
type Show struct {
	Job string `arg:"" help:"Id of the job."`
}

// Run is kong's.
func (s *Show) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
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

// Named are the jobs of an act.
type Named struct {
	Jobs   []string `arg:"" help:"Ids of the jobs."`
	Reason string   `help:"Why, for the audit."`
}

// Retry is run now and redrive by id.
type Retry struct{ Named }

// Run is kong's.
func (r *Retry) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error { return c.act(ctx, r.Reason, r.Jobs, c.Operator.Run) })
}

// Archive makes jobs dead.
type Archive struct{ Named }

// Run is kong's.
func (a *Archive) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error { return c.act(ctx, a.Reason, a.Jobs, c.Operator.Archive) })
}

// Drop deletes jobs, by id or by what fits.
type Drop struct {
	Fit
	Jobs   []string `arg:"" optional:"" help:"Ids of the jobs; or say by flags which."`
	State  string   `help:"State of those that flags say: dead, waiting, retry, pushed or open." default:"dead"`
	Reason string   `required:"" help:"Why, for the audit."`
}

// Run is kong's.
func (d *Drop) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		switch {
		case len(d.Jobs) > 0 && d.Fit != Fit{}:
			return errors.New("either ids or flags that say which jobs")
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
				break // what is left is held
			}
		}
		type dropped struct {
			Dropped int `json:"dropped"`
		}
		return table(c, "DROPPED", []dropped{{total}}, func(d dropped) []any { return []any{d.Dropped} })
	})
}

// Redrive runs dead jobs again at a rate.
type Redrive struct {
	Fit
	Rate   int    `help:"Jobs per second." default:"50"`
	Reason string `help:"Why, for the audit."`
}

// Run is kong's.
func (r *Redrive) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
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

// Redrives prints the newest, or cancels one.
type Redrives struct {
	Cancel string `help:"Id of one to end; what it has moved stays moved."`
	Reason string `help:"Why, for the audit."`
}

// Run is kong's.
func (r *Redrives) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		if r.Cancel != "" {
			which, err := id.Parse(r.Cancel)
			if err != nil {
				return fmt.Errorf("cancel: %w", err)
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

func (c *Clerk) redrives(all ...queue.Redrive) error {
	return table(c, "REDRIVE STATE DONE TOTAL RATE SINCE BY FILTER REASON", all, func(r queue.Redrive) []any {
		state := "goes on"
		switch {
		case r.Cancelled:
			state = "cancelled"
		case r.EndedAt != nil:
			state = "ended"
		}
		filter, _ := json.Marshal(r.Filter) // it was made of JSON
		return []any{r.ID, state, r.Done, r.Total, r.Rate, r.CreatedAt, r.Actor, string(filter), r.Reason}
	})
}

// What is a lane, a kind or an org.
type What struct {
	Scope  string `arg:"" enum:"lane,kind,org" help:"lane, kind or org."`
	Name   string `arg:"" help:"Its name; an org's id."`
	Reason string `help:"Why, for the audit."`
}

// Pause keeps jobs from being started.
type Pause struct{ What }

// Run is kong's.
func (p *Pause) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		if _, err := c.Operator.Pause(ctx, c.by(p.Reason), p.Scope, p.Name); err != nil {
			return err
		}
		return c.pauses(ctx)
	})
}

// Resume ends a pause.
type Resume struct{ What }

// Run is kong's.
func (r *Resume) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		switch changed, err := c.Operator.Resume(ctx, c.by(r.Reason), r.Scope, r.Name); {
		case err != nil:
			return err
		case !changed:
			return fmt.Errorf("%s %s is not paused", r.Scope, r.Name)
		}
		return c.pauses(ctx)
	})
}

// Pauses prints them.
type Pauses struct{}

// Run is kong's.
func (Pauses) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error { return c.pauses(ctx) })
}

func (c *Clerk) pauses(ctx context.Context) error {
	all, err := c.Operator.Pauses(ctx)
	if err != nil {
		return err
	}
	return table(c, "PAUSED NAME SINCE", all, func(p queue.Pause) []any { return []any{p.Scope, p.Name, p.PausedAt} })
}

// Weight sets an org's part of the slots.
type Weight struct {
	Org    string `arg:"" help:"Id of the org."`
	Weight int    `arg:"" help:"1 to 100; 1 is what everybody has."`
	Reason string `help:"Why, for the audit."`
}

// Run is kong's.
func (w *Weight) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
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
		return table(c, "ORG WEIGHT", all, func(w queue.Weight) []any { return []any{w.Org, w.Weight} })
	})
}

// Acts prints the audit.
type Acts struct {
	Limit int `help:"At most so many." default:"50"`
}

// Run is kong's.
func (a *Acts) Run(ctx context.Context, open Opener) error {
	return open(ctx, func(c *Clerk) error {
		acts, err := c.Operator.Acts(ctx, max(a.Limit, 1), nil)
		if err != nil {
			return err
		}
		return table(c, "AT BY ACT COUNT ABOUT REASON", acts, func(a queue.Act) []any {
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
