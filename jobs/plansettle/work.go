// Package plansettle carries an org's rights to where they are looked up, when nobody's request does: at the end of a
// trial, a grace or an override, under a new catalogue, and for the clients of an agency whose plan has changed.
package plansettle

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job settles by a catalogue.
type Job struct{ Plans *plans.Catalogue }

// Handler is the kind with its work. Its effects are rows alone, and settling what is settled changes nothing but the
// version, so it may be asked for too often.
func (j Job) Handler() queue.Handler { return plans.SettleKind.HandleTx(j.Work) }

// Work settles the job's org, or the next of its clients.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[plans.SettleArgs]) error {
	if run.Args.After.IsZero() {
		return j.Plans.Settle(ctx, tx)
	}
	return j.Plans.SettleClients(ctx, tx, run.Args.After)
}
