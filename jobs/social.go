package jobs

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
	"github.com/funnelwork/funnelwork/jobs/tokenrevoke"
)

// Social returns the social service with what it cannot import itself: the jobs that it enqueues and the org's audit
// log.
func Social(o social.Options) *social.Service {
	o.Revoke = func(ctx context.Context, tx *postgres.Tx, pending id.ID, at time.Time) error {
		if at.IsZero() {
			return tokenrevoke.Kind.Add(ctx, tx, tokenrevoke.Args{Pending: pending})
		}
		return tokenrevoke.Kind.Add(ctx, tx, tokenrevoke.Args{Pending: pending}, queue.At(at))
	}
	o.Tell = func(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
		return accountnotify.Kind.Add(ctx, tx, accountnotify.Args{Grant: grant})
	}
	o.OwnTokens = adaccountssync.Ask
	o.Audit = func(ctx context.Context, tx *postgres.Tx, act social.Act) {
		org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: act.Target, ID: act.ID, Detail: act.Detail})
	}
	return social.New(o)
}
