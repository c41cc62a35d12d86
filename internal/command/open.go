package command

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/emails/mailmetrics"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/migrations"
)

// startServers finds the servers, starting private ones where none are given, and migrates the schema. Redis is left
// out unless redis is set.
func (p *process) startServers(ctx context.Context, redis bool) error {
	if err := p.findServers(ctx, redis); err != nil {
		return err
	}
	return migrations.Up(ctx, p.DatabaseURL, p.log)
}

// findServers finds the servers and leaves the schema alone. Given servers are checked before private ones are started,
// which takes longer.
func (p *process) findServers(ctx context.Context, redis bool) (err error) {
	checkDatabase := func(ctx context.Context) (err error) {
		p.versions.postgres, err = postgres.Check(ctx, p.DatabaseURL)
		return err
	}

	givenDatabase := p.DatabaseURL != ""
	givenRedis := p.RedisURL != ""
	if givenDatabase {
		if err = checkDatabase(ctx); err != nil {
			return err
		}
	}
	if redis && givenRedis {
		if err = p.checkRedis(ctx); err != nil {
			return err
		}
	}

	p.servers, err = local.Start(ctx, local.Wanted{
		Home: p.Home, DatabaseURL: p.DatabaseURL, RedisURL: p.RedisURL, NoRedis: !redis, Repository: p.Repository,
		Log: p.log,
	})
	if err != nil {
		return err
	}

	p.atEnd(p.servers.Close)
	p.tasks = append(p.tasks, p.servers.Watch)
	p.DatabaseURL = p.servers.DatabaseURL
	p.RedisURL = p.servers.RedisURL
	if !givenDatabase {
		if err = checkDatabase(ctx); err != nil {
			return err
		}
	}
	if p.servers.PrivateRedis && !p.servers.RedisInProcess {
		return p.checkRedis(ctx)
	}

	return nil
}

// checkRedis reads the version of Redis. A server that cannot be used is an error; one that is away is none, because
// the process works without Redis until it is back.
func (p *process) checkRedis(ctx context.Context) (err error) {
	p.versions.redis, err = redisx.Check(ctx, p.RedisURL)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}

	at := redisx.Address(p.RedisURL)
	if errors.Is(err, redisx.ErrUnfit) {
		return invalidSetting("redis-url", "REDIS_URL", fmt.Errorf("%s: %w", at, err))
	}

	p.log.WarnContext(ctx, "redis cannot be reached yet", "setting", "REDIS_URL", "address", at, "error", err)

	return nil
}

// openForRole opens everything that a long-running role needs. public and ops are this process's listeners, or nil.
func (p *process) openForRole(ctx context.Context, public, ops net.Listener) error {
	if err := p.openBase(ctx); err != nil {
		return err
	}
	if err := p.openBilling(ctx, public, ops); err != nil {
		return err
	}
	if err := p.openConnectors(public, ops); err != nil {
		return err
	}

	p.sayParts(ctx, ops)
	p.connectAccounts(public)

	return p.customDomains()
}

// openBase opens what every long-running role needs. The CommitEnqueuer is closed after the last transaction.
func (p *process) openBase(ctx context.Context) (err error) {
	if err = p.openTracer(ctx); err != nil {
		return err
	}

	for _, c := range []struct {
		client *redis.UniversalClient
		use    redisx.Profile
	}{{&p.requests, redisx.Request}, {&p.workers, redisx.Worker}} {
		if *c.client, err = redisx.Open(p.RedisURL, c.use); err != nil {
			return err
		}
		if p.tracer != nil {
			(*c.client).AddHook(spans.Redis{})
		}
		p.atEnd(func(context.Context) error { return (*c.client).Close() })
	}

	p.tasks = append(p.tasks, func(ctx context.Context) error { return redisx.Watch(ctx, p.workers, p.log) })
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{
		Redis: p.requests, Log: p.log,
		Metrics: dispatch.NewMetrics(p.metrics),
	})
	pushing, stop := context.WithCancel(context.WithoutCancel(ctx))
	pushed := make(chan error, 1)
	go func() { pushed <- pusher.Run(pushing) }()
	p.atEnd(func(context.Context) error {
		stop()
		return <-pushed
	})

	mails := mailmetrics.NewMetrics(p.metrics)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return mails.Watch(ctx, p.system, p.log) })
	if err = p.openDatabase(ctx, func(ctx context.Context, notes []any) {
		pusher.AfterCommit(ctx, notes)
		mails.AfterCommit(ctx, notes)
	}); err != nil {
		return err
	}
	if err = p.requireKeyset(); err != nil {
		return err
	}
	if err = p.checkInstallation(ctx); err != nil {
		return err
	}
	if err = p.openStandby(ctx); err != nil {
		return err
	}

	present := &keyring.Presence{
		System: p.system, Box: p.box, Columns: jobs.Sealed(), Role: p.name, Log: p.log,
	}
	if err = present.Enter(ctx); err != nil {
		return err
	}

	p.atEnd(func(ctx context.Context) error {
		present.Leave(ctx)
		return nil
	})
	p.tasks = append(p.tasks, present.Run)

	return nil
}

// openStandby opens the reader of what may come from a standby, and the standby's pool if one is configured. A
// scheduler reads nothing of that kind.
func (p *process) openStandby(ctx context.Context) (err error) {
	metrics := standby.NewMetrics(p.metrics)
	if p.ReadURL == "" || p.name == "scheduler" {
		p.reads = standby.Primary(p.app)
		return nil
	}

	p.reads, err = standby.Open(ctx, standby.Options{
		Primary: p.app, PrimaryURL: p.DatabaseURL, URL: p.ReadURL, Pooler: p.Pooler, Name: p.name, Log: p.log,
		Metrics: metrics, Tracer: p.sqlTracer(),
	})
	if err != nil {
		return err
	}

	p.atEnd(func(context.Context) error {
		p.reads.Close()
		return nil
	})
	p.last = append(p.last, p.reads.Run) // requests and runs that end with the process still read

	return nil
}

// openDatabase opens the pools, the keyset, and authentication.
func (p *process) openDatabase(ctx context.Context, afterCommit func(context.Context, []any)) (err error) {
	writes := postgres.NewWrites(p.log)
	for role, db := range map[string]**postgres.DB{postgres.App: &p.app, postgres.System: &p.system} {
		if *db, err = postgres.Open(ctx,
			postgres.Options{
				URL: p.DatabaseURL, Role: role, Pooler: p.Pooler, Name: p.name,
				AfterCommit: afterCommit, Tracer: p.sqlTracer(), Writes: writes,
			}); err != nil {
			return err
		}

		p.atEnd(func(context.Context) error {
			(*db).Close()
			return nil
		})
	}

	if err = p.openKeyset(); err != nil {
		return err
	}

	issuer := p.PublicURL
	if issuer == "" { // not derived from an address: API processes on several ports accept each other's tokens
		issuer = "funnelwork"
	}
	if p.plans, err = plans.Load(p.Plans); err != nil {
		return err
	}

	p.plans = p.plans.Enqueuing(entitlementsync.Kind.Add)
	p.hooks = &webhooks.Service{Box: p.box, Policy: outbound.Policy{AllowPrivate: p.AllowPrivate, Inbox: p.inbox}}
	p.mailboxes = &mailboxes.Service{Box: p.box, AllowPrivate: p.MailAllowPrivate}
	p.auth = auth.New(auth.Options{
		System: p.system, App: p.app, Box: p.box, Issuer: issuer, Redis: p.requests, Unlimited: p.RateLimit == "off",
		Log: p.log, Metrics: auth.NewMetrics(p.metrics),
	})

	return nil
}
