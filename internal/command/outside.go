package command

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/sandbox/model"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/jobs"
)

// bill opens billing, on the sandbox where no key is set. public and ops are this process's listeners; nil where it has
// none. The process that serves the API is also the sandbox's: it lets the sandbox's time go by, sends its webhooks to
// itself, which it reaches wherever it runs, and publishes its prices.
func (p *process) bill(ctx context.Context, public, ops net.Listener) (err error) {
	o := billing.Options{
		App: p.app, System: p.system, Catalogue: p.plans, Secret: p.StripeHook, ConnectSecret: p.StripeOthers, Log: p.log, Metrics: billing.NewMetrics(p.metrics),
		Account: billing.Account{Key: p.StripeKey, URL: p.StripeURL, Log: p.log},
	}
	if p.StripeKey == "" {
		page := stripe.Path
		if ops != nil {
			page = base(ops) + stripe.Path
		}
		p.stripe = stripe.New(stripe.Options{Store: stripe.Postgres{System: p.system}, Log: p.log, PageURL: page})
		p.atEnd(func(context.Context) error { p.stripe.Close(); return nil })
		o.Account = billing.Account{Key: "sk_test_sandbox", URL: "http://stripe.sandbox", HTTP: &http.Client{Transport: p.stripe.Transport()}, Log: p.log}
		o.Now = clock(p.stripe) //nolint:contextcheck // a clock is asked by whoever, and has no context
		if public != nil {
			hook := base(public) + "/billing/stripe/"
			if o.Secret, err = p.stripe.Ensure(ctx, hook+"webhook", false); err != nil {
				return err
			}
			if o.ConnectSecret, err = p.stripe.Ensure(ctx, hook+"connect-webhook", true); err != nil {
				return err
			}
		}
		p.log.InfoContext(ctx, "no STRIPE_SECRET_KEY: billing runs on a sandbox, and no money moves", "page", page)
	}
	if p.billing = jobs.Billing(o); p.stripe != nil && public != nil {
		p.tasks = append(p.tasks, p.stripe.Run, func(ctx context.Context) error { p.billing.KeepPublishing(ctx); return nil })
	}
	return nil
}

// clock is the sandbox's, looked up once a second: who operates it may move it.
func clock(s *stripe.Sandbox) func() time.Time {
	var (
		mu    sync.Mutex
		ahead time.Duration
		until time.Time
	)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if now.After(until) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if there, err := s.Now(ctx); err == nil {
				ahead = there.Sub(now.Truncate(time.Second))
			}
			until = now.Add(time.Second)
		}
		return now.Add(ahead)
	}
}

// trialDays is how long the trial of a new org lasts; 0 is without end, on the sandbox, where nobody can pay.
func (p *process) trialDays() int {
	if p.StripeKey == "" {
		return 0
	}
	return p.plans.Trial().TrialDays
}

// connectors opens the social networks and ad platforms, those without a client id on the sandbox. public and ops are this
// process's listeners; nil where it has none.
func (p *process) connectors(ctx context.Context, public, ops net.Listener) error {
	apps, without, err := p.OAuth.apps()
	if err != nil {
		return err
	}
	if len(without) > 0 && p.OAuth.Sandbox == "on" && p.OAuth.URL == "" {
		at, o := strings.TrimSuffix(oauth.Path, "/"), oauth.Options{Store: oauth.Postgres{System: p.system, Box: p.box}, Log: p.log}
		if ops != nil {
			at = base(ops) + at
		}
		if public != nil {
			o.Callbacks = []string{cmp.Or(strings.TrimSuffix(p.PublicURL, "/"), base(public)) + "/oauth/"}
		}
		p.oauth = oauth.New(o)
		p.atEnd(func(context.Context) error { p.oauth.Close(); return nil })
		for _, family := range without {
			id, secret := oauth.Client(family)
			apps[family] = provider.App{
				ClientID: id, ClientSecret: provider.Secret(secret), DeveloperToken: "sandbox", Base: at,
				HTTP: &http.Client{Transport: p.oauth.Transport(), Timeout: provider.CallTime},
			}
		}
		p.log.InfoContext(ctx, "no client id is set: these platforms run on a sandbox, and nobody's account is touched", "platforms", strings.Join(without, " "), "page", at+"/")
	}
	p.providers = provider.New(provider.Options{Apps: apps})
	return nil
}

// connectAccounts opens logins at social networks and ad platforms. public is this process's listener of the API; nil
// where it has none, and then only a PublicURL makes callbacks that lead anywhere.
func (p *process) connectAccounts(public net.Listener) {
	at := p.PublicURL
	if at == "" && public != nil {
		at = base(public)
	}
	p.social = jobs.Social(social.Options{Providers: p.providers, Box: p.box, PublicURL: at})
}

// models are the language models that answer: a provider's, or the sandbox's.
func (p *process) models() ai.Provider {
	o := ai.Options{Key: p.AIKey, URL: p.AIURL, Model: p.AIModel}
	if o.Key == "" && o.URL == "" {
		s := &model.Sandbox{}
		p.atEnd(func(context.Context) error { s.Close(); return nil })
		o = ai.Options{Key: "sandbox", URL: model.URL, Model: model.Name, HTTP: &http.Client{Transport: s.Transport()}}
	}
	return ai.Open(o)
}
