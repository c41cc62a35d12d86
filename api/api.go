// Package api is the public HTTP API. Its handlers validate requests, write rows, events and jobs, and return JSON.
package api

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/funnelwork/funnelwork/api/console"
	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/api/operations"
	"github.com/funnelwork/funnelwork/api/pages"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/change"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/events/tail"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/provider"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
	"github.com/funnelwork/funnelwork/internal/requestlog"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/tracking"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
)

// Deps are the dependencies and settings of the API.
type Deps struct {
	DB     *postgres.DB // app role; commits enqueue jobs
	System *postgres.DB // system role, for logins and for what concerns many orgs at once
	// Reads reads what may come from a standby. Nil: from DB.
	Reads *standby.Reader
	Log   *slog.Logger
	Auth  *auth.Service  // verifies the credential of each request
	Box   *secret.Sealer // seals cursors and stored responses that contain a secret
	// Limits limits the rate of requests per org and per address. Nil switches rate limits off.
	Limits *limits.Limiter
	// Requests keeps the requests of each org. Nil: nothing is kept.
	Requests *requestlog.Recorder
	Metrics  *httpx.Metrics // request metrics; nil: none
	Tracer   *spans.Tracer  // traces requests; nil: none
	Hooks    *webhooks.Service
	// Mailboxes keeps the mailboxes of orgs; nil: those on public servers.
	Mailboxes *mailboxes.Service
	Emails    *emails.Service  // nil: one that uses Box and Mailboxes
	Inbound   *inbound.Service // nil: one that uses DB and Box
	// Providers reads the requests of mail providers; nil: one that fetches certificates from public addresses.
	Providers *provider.Reader
	Plans     *plans.Service // entitlements of orgs; nil: from the standard catalogue
	// TrialDays is the length of a new org's trial. 0 means no end, as on the billing sandbox and without billing.
	TrialDays int
	Billing   *billing.Service // plan changes
	Social    *social.Service  // connections to social networks and ad platforms
	// Brands returns the brand shown for an org. Nil: one that uses the Plans above.
	Brands  *branding.Resolver
	Domains *branding.Domains // custom domains
	// Hosts maps a host to its org. Nil: there are no custom domains, and every page shows the platform's brand.
	Hosts httpx.HostResolver
	// AI is the provider of the AI endpoints; nil: the endpoints are unavailable. Tokens holds each org's bucket of
	// AIPerMinute tokens; nil: buckets in this process. AIPerMinute is 50,000 if 0.
	AI     ai.Provider
	Tokens *limits.Tokens
	// Streams limits the open streams of each user; nil: in this process.
	Streams     *limits.Leases
	AIPerMinute int64
	AITime      time.Duration // timeout of a call to AI; 14 seconds if 0
	// Scores holds the models that score contacts. Nil: one that reads the DB above.
	Scores *models.Book

	SignupOff bool // disables public signup

	// NotConfigured lists the parts which the install lacks. Their operations return 503 not_configured, and their
	// fields here, such as Billing, may be nil.
	NotConfigured []httpx.Part

	PublicURL      string         // base of every link, without a trailing slash
	CORSOrigins    []string       // exact origins allowed to call from browsers; default none
	TrustedProxies []netip.Prefix // proxies trusted to set X-Forwarded-For

	DrainDelay time.Duration // how long Serve keeps serving after its context has ended

	// Operations is the Contract of another App of this process, for a process that makes many. Nil: a new one.
	Operations *httpx.Contract
}

// App is the API with all its routes mounted.
type App struct {
	*httpx.Server
	Deps

	pages     *pages.Pages
	changes   *change.Service  // changes of plan
	resellers *connect.Service // connected accounts and their sales

	visits   *tracking.Recorder // of the pixels and links of emails
	orgKeys  *orgkey.Cache
	tails    *tail.Follower // of the feeds with open streams
	comments time.Duration  // interval between the comments of a stream

	presses chan struct{} // semaphore for decoding logos
	uploads httpx.Uploads // open file uploads
}

// New returns an App with every route mounted.
func New(d Deps) *App { return newApp(d) }

