package adaccountsync

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
)

const page = 500

// Job has the dependencies of the work.
type Job struct {
	Refresher *social.Refresher
	Log       *slog.Logger
}

// Handlers returns the kinds' handlers.
func (j Job) Handlers() []queue.Handler {
	return []queue.Handler{Kind.Handle(j.Work), Daily.Handle(j.Daily)}
}

// Work syncs the accounts of one login. It leaves ended logins and refusals by the provider to the token refresh.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
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

// Daily adds the jobs. A repeated run adds none twice.
func (j Job) Daily(ctx context.Context, run *queue.Run[DailyArgs]) error {
	var after social.Claim
	for {
		grants, err := j.Refresher.AdGrants(ctx, after, page)
		if err != nil || len(grants) == 0 {
			return errors.Join(err, j.warn(ctx))
		}
		err = j.Refresher.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			for _, g := range grants {
				at := run.CreatedAt.Add(
					time.Duration(
						rand.Int64N(int64(social.SyncSpread)))) //nolint:gosec // spreading load, not guarding a secret
				tx.Turn(g.Org)
				if err := Kind.Add(ctx, tx, Args{Grant: g.Grant}, queue.At(at),
					queue.Dedupe("adaccounts.sync@"+g.Grant.String())); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		after = grants[len(grants)-1]
	}
}

// warn enqueues warnings about logins that will end.
func (j Job) warn(ctx context.Context) error {
	for {
		told, err := j.Refresher.Warn(ctx, page, func(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
			return accountwarn.Kind.Add(ctx, tx, accountwarn.Args{Grant: grant})
		})
		if err != nil || told < page {
			return err
		}
	}
}
