package jobs

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
)

// Billing returns the billing service with what it cannot import itself: the jobs that it enqueues and the org's audit
// log.
func Billing(o billing.Options) *billing.Service {
	o.Remind = func(ctx context.Context, tx *postgres.Tx, change id.ID) error {
		return billingsettle.Kind.Add(ctx, tx, billingsettle.Args{Change: change},
			queue.In(billingsettle.After))
	}
	o.Arrived = func(ctx context.Context, tx *postgres.Tx, event string) error {
		return stripeevent.Kind.Add(ctx, tx, stripeevent.Args{Event: event})
	}
	o.Audit = func(ctx context.Context, tx *postgres.Tx, act billing.Act) {
		org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: act.Target, ID: act.ID, Detail: act.Detail})
	}
	return billing.New(o)
}
