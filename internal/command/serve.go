package command

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/look"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/start"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/tenants"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
)

// addServer adds the API server on ln.
func (p *process) addServer(ln net.Listener) {
	d := api.Deps{
		DB: p.app, System: p.system, Reads: p.reads, Log: p.log, Auth: p.auth, Box: p.box,
		Metrics: httpx.NewMetrics(p.metrics), Tracer: p.tracer,
		Requests:  requestlog.NewRecorder(p.system, p.log, requestlog.NewMetrics(p.metrics)),
		PublicURL: strings.TrimSuffix(p.PublicURL, "/"), CORSOrigins: p.CORSOrigins, SignupOff: !p.signupOpen(ln),
		Hooks: p.hooks, Mailboxes: p.mailboxes,
		Emails: &emails.Service{
			Box: p.box, Mailboxes: p.mailboxes, Suppressions: &suppression.Service{Box: p.box},
			ResolveAfter: p.MailResolveAfter, InboundDomain: p.InboundDomain,
		},
		Plans: plans.NewService(p.app, p.plans), Billing: p.billing, TrialDays: p.trialDays(), Social: p.social,
		Domains: p.domains, Hosts: p.hosts, AI: p.openModels(), Tokens: limits.NewTokens(p.requests, p.log),
		Streams:       limits.NewLeases(p.requests, p.log),
		AIPerMinute:   p.AIPerMinute,
		NotConfigured: p.notConfigured(), DrainDelay: p.drainDelay(p.name),
	}
	if d.PublicURL == "" {
		d.PublicURL = listenerURL(ln)
	}

	d.Emails.PublicURL = d.PublicURL
	p.links = d.PublicURL
	for _, n := range p.Proxies {
		d.TrustedProxies = append(d.TrustedProxies, netip.Prefix(n))
	}

	if p.RateLimit == "on" {
		d.Limits = limits.New(limits.Options{Redis: p.requests, Log: p.log, Metrics: limits.NewMetrics(p.metrics)})
		p.atEnd(func(context.Context) error {
			d.Limits.Close() // it bounds itself
			return nil
		})
	}

	p.atEnd(func(ctx context.Context) error {
		d.Requests.Close(ctx)
		return nil
	})

	a := api.New(d)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return a.Serve(ctx, ln) })
	p.watchPublicURL()
}

// checkKeyset returns ops.ErrKeyset if the keyset does not open what is sealed now. A process that lacks a key that was
// promoted while it was running is not ready from then on, and ends when it next registers.
func (p *process) checkKeyset(ctx context.Context) error {
	err := keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}.Check(ctx)
	if errors.Is(err, keyring.ErrLacking) {
		return ops.ErrKeyset
	}
	return err
}

// signupOpen reports whether strangers may sign up at the listener. Unless the setting decides, they may where up
// listens on loopback, for trying out.
func (p *process) signupOpen(ln net.Listener) bool {
	if p.Signup != "auto" {
		return p.Signup == "on"
	}
	addr, err := netip.ParseAddrPort(ln.Addr().String())
	return p.name == "up" && err == nil && addr.Addr().Unmap().IsLoopback()
}

// takeMails adds the listener for incoming mails, if there is one.
func (p *process) takeMails(ctx context.Context) error {
	if p.InboundAddr == "" {
		return nil
	}

	addr, lmtp := strings.CutPrefix(p.InboundAddr, "lmtp://")
	ln, err := p.listen(ctx, "inbound-addr", "FUNNELWORK_INBOUND_ADDR", addr)
	if err != nil {
		return err
	}

	s := &listener.Server{
		Inbound: inboundmail.Intake(p.app, p.box), Log: p.log, LMTP: lmtp, Metrics: listener.NewMetrics(p.metrics),
	}
	for _, n := range p.InboundTrusted {
		s.Trusted = append(s.Trusted, netip.Prefix(n))
	}

	p.tasks = append(p.tasks, func(ctx context.Context) error { return s.Serve(ctx, ln) })

	return nil
}

// sandboxPages returns the handlers of the sandboxes in use, by path, with the start page of all.
func (p *process) sandboxPages() map[string]http.Handler {
	mounts := map[string]http.Handler{}
	var pages []start.Sandbox
	mount := func(name, path, text string, h http.Handler) {
		mounts[path] = h
		pages = append(pages, start.Sandbox{Name: name, Path: path, Text: text})
	}

	mount("Outbox", outbox.Path, "Mails to contacts from sandbox mailboxes, with their text, HTML, links and source.",
		outbox.Handler(p.system, p.box, p.log))
	if p.usesSandbox(httpx.PartMail) {
		mount("Platform mails", mailbox.Path, "Invitations, password resets and notices to users.",
			mailbox.Handler(p.system, p.box, p.log))
	}
	if p.inbox != "" {
		mount("Webhook inbox", inbox.Path, "A URL to subscribe, and what arrived there, with its signatures checked.",
			inbox.Handler(inbox.Options{System: p.system, Hooks: p.hooks, URL: p.inbox, Log: p.log}))
	}
	if p.stripe != nil {
		mount("Stripe", stripe.Path,
			"Customers, subscriptions and payments; cards that decline or ask for 3DS; the clock.",
			p.stripe.Handler())
	}
	if p.oauth != nil {
		mount("Social and ad platforms", oauth.Path, "Logins of the platforms, their tokens, and how they fail.",
			p.oauth.Handler())
	}

	mounts[start.Path] = start.Handler(pages, p.log)
	mounts[look.Path] = look.Handler()

	return mounts
}

// addOpsServer adds the ops server on ln.
func (p *process) addOpsServer(ln net.Listener) error {
	mounts := p.sandboxPages()
	if p.name != "scheduler" && p.openModels() != nil {
		mounts[ai.PagePath] = p.models.Page()
	}
	ready := map[string]func(context.Context) error{}
	if p.box != nil {
		ready["keyset"] = p.checkKeyset
	}
	if p.published != nil {
		ready["prices"] = p.onSale
	}

	var serves func(string) bool
	if p.hosts != nil {
		serves = p.hosts.Serves
	}

	listener, err := ops.New(ops.Options{
		Serves: serves, Role: p.name, Log: p.log, Metrics: p.metrics, DB: p.app, System: p.system,
		Hooks: jobs.Hooks(p.PublicURL), Aliases: jobs.Aliases(), DatabaseURL: p.DatabaseURL, RedisURL: p.RedisURL,
		User: p.OpsUser, Password: p.OpsPassword, Hosts: p.OpsHosts, ReadOnly: p.OpsReadOnly, Worker: p.slots,
		Mounts: mounts, Receivers: []string{inbox.Path}, Ending: p.ending.Load,
		NotConfigured: p.notConfigured(), Ready: ready, Orgs: tenants.New(p.app, p.system, p.plans),
	})
	ops.CollectPool(p.metrics, "app", p.app)
	ops.CollectPool(p.metrics, "system", p.system)
	ops.CollectWrites(p.metrics, p.app.Writes())
	ops.CollectClock(p.metrics, p.system)
	if pool := p.reads.Pool(); pool != nil {
		ops.CollectPool(p.metrics, "standby", pool)
	}
	if err == nil {
		p.last = append(p.last, func(ctx context.Context) error { return listener.Serve(ctx, ln) })
	}

	return err
}
