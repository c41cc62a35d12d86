package billingprorationsync

import (
	"context"
	"errors"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	Sync    *sync.Service
	Connect *connect.Service
	Log     *slog.Logger
}

// Work makes one comparison.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if run.Args.Whole {
		r, err := j.Sync.ReconcileAll(ctx)
		j.Log.Log(ctx, logLevel(r.Repaired+r.Failed), "billing reconciled in full", "same", r.Same,
			"repaired", r.Repaired, "failed", r.Failed, "requests", r.Requests)
		return errors.Join(err, j.reconcileAccounts(ctx, true))
	}

	missed, err := j.Sync.FetchMissedEvents(ctx)
	if err != nil {
		return errors.Join(err, j.reconcileAccounts(ctx, false))
	}

	r, err := j.Sync.ReconcileDue(ctx)
	if missed+r.Repaired+r.Failed > 0 {
		j.Log.InfoContext(ctx, "billing repaired", "missed_events", missed, "repaired", r.Repaired, "failed", r.Failed)
	}

	return errors.Join(err, j.reconcileAccounts(ctx, false))
}

// logLevel returns the level of a line about a sync that found so many differences: without any it is for debugging.
func logLevel(differences int) slog.Level {
	if differences == 0 {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// reconcileAccounts reconciles the connected accounts.
func (j Job) reconcileAccounts(ctx context.Context, whole bool) error {
	r, err := j.Connect.ReconcileAccounts(ctx, whole)
	if r.Repaired+r.Failed > 0 || whole {
		j.Log.Log(ctx, logLevel(r.Repaired+r.Failed), "connected accounts reconciled", "whole", whole, "same", r.Same,
			"repaired", r.Repaired, "failed", r.Failed, "requests", r.Requests)
	}
	sales, also := j.Sync.ReconcileSales(ctx)
	if sales.Repaired+sales.Failed > 0 {
		j.Log.InfoContext(ctx, "reseller sales reconciled", "same", sales.Same, "repaired", sales.Repaired, "failed",
			sales.Failed, "requests", sales.Requests)
	}
	return errors.Join(err, also)
}
