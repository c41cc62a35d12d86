package adaccountsdaily

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
)

const page = 500

// Job has the dependencies of the work.
type Job struct{ Refresher *social.Refresher }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work adds the jobs. A repeated run adds none twice.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var after social.Claim
	for {
		grants, err := j.Refresher.AdGrants(ctx, after, page)
		if err != nil || len(grants) == 0 {
			return errors.Join(err, j.enqueueWarnings(ctx))
		}
		err = j.Refresher.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			for _, g := range grants {
				wait := rand.N(social.SyncSpread) //nolint:gosec // spreading load, not guarding a secret
				tx.Turn(g.Org)
				if err := adaccountssync.Kind.Add(ctx, tx, adaccountssync.Args{Grant: g.Grant}, queue.In(wait),
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

// enqueueWarnings enqueues warnings about logins that will end.
func (j Job) enqueueWarnings(ctx context.Context) error {
	for {
		told, err := j.Refresher.Warn(ctx, page, func(ctx context.Context, tx *postgres.Tx, grant id.ID) error {
			return accountwarn.Kind.Add(ctx, tx, accountwarn.Args{Grant: grant})
		})
		if err != nil || told < page {
			return err
		}
	}
}
