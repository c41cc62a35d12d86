package adaccountssync

import (
	"context"
	"errors"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Job has the dependencies of the work.
type Job struct {
	Refresher *social.Refresher
	Log       *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work syncs the accounts of one login. It leaves ended logins and refusals by the provider to the token refresh.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if platform, err := j.Refresher.Platform(ctx, run.Org, run.Args.Grant); err == nil { // else SyncAccounts fails
		if err := run.BeginCall(platform); err != nil {
			return err
		}
	}
	done, err := j.Refresher.SyncAccounts(ctx, run.Org, run.Args.Grant)
	var said *provider.Error
	switch {
	case errors.Is(err, social.ErrReauth), errors.Is(err, provider.ErrUnconfigured),
		errors.Is(err, provider.ErrUnknownPlatform):
		return nil
	case errors.As(err, &said) && said.Class == provider.Throttled:
		return queue.Snooze(said.RetryAfter)
	case errors.As(err, &said) &&
		(said.Class == provider.Dead || said.Class == provider.Stale || said.Class == provider.Misconfigured):
		j.Log.WarnContext(ctx, "provider refused to list accounts", "grant_id",
			run.Args.Grant.String(), "class", string(said.Class), "code", said.Code)
		return nil
	case err != nil:
		return err
	}

	if done != (social.Synced{}) {
		j.Log.InfoContext(ctx, "accounts synced", "renamed", done.Renamed, "gone",
			done.Gone, "back", done.Back, "tokens", done.Tokens)
	}

	return nil
}
