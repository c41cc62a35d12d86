package command

import (
	"context"
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
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/look"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
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
		PublicURL: strings.TrimSuffix(p.PublicURL, "/"), CORSOrigins: p.CORSOrigins, SignupOff: p.Signup == "off",
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

	a := api.New(d)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return a.Serve(ctx, ln) })
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

// addOpsServer adds the ops server on ln.
func (p *process) addOpsServer(ln net.Listener) error {
	mounts := map[string]http.Handler{outbox.Path: outbox.Handler(p.system, p.box, p.log)}
	if p.usesSandbox(httpx.PartMail) {
		mounts[mailbox.Path] = mailbox.Handler(p.system, p.box, p.log)
	}
	if p.stripe != nil {
		mounts[stripe.Path] = p.stripe.Handler()
	}
	if p.oauth != nil {
		mounts[oauth.Path] = p.oauth.Handler()
	}
	if p.inbox != "" {
		mounts[inbox.Path] = inbox.Handler(inbox.Options{System: p.system, Hooks: p.hooks, URL: p.inbox, Log: p.log})
	}

	if p.name != "scheduler" && p.openModels() != nil {
		mounts[ai.PagePath] = p.models.Page()
	}

	mounts[look.Path] = look.Handler()
	ready := map[string]func(context.Context) error{}
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