// newApp is New with additional routes, for tests.
func newApp(d Deps, more ...func(*App)) *App {
	if d.Plans == nil {
		d.Plans = plans.NewService(d.DB, plans.Standard().Enqueuing(entitlementsync.Kind.Add))
	}
	if d.Reads == nil {
		d.Reads = standby.Primary(d.DB)
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
	if d.Streams == nil {
		d.Streams = limits.NewLeases(nil, d.Log)
	}
	if d.AIPerMinute == 0 {
		d.AIPerMinute = DefaultAIPerMinute
	}
	if d.AITime == 0 {
		d.AITime = DefaultAITime
	}
	if d.Mailboxes == nil {
		d.Mailboxes = &mailboxes.Service{Box: d.Box}
	}
	if d.Emails == nil {
		d.Emails = &emails.Service{
			Box: d.Box, Mailboxes: d.Mailboxes, Suppressions: &suppression.Service{Box: d.Box}, PublicURL: d.PublicURL,
		}
	}
	if d.Inbound == nil {
		d.Inbound = newInbound(d.DB, d.Box)
	}
	if d.Providers == nil {
		d.Providers = newProviders()
	}
	if d.Scores == nil {
		d.Scores = models.NewBook(d.DB, d.Log)
	}

	a := &App{
		Deps:      d,
		changes:   change.New(d.Billing),
		resellers: connect.New(d.Billing),
		visits:    tracking.NewRecorder(d.DB, d.System, d.Box),
		orgKeys:   orgkey.NewCache(d.DB, d.Box),
		tails:     tail.New(d.DB, d.Log), comments: commentEvery,
		Server: httpx.New(httpx.Config{
			DB: d.DB, Reads: d.Reads, Log: d.Log, Auth: d.Auth, Box: d.Box, Limits: d.Limits, Requests: d.Requests,
			Metrics: d.Metrics,
			Tracer:  d.Tracer, Plans: d.Plans, Audit: auditStaff, Hosts: d.Hosts, NotConfigured: d.NotConfigured,
			PublicURL:   d.PublicURL,
			CORSOrigins: d.CORSOrigins, TrustedProxies: d.TrustedProxies, DrainDelay: d.DrainDelay,
			About: pages.Introduction(), Describe: operations.Describe, Tags: operations.Tags(),
			Contract: d.Operations,
		}),
	}
	a.pages = pages.New(a.Server, d.Brands)
	for _, mount := range []func(){
		a.mountImports, a.mountExports, a.mountFiles,
		a.mountLogin, a.mountConsoleLogin, a.mountPasswords, a.mountInvitations, a.mountJWKS, a.mountMe,
		a.mountSessions,
		a.mountOrg, a.mountMembers, a.mountAPIKeys, a.mountAudit, a.mountRequestLog, a.mountViews, a.mountOverview,
		a.mountSearch,
		a.mountJobs,
		a.mountBulk, a.mountDuplicates, // before the contacts, which would match "bulk" as an id
		a.mountContacts, a.mountTimeline, a.mountCompanies, a.mountSegments, a.mountFields, a.mountScoreModel,
		a.mountAI,
		a.mountTags, a.mountMerges,
		a.mountPipelines, a.mountBoard, a.mountDeals, a.mountNotes, a.mountTasks, a.mountTemplates,
		a.mountConsents, a.mountPreferences, a.mountTracking, a.mountSending, a.mountMailboxes, a.mountEmails,
		a.mountThreads, a.mountInbound,
		a.mountSuppressions, a.mountSequences, a.mountBroadcasts,
		a.mountWebhooks, a.mountEvents,
		a.mountPlans, a.mountEntitlements, a.mountClients,
		a.mountBilling, a.mountInvoices, a.mountStripe, a.mountWhiteLabelConnect,
		a.mountAccounts, a.mountConnect, a.mountOAuth, a.mountOAuthNotices,
		a.mountBrand, a.mountLogo, a.mountShownBrand, a.mountDomains,
	} {
		mount()
	}

	for _, mount := range more {
		mount(a)
	}

	a.pages.Mount()
	console.New(a.Server, a.pages.BrandAt).Mount()
	a.pages.MountDocs() // last: it writes the document
	a.Finish()

	return a
}

// Document returns the OpenAPI 3.1 document of every mounted operation, indented.
func (a *App) Document() []byte { return a.pages.Document() }
