package entitlementsync

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Job applies the entitlements of a catalogue.
type Job struct{ Plans *plans.Catalogue }

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.HandleTx(j.Work) }

// Work settles the job's org, or the next of its clients. If a plan has ended because its time is over, Work announces
// it: the entitlements shrink, and the org's data stay unchanged.
func (j Job) Work(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
	switch {
	case !run.Args.After.IsZero():
		return j.Plans.SettleClients(ctx, tx, run.Args.After)
	case run.Args.Until.IsZero():
		return j.Plans.Settle(ctx, tx)
	}

	over, err := j.Plans.Elapse(ctx, tx, run.Args.Until.Time)
	if err != nil || over == nil {
		return err
	}

	org.Audit(ctx, tx, org.Entry{
		Action: "plan.changed", Target: "subscription",
		Detail: map[string]any{"from": over.Plan, "to": over.Plan, "interval": over.Interval, "status": over.After},
	})
	told := events.Plan{Plan: over.Plan, Status: string(over.After), EffectiveAt: wire.At(over.At)}
	if over.Interval != "" {
		told.Interval = &over.Interval
	}

	return events.Announce(ctx, tx,
		events.PlanChanged{Plan: told, Previous: map[string]any{"status": string(over.Before)}})
}
