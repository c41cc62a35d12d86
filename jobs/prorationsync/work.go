package prorationsync

import (
	"context"
	"errors"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job is what the work needs.
type Job struct {
	Billing *billing.Service
	Log     *slog.Logger
}

// Work makes one comparison.
func (j Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	if run.Args.Whole {
		r, err := j.Billing.Whole(ctx)
		j.Log.InfoContext(ctx, "billing synced as a whole", "same", r.Same, "repaired", r.Repaired, "failed", r.Failed, "requests", r.Requests)
		return errors.Join(err, j.accounts(ctx, true))
	}
	missed, err := j.Billing.Missed(ctx)
	if err != nil {
		return errors.Join(err, j.accounts(ctx, false))
	}
	r, err := j.Billing.Due(ctx)
	if missed+r.Repaired+r.Failed > 0 {
		j.Log.InfoContext(ctx, "billing synced", "missed_events", missed, "repaired", r.Repaired, "failed", r.Failed)
	}
	return errors.Join(err, j.accounts(ctx, false))
}

// accounts compares the connected accounts.
func (j Job) accounts(ctx context.Context, whole bool) error {
	r, err := j.Billing.Accounts(ctx, whole)
	if r.Repaired+r.Failed > 0 || whole {
		j.Log.InfoContext(ctx, "connected accounts synced", "whole", whole, "same", r.Same, "repaired", r.Repaired, "failed", r.Failed, "requests", r.Requests)
	}
	sales, also := j.Billing.Sales(ctx)
	if sales.Repaired+sales.Failed > 0 {
		j.Log.InfoContext(ctx, "sales of resellers synced", "same", sales.Same, "repaired", sales.Repaired, "failed", sales.Failed, "requests", sales.Requests)
	}
	return errors.Join(err, also)
}
