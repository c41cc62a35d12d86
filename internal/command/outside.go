package command

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/billing"
	billingsync "github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/sandbox/model"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/jobs"
)

// openBilling opens billing: Stripe's, the sandbox's, or none, which leaves p.billing nil. public and ops are this
// process's listeners, or nil. The process that serves the API also runs the sandbox: it advances the sandbox's clock,
// sends the sandbox's webhooks to itself, which works wherever it runs, and publishes the sandbox's prices.
func (p *process) openBilling(ctx context.Context, public, ops net.Listener) (err error) {
	o := billing.Options{
		App: p.app, System: p.system, Catalogue: p.plans, Secret: p.StripeHook, ConnectSecret: p.StripeOthers,
		Log: p.log, Metrics: billing.NewMetrics(p.metrics),
		Account: billing.Account{Key: p.StripeKey, URL: p.StripeURL, Log: p.log},
	}
	switch {
	case p.isConfigured(httpx.PartBilling):
	case !p.usesSandbox(httpx.PartBilling):
		return nil
	default:
		p.stripe = stripe.New(stripe.Options{
			Store: stripe.Postgres{System: p.system}, Log: p.log,
			PageURL: sandboxPage(ops, stripe.Path),
		})
		p.atEnd(func(context.Context) error {
			p.stripe.Close()
			return nil
		})
		o.Account = billing.Account{
			Key: "sk_test_sandbox", URL: "http://stripe.sandbox",
			HTTP: &http.Client{Transport: p.stripe.Transport()}, Log: p.log,
		}
		o.Now = sandboxClock(p.stripe) //nolint:contextcheck // a clock is asked by whoever, and has no context
		if public != nil {
			hook := listenerURL(public) + "/billing/stripe/"
			if o.Secret, err = p.stripe.Ensure(ctx, hook+"webhook", false); err != nil {
				return err
			}
			if o.ConnectSecret, err = p.stripe.Ensure(ctx, hook+"connect-webhook", true); err != nil {
				return err
			}
		}
	}

	if p.billing = jobs.Billing(o); p.stripe != nil && public != nil {
		p.published = make(chan struct{})
		p.tasks = append(p.tasks, p.stripe.Run, func(ctx context.Context) error {
			if billingsync.New(p.billing).KeepPublishing(ctx) == nil {
				close(p.published)
			}
			return nil
		})
	}

	return nil
}

// onSale is a readiness check: the sandbox's prices are published, so that a plan can be bought.
func (p *process) onSale(context.Context) error {
	select {
	case <-p.published:
		return nil
	default:
		return ops.ErrUnpublished
	}
}

// awaitPrices waits until the sandbox's prices are published, if there is a sandbox, or ctx ends.
func (p *process) awaitPrices(ctx context.Context) error {
	if p.published == nil {
		return nil
	}

	select {
	case <-p.published:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sandboxClock returns the sandbox's clock, read once a second: its operator may move it.
func sandboxClock(s *stripe.Sandbox) func() time.Time {
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

// trialDays is the length of a new org's trial; 0 means unlimited: with the sandbox and without billing, when payment
// is impossible.
func (p *process) trialDays() int {
	if p.StripeKey == "" {
		return 0
	}
	return p.plans.Trial().TrialDays
}

// openConnectors opens the social networks and ad platforms; those without a client id use the sandbox if it is
// enabled. public and ops are this process's listeners, or nil.
func (p *process) openConnectors(public, ops net.Listener) error {
	apps, without, err := p.OAuth.splitApps()
	if err != nil {
		return err
	}
	if p.usesSandbox(httpx.PartOAuth) {
		at := strings.TrimSuffix(sandboxPage(ops, oauth.Path), "/")
		o := oauth.Options{Store: oauth.Postgres{System: p.system, Box: p.box}, Log: p.log}
		if public != nil {
			o.Callbacks = []string{cmp.Or(strings.TrimSuffix(p.PublicURL, "/"), listenerURL(public)) + "/oauth/"}
		}

		p.oauth = oauth.New(o)
		p.atEnd(func(context.Context) error {
			p.oauth.Close()
			return nil
		})

		for _, family := range without {
			id, secret := oauth.Client(family)
			apps[family] = provider.App{
				ClientID: id, ClientSecret: provider.Secret(secret), DeveloperToken: "sandbox", Base: at,
				HTTP: &http.Client{Transport: p.oauth.Transport(), Timeout: provider.CallTime},
			}
		}
	}

	for family, app := range apps {
		apps[family] = p.OAuth.withFamily(family, app)
	}

	p.providers = provider.New(provider.Options{Apps: apps})

	return nil
}

// connectAccounts opens logins at social networks and ad platforms. public is this process's API listener, or nil; then
// callbacks work only with a PublicURL.
func (p *process) connectAccounts(public net.Listener) {
	at := p.PublicURL
	if at == "" && public != nil {
		at = listenerURL(public)
	}
	p.social = jobs.Social(social.Options{Providers: p.providers, Box: p.box, PublicURL: at})
}

// openModels returns the language models of a provider or of the sandbox; nil if there are none. All parts of the
// process share one client, which learns what the provider accepts.
func (p *process) openModels() ai.Provider {
	if p.models == nil {
		p.models = p.newModels()
	}
	if p.models == nil {
		return nil
	}
	return p.models
}

func (p *process) newModels() *ai.Client {
	o := ai.Options{Key: p.AIKey, URL: p.AIURL, Model: p.AIModel}
	switch {
	case p.isConfigured(httpx.PartAI):
	case !p.usesSandbox(httpx.PartAI):
		return nil
	default:
		s := &model.Sandbox{}
		p.atEnd(func(context.Context) error {
			s.Close()
			return nil
		})
		o = ai.Options{Key: "sandbox", URL: model.URL, Model: model.Name, HTTP: &http.Client{Transport: s.Transport()}}
	}

	return ai.Open(o)
}
