package command

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/migrations"
)

// process is a command at work. What it opened is closed in reverse when it ends.
type process struct {
	*settings
	name              string
	log               *slog.Logger
	metrics           *prometheus.Registry
	servers           *local.Servers
	box               *secret.Box
	app, system       *postgres.DB          // commits push their jobs to Redis, where there is one
	requests, workers redis.UniversalClient // nil in commands that end by themselves
	auth              *auth.Service
	inbox             string // URL of the sandbox's webhook inbox, "" for none
	hooks             *webhooks.Service
	slots             api.Slots // the worker's, in a process that has one
	plans             *plans.Catalogue
	billing           *billing.Service
	social            *social.Service
	domains           *branding.Domains
	hosts             *branding.Hosts // nil in a process without the API
	stripe            *stripe.Sandbox // nil where there is a key
	providers         *provider.Set
	oauth             *oauth.Sandbox // nil where there are client ids for all
	tasks             []func(context.Context) error
	last              []func(context.Context) error // outlive the tasks
	ending            atomic.Bool                   // the tasks have been told to end
	undo              []func(context.Context) error
}

func (s *settings) process(name string, log *slog.Logger) *process {
	return &process{settings: s, name: name, log: log.With("role", name), metrics: prometheus.NewRegistry()}
}

// atEnd adds what is done at the end, before everything that was added earlier.
func (p *process) atEnd(undo func(context.Context) error) { p.undo = append(p.undo, undo) }

func (p *process) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var errs []error
	for _, undo := range slices.Backward(p.undo) {
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}

// run runs the tasks until ctx ends or one of them fails, and waits for all. The last ones go on until the others have
// ended, so that a drain can be watched.
func (p *process) run(ctx context.Context) error {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, task := range p.tasks {
		g.Go(func() error { return task(ctx) })
	}
	var last errgroup.Group
	failed := make(chan error, len(p.last))
	for _, task := range p.last {
		last.Go(func() error {
			err := task(watching)
			failed <- err
			return err
		})
	}
	g.Go(func() error {
		defer p.ending.Store(true)
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		}
	})
	err := g.Wait()
	stop()
	if end := last.Wait(); err == nil {
		err = end
	}
	return err
}

// listen takes a port; first of all, since a busy one is the commonest reason to stop.
func (p *process) listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		p.atEnd(func(context.Context) error { _ = ln.Close(); return nil }) // again, where nobody came to serve
	}
	return ln, err
}

// listenOps takes the ops listener's port, and refuses at once what would be refused when it serves: by then
// somebody would have been seeded whose password nobody gets to see.
func (p *process) listenOps(ctx context.Context) (net.Listener, error) {
	ln, err := p.listen(ctx, p.OpsAddr)
	if err != nil {
		return nil, err
	}
	return ln, api.CheckOps(ln.Addr(), p.OpsUser, p.OpsPassword)
}

// base is the URL at which a listener can be called from this machine.
func base(ln net.Listener) string {
	host, port, _ := net.SplitHostPort(ln.Addr().String())
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// start finds the servers, starting private ones where none are given, and brings the schema up to date.
func (p *process) start(ctx context.Context, redis bool) error {
	if err := p.connect(ctx, redis); err != nil {
		return err
	}
	return migrations.Up(ctx, p.DatabaseURL, p.log)
}

// connect is start without a touch of the schema.
func (p *process) connect(ctx context.Context, redis bool) (err error) {
	p.servers, err = local.Start(ctx, local.Wanted{
		Home: p.Home, DatabaseURL: p.DatabaseURL, RedisURL: p.RedisURL, NoRedis: !redis, Repository: p.Repository, Log: p.log,
	})
	if err != nil {
		return err
	}
	p.atEnd(p.servers.Close)
	p.tasks = append(p.tasks, p.servers.Watch)
	p.DatabaseURL, p.RedisURL = p.servers.DatabaseURL, p.servers.RedisURL
	return postgres.Check(ctx, p.DatabaseURL)
}

// furnish opens all that long-running roles are wired of. public and ops are this process's listeners; nil where it has none.
func (p *process) furnish(ctx context.Context, public, ops net.Listener) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	if err := p.bill(ctx, public, ops); err != nil {
		return err
	}
	if err := p.connectors(ctx, public, ops); err != nil {
		return err
	}
	p.connectAccounts(public)
	return p.customDomains()
}

// open opens what every long-running role needs. The pusher ends after the last transaction.
func (p *process) open(ctx context.Context) (err error) {
	for _, c := range []struct {
		client *redis.UniversalClient
		use    redisx.Use
	}{{&p.requests, redisx.Request}, {&p.workers, redisx.Worker}} {
		if *c.client, err = redisx.Open(p.RedisURL, c.use); err != nil {
			return err
		}
		p.atEnd(func(context.Context) error { return (*c.client).Close() })
	}
	pusher := queue.NewPusher(queue.PusherOptions{Redis: p.requests, Log: p.log, Metrics: queue.NewMetrics(p.metrics)})
	pushing, stop := context.WithCancel(context.WithoutCancel(ctx))
	pushed := make(chan error, 1)
	go func() { pushed <- pusher.Run(pushing) }()
	p.atEnd(func(context.Context) error { stop(); return <-pushed })
	if err = p.openDatabase(ctx, pusher.AfterCommit); err != nil {
		return err
	}
	present := &keyring.Presence{System: p.system, Box: p.box, Role: p.name, Log: p.log}
	if err = present.Enter(ctx); err != nil {
		return err
	}
	p.atEnd(func(ctx context.Context) error { present.Leave(ctx); return nil })
	p.tasks = append(p.tasks, present.Run)
	return nil
}

// openDatabase opens the pools, the keyset, and what checks credentials.
func (p *process) openDatabase(ctx context.Context, afterCommit func(context.Context, []any)) (err error) {
	for role, db := range map[string]**postgres.DB{postgres.App: &p.app, postgres.System: &p.system} {
		if *db, err = postgres.Open(ctx, postgres.Options{URL: p.DatabaseURL, Role: role, Pooler: p.Pooler, Name: p.name, AfterCommit: afterCommit}); err != nil {
			return err
		}
		p.atEnd(func(context.Context) error { (*db).Close(); return nil })
	}
	if p.Keyset != "" {
		p.box, err = secret.Parse(p.Keyset)
	} else if err = os.MkdirAll(p.Home, 0o700); err == nil {
		p.box, err = secret.Create(p.keysetFile())
	}
	if err != nil {
		return err
	}
	issuer := p.PublicURL
	if issuer == "" { // not made of an address: API processes on several ports take each other's tokens
		issuer = "funnelwork"
	}
	if p.plans, err = plans.Load(p.Plans); err != nil {
		return err
	}
	p.hooks = &webhooks.Service{Box: p.box, Policy: outbound.Policy{AllowPrivate: p.AllowPrivate, Inbox: p.inbox}}
	p.auth = auth.New(auth.Options{
		System: p.system, App: p.app, Box: p.box, Issuer: issuer, Redis: p.requests, Unlimited: p.RateLimit == "off",
		Log: p.log, Metrics: auth.NewMetrics(p.metrics),
	})
	return nil
}
