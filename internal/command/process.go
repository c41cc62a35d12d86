package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// process is a running command. What it opened is closed in reverse order when it ends.
type process struct {
	*settings
	name              string
	log               *slog.Logger
	metrics           *prometheus.Registry
	servers           *local.Servers
	versions          struct{ postgres, redis string } // of the servers, such as "15.14"; "" if unknown
	box               *secret.Sealer
	app, system       *postgres.DB          // enqueue jobs in Redis after commits, if there is Redis
	reads             *standby.Reader       // nil in commands that end by themselves
	requests, workers redis.UniversalClient // nil in commands that end by themselves
	auth              *auth.Service
	inbox             string // URL of the sandbox's webhook inbox, "" for none
	hooks             *webhooks.Service
	mailboxes         *mailboxes.Service
	slots             ops.Slots     // the worker's slots, if the process has one
	tracer            *spans.Tracer // nil if nothing is traced
	plans             *plans.Catalogue
	billing           *billing.Service // nil if not configured
	social            *social.Service
	domains           *branding.Domains
	hosts             *branding.Hosts // nil in a process without the API
	models            *ai.Client      // nil until they are opened, or there are none
	stripe            *stripe.Sandbox // nil if there is a key, or no billing
	// closed when the sandbox's prices are published; nil if this process publishes none
	published chan struct{}
	providers *provider.Set
	oauth     *oauth.Sandbox // nil if all client ids are set, or there is no sandbox
	links     string         // base of the links in mails, where this process knows it better than its settings
	tasks     []func(context.Context) error
	last      []func(context.Context) error // outlive the tasks
	ending    atomic.Bool                   // the tasks have been asked to end
	undo      []func(context.Context) error
}

func (s *settings) newProcess(name string, log *slog.Logger) *process {
	return &process{settings: s, name: name, log: log.With("role", name), metrics: prometheus.NewRegistry()}
}

// atEnd registers a cleanup, which runs before those registered earlier.
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

// run runs the tasks until ctx ends or one of them fails, and waits for all. The last ones continue until the others
// have ended, so that a drain can be watched.
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

// listen opens the listener of the setting with that flag and environment variable. A command listens before it does
// anything else, because a busy port is the commonest reason to stop.
func (p *process) listen(ctx context.Context, flag, env, addr string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w; stop the program that listens there, or give another address", err)
		}
		return nil, invalidSetting(flag, env, fmt.Errorf("listen on %s: %w", addr, err))
	}

	p.atEnd(func(context.Context) error {
		_ = ln.Close()
		return nil
	}) // again, if the command ends before it serves

	return ln, nil
}

// listenAPI opens the API's listener.
func (p *process) listenAPI(ctx context.Context) (net.Listener, error) {
	return p.listen(ctx, "addr", "FUNNELWORK_ADDR", p.Addr)
}

// listenOps opens the ops listener's port, and returns immediately the errors that serving it would return: otherwise a
// user could be seeded without the password ever being shown.
func (p *process) listenOps(ctx context.Context) (net.Listener, error) {
	ln, err := p.listen(ctx, "ops-addr", "FUNNELWORK_OPS_ADDR", p.OpsAddr)
	if err != nil {
		return nil, err
	}
	return ln, ops.CheckAddress(ln.Addr(), p.OpsUser, p.OpsPassword)
}

// listenerURL returns the URL at which a listener can be called from this machine.
func listenerURL(ln net.Listener) string { return baseOf(ln.Addr().String()) }

// baseOf returns the base URL of the API on an address.
func baseOf(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
