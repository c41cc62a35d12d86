// Package api is the front door: HTTP in; rows, events and jobs written; JSON out.
package api

import (
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Deps are what main hands to the API.
type Deps struct {
	DB     *postgres.DB // App role; its commits push jobs
	System *postgres.DB // System role: logins and nothing else
	Log    *slog.Logger
	Auth   *auth.Service // its Verify is the one check of a request's credential
	Box    *secret.Box   // seals cursors and stored answers that bear a secret
	// Limits counts requests by org and by address. Nil switches rate limits off.
	Limits  *limits.Limiter
	Metrics *Metrics // of requests; nil: none
	Hooks   *webhooks.Service
	Plans   *plans.Service // what orgs may use; nil: by the standard catalogue
	// TrialDays is how long a new org's trial lasts; 0 is without end, as on the billing sandbox and without billing.
	TrialDays int
	Billing   *billing.Service // changes of plan
	Social    *social.Service  // logins at social networks and ad platforms, and their accounts
	// Brands answers what is shown of an org; nil: by the plans above.
	Brands  *branding.Resolver
	Domains *branding.Domains // custom domains
	// Hosts knows whose a host is. Nil: nobody has one, and every page shows the platform's brand.
	Hosts branding.HostResolver
	// AI answers the AI endpoints, Tokens holds their orgs' buckets of AIPerMinute tokens; nil and 0: nobody, who is
	// unavailable; buckets of this process; 50,000.
	AI          ai.Provider
	Tokens      *limits.Tokens
	AIPerMinute int64
	AITime      time.Duration // of a call to AI; 0: 14 seconds
	// Scores knows the models that score contacts; nil: by the DB above.
	Scores *models.Book

	SignupOff bool // strangers may not sign up

	// NotConfigured lists the parts that the install lacks: their operations answer 503 not_configured, and what stands for
	// them here, such as Billing, may be nil.
	NotConfigured []Part

	PublicURL      string         // base of every link, without a slash at the end
	CORSOrigins    []string       // exact origins that browsers may call from; none by default
	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts

	DrainDelay time.Duration // how long Serve goes on when its context has ended
}

// App is the API with all its routes mounted.
type App struct {
	Deps
	fiber *fiber.App
	huma  huma.API
	ops   []*op // every mounted operation, in order

	written []byte // of all of them: the API document

	draining atomic.Bool // the process is about to end

	presses chan struct{} // taken while a logo is decoded
	uploads uploads       // of files
}

// Limits of one connection and one request.
const (
	readTimeout    = 30 * time.Second // from a request's first byte to its last
	writeTimeout   = 60 * time.Second
	idleTimeout    = 75 * time.Second // between two requests of a connection
	requestTime    = 20 * time.Second // a handler's deadline
	stopTime       = 25 * time.Second // what open requests get when the process stops
	headerBytes    = 16 << 10
	bodyBytes      = 1 << 20 // of a JSON body, unless the operation says otherwise
	batchBodyBytes = 8 << 20
)

// New mounts every route. Serve answers with them.
func New(d Deps) *App { return build(d) }

// build is New with more to mount, for tests.
func build(d Deps, more ...func(*App)) *App {
	hookHuma()
	if d.Plans == nil {
		d.Plans = plans.NewService(d.DB, nil)
	}
	if d.Brands == nil {
		d.Brands = branding.NewResolver(d.DB, branding.ByPlan(d.Plans.Of))
	}
	if d.AI == nil {
		d.AI = ai.Nobody{}
	}
	if d.Tokens == nil {
		d.Tokens = limits.NewTokens(nil, d.Log)
	}
	if d.AIPerMinute == 0 {
		d.AIPerMinute = DefaultAIPerMinute
	}
	if d.AITime == 0 {
		d.AITime = DefaultAITime
	}
	if d.Scores == nil {
		d.Scores = models.NewBook(d.DB, d.Log)
	}
	a := &App{Deps: d}
	a.fiber = fiber.New(fiber.Config{
		Immutable:                    true, // strings of a request may be kept; without it they change under their owner
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               headerBytes,
		StreamRequestBody:            true, // bodies are read by route, after the guard, and only as far as they may go
		DisablePreParseMultipartForm: true,
		CaseSensitive:                true,
		StrictRouting:                true,
		UnescapePath:                 true,
		DisableStartupMessage:        true,
		ErrorHandler:                 a.refuse,
	})
	a.huma = humafiber.New(a.fiber, humaConfig())
	a.fiber.Use(a.envelope, a.cors, a.guard)
	for _, mount := range []func(){
		a.mountImports, a.mountExports, a.mountFiles,
		a.mountLogin, a.mountPasswords, a.mountInvitations, a.mountJWKS, a.mountMe, a.mountSessions, a.mountOrg, a.mountMembers, a.mountAPIKeys, a.mountAudit,
		a.mountBulk, a.mountDuplicates, // before the contacts, whose GET of one would take "bulk" for an id
		a.mountContacts, a.mountTimeline, a.mountCompanies, a.mountSegments, a.mountFields, a.mountScoreModel, a.mountAI,
		a.mountTags, a.mountMerges,
		a.mountPipelines, a.mountDeals, a.mountNotes, a.mountTasks,
		a.mountWebhooks, a.mountEvents,
		a.mountPlans, a.mountEntitlements, a.mountClients,
		a.mountBilling, a.mountStripe, a.mountWhiteLabelConnect,
		a.mountAccounts, a.mountConnect, a.mountOAuth, a.mountOAuthNotices,
		a.mountBrand, a.mountLogo, a.mountShownBrand, a.mountDomains,
	} {
		mount()
	}
	for _, mount := range more {
		mount(a)
	}
	a.mountPages()
	a.mountDocs() // last: it writes the document
	a.frame()
	return a
}
