package command

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/archive"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/queue/backlog"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/scheduler"
	"github.com/funnelwork/funnelwork/worker"
)

// addWorker adds the worker.
func (p *process) addWorker(ctx context.Context) (err error) {
	dir := p.journalDir(ctx)
	d := jobs.Deps{
		App: p.app, System: p.system, Reads: p.reads, Log: p.log, Box: p.box,
		PublicURL:  strings.TrimSuffix(p.PublicURL, "/"),
		Hooks:      p.hooks,
		Calls:      outbound.New(outbound.Options{Policy: p.hooks.Policy, Calls: p.Concurrency}),
		Deliveries: webhookdeliver.NewMetrics(p.metrics), Plans: p.plans, Billing: p.billing,
		Social: p.social, Refresher: p.addRefresher(dir), Domains: p.domains,
		NoMail:      !p.isConfigured(httpx.PartMail) && !p.usesSandbox(httpx.PartMail),
		MailPrivate: p.MailAllowPrivate, MailHelo: p.MailHelo, InboundDomain: p.InboundDomain, AI: p.openModels(),
	}
	d.Keep = p.keepTimes()
	d.Keep.RaiseEvents(p.log)
	if d.Archive, err = p.openArchive(); err != nil {
		return err
	}

	d.Archived = archive.NewMetrics(p.metrics)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return d.Archived.Watch(ctx, p.system, p.log) })
	d.LinkURL = cmp.Or(d.PublicURL, p.links, baseOf(p.Addr))
	d.Outbox = outbox.New(p.app, p.box, inboundmail.Intake(p.app, p.box).FromSandbox, p.log)
	d.Replies = replyjournal.New(ctx, replyjournal.Options{DB: p.app, Dir: dir, Log: p.log, Metrics: p.metrics})
	p.last = append(p.last, d.Outbox.Run, d.Replies.Run) // runs that end with the process still reach them
	if p.SMTPURL != "" {
		if d.SMTP, err = mail.NewSMTP(p.SMTPURL, p.MailFrom); err != nil {
			return err
		}
	}

	p.tasks = append(p.tasks, func(ctx context.Context) error { return d.Deliveries.Watch(ctx, p.system, p.log) })
	w := worker.New(worker.Options{
		App: p.app, System: p.system, Redis: p.workers, Concurrency: p.Concurrency, Log: p.log,
		Metrics: worker.NewMetrics(p.metrics), Tracer: p.tracer, Handlers: jobs.All(d), Hooks: jobs.Hooks(d.PublicURL),
		Watches: jobs.Watches(d),
	})
	p.slots = w
	p.tasks = append(p.tasks, w.Run)

	return nil
}

// journalDir opens the directory in which a worker keeps what Postgres cannot take yet. It returns nil if it cannot be
// written.
func (p *process) journalDir(ctx context.Context) *journal.Dir {
	dir, err := journal.Open(cmp.Or(p.Spool, filepath.Join(p.Home, "spool")))
	if err != nil {
		p.log.WarnContext(ctx, "the home cannot be written: new tokens, and final replies of mail servers while the "+
			"database is away, are in the process alone, and a crash may end a login or leave emails unknown",
			"error", err)
		return nil
	}

	return dir
}

// addRefresher adds and returns the Refresher of the accounts' tokens. Tokens that an earlier process wrote to its disk
// and not to the database are stored when the worker runs.
func (p *process) addRefresher(dir *journal.Dir) *social.Refresher {
	o := social.RefreshOptions{
		Service: p.social, App: p.app, System: p.system, Log: p.log,
		Metrics: social.NewRefreshMetrics(p.metrics),
	}
	if dir != nil {
		o.Spool = social.NewTokenJournal(dir, p.box)
	}

	r := social.NewRefresher(o)
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		return o.Metrics.Watch(ctx, p.system, p.log)
	}, r.Recover)

	return r
}

// countBacklog adds the gauges of the backlog to a scheduler's process, so that there are some while no worker runs. A
// worker has them itself.
func (p *process) countBacklog() {
	c := &backlog.Counter{
		Store: store.New(p.app, p.system), Gauges: backlog.NewGauges(p.metrics), Log: p.log, Every: schedulerCounts,
	}
	p.tasks = append(p.tasks, c.Run)
}

// schedulerCounts is how often a scheduler counts the backlog. An autoscaler that reads its metrics reacts this late.
const schedulerCounts = 15 * time.Second

// addScheduler adds the scheduler.
func (p *process) addScheduler() {
	s := scheduler.New(scheduler.Options{System: p.system, Log: p.log, Metrics: scheduler.NewMetrics(p.metrics)})
	p.tasks = append(p.tasks, s.Run)
}
