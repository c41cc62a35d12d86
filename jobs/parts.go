package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/accounttell"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/overagesync"
	"github.com/funnelwork/funnelwork/jobs/prorationsync"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
	"github.com/funnelwork/funnelwork/jobs/systemmail"
	"github.com/funnelwork/funnelwork/jobs/webhooktell"
)

// partWait is how long a job is snoozed if it needs a component that this process lacks.
const partWait = 5 * time.Minute

// billingHandlers returns the kinds that need the payment processor. Without billing, jobs of the timetable are done at
// once, since the next tick enqueues them again. Jobs of one change or event of an org wait for a worker with billing.
func billingHandlers(d *Deps) []queue.Handler {
	if d.Billing == nil {
		return []queue.Handler{
			billingsettle.Kind.Handle(postponed[billingsettle.Args](d.Log, "billing")),
			stripeevent.Kind.Handle(postponed[stripeevent.Args](d.Log, "billing")),
			overagesync.Kind.Handle(skipped[overagesync.Args](d.Log, slog.LevelDebug, "billing")),
			prorationsync.Kind.Handle(skipped[prorationsync.Args](d.Log, slog.LevelDebug, "billing")),
		}
	}
	return []queue.Handler{
		billingsettle.Kind.Handle(billingsettle.Job{Billing: d.Billing}.Work),
		stripeevent.Kind.Handle(stripeevent.Job{Billing: d.Billing}.Work),
		overagesync.Kind.Handle(overagesync.Job{Billing: d.Billing, System: d.System}.Work),
		prorationsync.Kind.Handle(prorationsync.Job{Billing: d.Billing, Log: d.Log}.Work),
	}
}

// mailHandlers returns the kinds that send mail. Without mail, notifications are skipped, and a mail that another
// process has written is left to the operator.
func mailHandlers(d *Deps) []queue.Handler {
	send := systemmail.Job{
		DB: d.App, Box: d.Box, SMTP: d.SMTP, Off: d.NoMail, System: d.System, PublicURL: d.PublicURL,
		Brands: branding.NewResolver(d.App, branding.ByPlan(plans.NewService(d.App, d.Plans).Of)),
	}
	if d.NoMail {
		return []queue.Handler{
			systemmail.Kind.Handle(send.Work),
			accounttell.Kind.Handle(skipped[accounttell.Args](d.Log, slog.LevelInfo, "mail")),
			accountwarn.Kind.Handle(skipped[accountwarn.Args](d.Log, slog.LevelInfo, "mail")),
			webhooktell.Kind.Handle(skipped[webhooktell.Args](d.Log, slog.LevelInfo, "mail")),
		}
	}
	return []queue.Handler{
		systemmail.Kind.Handle(send.Work),
		accounttell.Job{Box: d.Box, Social: d.Social}.Handler(),
		accountwarn.Job{Box: d.Box, Social: d.Social}.Handler(),
		webhooktell.Job{Box: d.Box, Hooks: d.Hooks}.Handler(),
	}
}

// postponed returns the work of a job that needs a component which is not configured in this process: the job waits and
// spends no attempt.
func postponed[A any](log *slog.Logger, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.WarnContext(ctx, "job postponed: its component is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return queue.Snooze(partWait)
	}
}

// skipped returns the work of a job that does nothing if its component is not configured.
func skipped[A any](log *slog.Logger, level slog.Level, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.Log(ctx, level, "job skipped: its component is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return nil
	}
}
