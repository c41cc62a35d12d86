package tokenrevoke

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Job is what the work needs.
type Job struct {
	App, System *postgres.DB
	Social      *social.Service
	Log         *slog.Logger
}

// failed is the outcome of a login whose provider could not be told.
const failed = "not_told"

// Work takes the login out of reach, tells the provider, and erases what is left. Told twice after a crash, a provider
// says that it knows no such token, which is as good.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var (
		e    *social.Ending
		wait time.Duration
	)
	err := j.App.Tx(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		e, wait, err = j.Social.End(ctx, tx, run.Args.Pending)
		return err
	})
	switch {
	case err != nil:
		return err
	case wait > 0:
		return queue.Snooze(wait)
	case e == nil:
		return nil
	}
	outcome, err := j.Social.RevokeEnding(ctx, j.System, run.Org, e)
	if err != nil {
		if !run.Last() {
			return delayed(err)
		}
		j.Log.WarnContext(ctx, "a provider was not told that a login has ended", "platform", e.Platform, "error", err)
		outcome = failed
	}
	if outcome == social.NoApp {
		j.Log.WarnContext(ctx, "a provider was not told that a login has ended: its application is not configured in this process", "platform", e.Platform)
	}
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error { j.Social.Forget(ctx, tx, e, outcome); return nil })
	return nil
}

// delayed waits as long as the provider asks for, where it does.
func delayed(err error) error {
	var e *provider.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return queue.RetryIn(err, e.RetryAfter)
	}
	return err
}
