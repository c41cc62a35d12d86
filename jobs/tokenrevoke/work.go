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

// Job has the dependencies of the work.
type Job struct {
	App, System *postgres.DB
	Social      *social.Service
	Log         *slog.Logger
}

// failed is the outcome of a login that could not be revoked at its provider.
const failed = "not_told"

// Work makes the login unusable, revokes it at the provider, and erases the rest. A repeated revocation after a crash
// is harmless: the provider responds that it knows no such token.
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

	if err := run.BeginCall(e.Platform); err != nil {
		return err
	}

	outcome, err := j.Social.RevokeEnding(ctx, j.System, run.Org, e)
	if err != nil {
		if !run.Last() {
			return withRetryAfter(err)
		}
		j.Log.WarnContext(ctx, "login not revoked at its provider", "platform", e.Platform, "error", err)
		outcome = failed
	}
	if outcome == social.NoApp {
		j.Log.WarnContext(ctx,
			"login not revoked at its provider: its application is not configured in this process",
			"platform", e.Platform)
	}
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error {
		j.Social.Forget(ctx, tx, e, outcome)
		return nil
	})
	return nil
}

// withRetryAfter adds the provider's Retry-After to err, if there is one.
func withRetryAfter(err error) error {
	var e *provider.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return queue.RetryIn(err, e.RetryAfter)
	}
	return err
}
