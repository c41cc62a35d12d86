package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
	"github.com/funnelwork/funnelwork/jobs/billingoverage"
	"github.com/funnelwork/funnelwork/jobs/billingprorationsync"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
	"github.com/funnelwork/funnelwork/jobs/webhooknotify"
)

// partWait is how long a job is snoozed if it needs a component that this process lacks.
const partWait = 5 * time.Minute

// billingHandlers returns the kinds that need the payment processor. Without billing, jobs of the timetable are done at
// once, since the next tick enqueues them again. Jobs of one change or event of an org wait for a worker with billing.
func billingHandlers(d *Deps) []queue.Handler {
	if d.Billing == nil {
		return []queue.Handler{
			billingsettle.Kind.Handle(postponedWork[billingsettle.Args](d.Log, "billing")),
			stripeevent.Kind.Handle(postponedWork[stripeevent.Args](d.Log, "billing")),
			billingoverage.Kind.Handle(skippedWork[billingoverage.Args](d.Log, slog.LevelDebug, "billing")),
			billingprorationsync.Kind.Handle(skippedWork[billingprorationsync.Args](d.Log, slog.LevelDebug, "billing")),
		}
	}

	mirror := sync.New(d.Billing)
	return []queue.Handler{
		billingsettle.Kind.Handle(billingsettle.Job{Changes: change.New(d.Billing)}.Work),
		stripeevent.Kind.Handle(stripeevent.Job{Events: mirror}.Work),
		billingoverage.Kind.Handle(billingoverage.Job{Sync: mirror, System: d.System}.Work),
		billingprorationsync.Kind.Handle(billingprorationsync.Job{
			Sync: mirror, Connect: connect.New(d.Billing), Log: d.Log,
		}.Work),
	}
}

// mailHandlers returns the kinds that send mail. Without mail, notifications are skipped, and a mail that another
// process has written is left to the operator.
func mailHandlers(d *Deps) []queue.Handler {
	send := mailsystem.Job{
		DB: d.App, Box: d.Box, SMTP: d.SMTP, Off: d.NoMail, System: d.System, PublicURL: d.PublicURL,
		Brands: branding.NewResolver(d.App, branding.ByPlan(plans.NewService(d.App, d.Plans).Of)),
	}
	if d.NoMail {
		return []queue.Handler{
			mailsystem.Kind.Handle(send.Work),
			accountnotify.Kind.Handle(skippedWork[accountnotify.Args](d.Log, slog.LevelInfo, "mail")),
			accountwarn.Kind.Handle(skippedWork[accountwarn.Args](d.Log, slog.LevelInfo, "mail")),
			webhooknotify.Kind.Handle(skippedWork[webhooknotify.Args](d.Log, slog.LevelInfo, "mail")),
		}
	}

	return []queue.Handler{
		mailsystem.Kind.Handle(send.Work),
		accountnotify.Job{Box: d.Box, Social: d.Social}.Handler(),
		accountwarn.Job{Box: d.Box, Social: d.Social}.Handler(),
		webhooknotify.Job{Box: d.Box, Hooks: d.Hooks}.Handler(),
	}
}

// postponedWork returns the work of a job that needs a component which is not configured in this process: the job waits
// and spends no attempt.
func postponedWork[A any](log *slog.Logger, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.WarnContext(ctx, "job postponed: its component is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return queue.Snooze(partWait)
	}
}

// skippedWork returns the work of a job that does nothing if its component is not configured.
func skippedWork[A any](log *slog.Logger, level slog.Level, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.Log(ctx, level, "job skipped: its component is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return nil
	}
}
