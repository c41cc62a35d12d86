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

// partWait is how long a job waits that needs a part which this process lacks.
const partWait = 5 * time.Minute

// billingHandlers are the kinds that need the payment processor. Without billing, what the timetable asks for is done,
// since its next tick asks anew; what one change or event of an org asked for waits until a worker has billing.
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

// mailHandlers are the kinds that end in mail. Without mail nobody is told of what they would tell; a mail that another
// process has written is left for the operator.
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

// postponed is the work of a job whose part is not configured in this process: it waits, and spends no try.
func postponed[A any](log *slog.Logger, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.WarnContext(ctx, "a job waits for a part that is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return queue.Snooze(partWait)
	}
}

// skipped is the work of a job that has nothing to do where its part is not configured.
func skipped[A any](log *slog.Logger, level slog.Level, part string) func(context.Context, *queue.Run[A]) error {
	return func(ctx context.Context, run *queue.Run[A]) error {
		log.Log(ctx, level, "a job was skipped: its part is not configured in this process",
			"part", part, "job_id", run.ID.String(), "org_id", run.Org.String())
		return nil
	}
}
