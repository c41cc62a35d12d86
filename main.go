// Funnelwork is a marketing and CRM service: contacts and their lead scores, signed webhooks, billing, the social and ad
// accounts of its orgs, and their own looks and domains.
//
// This file reads the settings and wires the parts of each command; it holds no rule of the product. It is
// longer than its neighbours because it is all of package main: every setting and every wire can be seen in
// one place.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/limits"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/clerk"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/model"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/telemetry"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/keyreseal"
	"github.com/funnelwork/funnelwork/jobs/redrive"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/migrations"
	"github.com/funnelwork/funnelwork/scheduler"
	"github.com/funnelwork/funnelwork/worker"
)

// settings are read here and nowhere else: flag, else environment, else default.
type settings struct {
	Addr         string    `env:"FUNNELWORK_ADDR" default:"127.0.0.1:8080" help:"Where the API listens."`
	OpsAddr      string    `env:"FUNNELWORK_OPS_ADDR" help:"Where health, metrics and the job dashboard listen (127.0.0.1:9090; worker 9091, scheduler 9092)."`
	OpsUser      string    `env:"FUNNELWORK_OPS_USER" help:"User of the ops listener; needed off loopback."`
	OpsPassword  string    `env:"FUNNELWORK_OPS_PASSWORD" help:"Password of the ops listener."`
	OpsHosts     []string  `env:"FUNNELWORK_OPS_HOSTS" help:"Names under which the ops listener is called."`
	OpsReadOnly  bool      `env:"FUNNELWORK_OPS_READ_ONLY" help:"The job dashboard shows and changes nothing."`
	Home         string    `env:"FUNNELWORK_HOME" default:".funnelwork" help:"Directory of local state: private servers, keyset."`
	DatabaseURL  string    `name:"database-url" env:"DATABASE_URL" help:"Postgres 15 or later; up starts a private one where it is not given."`
	Pooler       bool      `name:"database-pooler" env:"FUNNELWORK_DATABASE_POOLER" help:"DATABASE_URL leads to a transaction pooler."`
	RedisURL     string    `name:"redis-url" env:"REDIS_URL" help:"Redis 6.2 or later, Sentinel or Cluster; up starts a private one where it is not given."`
	Repository   string    `name:"postgres-repository" env:"FUNNELWORK_POSTGRES_REPOSITORY" help:"Maven repository that up downloads Postgres from where none is installed, or none."`
	Keyset       string    `env:"FUNNELWORK_KEYSET" help:"Keyset that seals secrets in the database, as 'keys new' prints it; else HOME/keyset.json."`
	Spool        string    `env:"FUNNELWORK_SPOOL" help:"Directory in which a worker keeps new tokens of accounts, sealed, until the database has them; else HOME/spool."`
	PublicURL    string    `name:"public-url" env:"FUNNELWORK_PUBLIC_URL" help:"Base of every link; else http:// and the API's address."`
	DomainTarget string    `name:"domain-target" env:"FUNNELWORK_DOMAIN_TARGET" help:"Name that the CNAME of custom domains leads to; else that of FUNNELWORK_PUBLIC_URL."`
	DNSResolvers []string  `name:"dns-resolvers" env:"FUNNELWORK_DNS_RESOLVERS" default:"system,authority" help:"Who is asked for the records of custom domains, each of whom has to see them: system, authority (the zones' own servers) or addresses."`
	HostsFile    string    `name:"hosts-file" env:"FUNNELWORK_HOSTS_FILE" help:"File in which an API process keeps the custom domains that it knows, for a start without the database; else HOME/hosts.json."`
	CORSOrigins  []string  `name:"cors-origins" env:"FUNNELWORK_CORS_ORIGINS" help:"Origins whose pages may call the API."`
	Proxies      []network `name:"trusted-proxies" env:"FUNNELWORK_TRUSTED_PROXIES" help:"Addresses or networks whose X-Forwarded-For counts."`
	StripeKey    string    `name:"stripe-secret-key" env:"STRIPE_SECRET_KEY" help:"Stripe's secret key; without one billing runs on a sandbox of ours, whose page is on the ops listener."`
	StripeHook   string    `name:"stripe-webhook-secret" env:"STRIPE_WEBHOOK_SECRET" help:"Signing secret of the Stripe endpoint that sends to /billing/stripe/webhook."`
	StripeOthers string    `name:"stripe-connect-webhook-secret" env:"STRIPE_CONNECT_WEBHOOK_SECRET" help:"The same of /billing/stripe/connect-webhook, for connected accounts."`
	StripeURL    string    `name:"stripe-url" env:"FUNNELWORK_STRIPE_URL" help:"Where Stripe's API is, for tests; else at Stripe."`
	AIKey        string    `name:"ai-key" env:"FUNNELWORK_AI_KEY" help:"Key of a provider of language models; without key and URL the AI endpoints are answered by a sandbox of ours."`
	AIURL        string    `name:"ai-url" env:"FUNNELWORK_AI_URL" help:"Base of the provider's API, which is like OpenAI's; else OpenAI's own."`
	AIModel      string    `name:"ai-model" env:"FUNNELWORK_AI_MODEL" default:"gpt-4.1-mini" help:"The model that is asked."`
	AIPerMinute  int64     `name:"ai-tokens-per-minute" env:"FUNNELWORK_AI_TOKENS_PER_MINUTE" default:"50000" help:"AI tokens that an organization may spend in a minute."`
	Plans        string    `env:"FUNNELWORK_PLANS" help:"File that lists the plans; without one those that the program ships with."`
	OAuth        oauthApps `embed:"" prefix:"oauth-" envprefix:"FUNNELWORK_OAUTH_"`
	Signup       string    `env:"FUNNELWORK_SIGNUP" enum:"on,off" default:"on" help:"Whether strangers may sign up: on or off."`
	RateLimit    string    `env:"FUNNELWORK_RATE_LIMIT" enum:"on,off" default:"on" help:"Rate limits: on or off."`
	AllowPrivate bool      `name:"webhook-allow-private" env:"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE" help:"Webhooks may go to http and to private addresses."`
	Concurrency  int       `env:"FUNNELWORK_CONCURRENCY" default:"20" help:"Jobs that a worker runs at once."`
	SMTPURL      string    `name:"smtp-url" env:"FUNNELWORK_SMTP_URL" help:"Server for the platform's mails, smtp:// or smtps://; without one they go to the sandbox mailbox on the ops listener."`
	MailFrom     string    `name:"mail-from" env:"FUNNELWORK_MAIL_FROM" default:"Funnelwork <noreply@localhost>" help:"Sender of the platform's mails."`
	LogLevel     string    `env:"FUNNELWORK_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	LogFormat    string    `env:"FUNNELWORK_LOG_FORMAT" enum:"json,text,auto" default:"auto" help:"json, text, or auto: text on a terminal."`
}

type cli struct {
	settings `group:"Settings"`

	Up        up           `cmd:"" help:"Run everything in one process, with private servers where none are given."`
	API       role         `cmd:"" name:"api" help:"Run the API."`
	Worker    role         `cmd:"" help:"Run jobs."`
	Scheduler reminder     `cmd:"" help:"Add the jobs that are due by the clock. Any number may run."`
	Migrate   migrate      `cmd:"" help:"Bring the database to this version's schema."`
	User      userGroup    `cmd:"" help:"People."`
	Jobs      jobsGroup    `cmd:"" help:"Jobs: search, run again, drop, pause."`
	Keys      keysGroup    `cmd:"" help:"Keys that sign and seal."`
	Billing   billingGroup `cmd:"" help:"Plans and payments."`
	OpenAPI   openapi      `cmd:"" name:"openapi" help:"Print the API's document."`
	Events    catalogue    `cmd:"" help:"Print the types of events with their schemas and samples."`
}

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // little lives long here: a tenth of a read's time for some 50 MB
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the process: 0 is success, 1 an error that one line on stderr tells.
func run(args []string, stdout, stderr *os.File) int {
	var c cli
	exit := -1
	parser := kong.Must(&c, kong.Name("funnelwork"), kong.Description("Contacts, lead scores, webhooks, billing, accounts and white label. Try it: funnelwork up"),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { exit = code }))
	k, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second signal ends the process at once
		k.BindTo(ctx, (*context.Context)(nil))
		k.BindTo(stdout, (*io.Writer)(nil))
		log := c.logger(stderr)
		err = k.Run(&c.settings, log, c.Jobs.opener(&c.settings, log, stdout))
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // stopped before it was up, as asked
		}
		stop()
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "funnelwork:", strings.Join(strings.Fields(err.Error()), " "))
		return 1
	}
	return 0
}

func (s *settings) logger(to *os.File) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	info, err := to.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	log := telemetry.NewLogger(to, s.LogFormat == "text" || s.LogFormat == "auto" && terminal, level)
	redisx.LogTo(log)
	return log
}

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

// run runs the tasks until ctx ends or one of them fails, and waits for all.
func (p *process) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, task := range p.tasks {
		g.Go(func() error { return task(ctx) })
	}
	return g.Wait()
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
	p.atEnd(present.Leave)
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

func (s *settings) keysetFile() string { return filepath.Join(s.Home, "keyset.json") }

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

// oauthApps are the applications that are registered with social networks and ad platforms.
type oauthApps struct {
	Facebook       oauthApp `embed:"" prefix:"facebook-" envprefix:"FACEBOOK_" group:"Facebook and Meta Ads"`
	Instagram      oauthApp `embed:"" prefix:"instagram-" envprefix:"INSTAGRAM_" group:"Instagram"`
	LinkedIn       oauthApp `embed:"" prefix:"linkedin-" envprefix:"LINKEDIN_" group:"LinkedIn, its pages and ads"`
	X              oauthApp `embed:"" prefix:"x-" envprefix:"X_" group:"X"`
	TikTok         oauthApp `embed:"" prefix:"tiktok-" envprefix:"TIKTOK_" group:"TikTok"`
	TikTokAds      oauthApp `embed:"" prefix:"tiktok-ads-" envprefix:"TIKTOK_ADS_" group:"TikTok Ads"`
	Google         oauthApp `embed:"" prefix:"google-" envprefix:"GOOGLE_" group:"YouTube and Google Ads"`
	Pinterest      oauthApp `embed:"" prefix:"pinterest-" envprefix:"PINTEREST_" group:"Pinterest and its ads"`
	DeveloperToken string   `name:"google-developer-token" env:"GOOGLE_DEVELOPER_TOKEN" help:"Google Ads' developer token."`
	Sandbox        string   `env:"SANDBOX" enum:"on,off" default:"on" help:"Platforms without a client id run on a sandbox: on or off."`
	URL            string   `name:"url" env:"URL" help:"Where the platforms are, for tests, such as the sandbox of another process; else at their own addresses."`
}

type oauthApp struct {
	ID     string `name:"client-id" env:"CLIENT_ID" help:"Client id of the application that is registered there."`
	Secret string `name:"client-secret" env:"CLIENT_SECRET" help:"Its secret."`
}

// apps answers the applications by family, and the families that have none.
func (o *oauthApps) apps() (apps map[string]provider.App, without []string, err error) {
	given := map[string]oauthApp{
		"facebook": o.Facebook, "instagram": o.Instagram, "linkedin": o.LinkedIn, "x": o.X, "tiktok": o.TikTok, "tiktok_ads": o.TikTokAds,
		"google": o.Google, "pinterest": o.Pinterest,
	}
	apps = map[string]provider.App{}
	for _, family := range provider.Families() {
		a := given[family]
		if a == (oauthApp{}) && o.URL != "" { // another process's sandbox
			a.ID, a.Secret = oauth.Client(family)
		}
		if (a.ID == "") != (a.Secret == "") {
			return nil, nil, fmt.Errorf("client id and secret of %s are given together", family)
		}
		if a.ID == "" {
			without = append(without, family)
			continue
		}
		apps[family] = provider.App{ClientID: a.ID, ClientSecret: provider.Secret(a.Secret), DeveloperToken: provider.Secret(o.DeveloperToken), Base: o.URL}
	}
	return apps, without, nil
}

// trialDays is how long the trial of a new org lasts; 0 is without end, on the sandbox, where nobody can pay.
func (p *process) trialDays() int {
	if p.StripeKey == "" {
		return 0
	}
	return p.plans.Trial().TrialDays
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

// customDomains opens the domains under which orgs show themselves. Every role has to agree on where they lead.
func (p *process) customDomains() error {
	at, err := url.Parse(cmp.Or(p.PublicURL, "http://"+p.Addr))
	if err != nil {
		return fmt.Errorf("FUNNELWORK_PUBLIC_URL: %w", err)
	}
	own := strings.ToLower(at.Hostname())
	if ip, err := netip.ParseAddr(own); own == "" || err == nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		own = "localhost"
	}
	views, err := branding.Views(p.DNSResolvers, outbound.Public())
	if err != nil {
		return fmt.Errorf("FUNNELWORK_DNS_RESOLVERS: %w", err)
	}
	p.domains = jobs.Domains(branding.DomainOptions{System: p.system, Target: strings.ToLower(strings.TrimSuffix(cmp.Or(p.DomainTarget, own), ".")), Own: []string{own}, Views: views})
	return nil
}

// hostsSnapshot is what an earlier process knew of custom domains.
func (p *process) hostsSnapshot() *branding.Hosts {
	return branding.NewHosts(branding.HostsOptions{System: p.system, File: cmp.Or(p.HostsFile, filepath.Join(p.Home, "hosts.json")), Log: p.log})
}

// followHosts knows and goes on knowing the custom domains that are served.
func (p *process) followHosts(ctx context.Context) {
	p.hosts = p.hostsSnapshot()
	p.hosts.Collect(p.metrics)
	if err := p.hosts.Load(ctx); err != nil {
		p.log.WarnContext(ctx, "custom domains are those of the last process until the database answers", "error", err)
	}
	p.tasks = append(p.tasks, p.hosts.Run)
}

// awaitDatabase is for an API with custom domains whose database is away: until that is back, it answers the TLS server in front,
// which would otherwise refuse handshakes. Without any it ends, as every role does, with the reason.
func (p *process) awaitDatabase(ctx context.Context, public, ops net.Listener) error {
	err := postgres.Check(ctx, p.DatabaseURL)
	if err == nil || p.name != "api" || !postgres.Lost(err) {
		return err
	}
	known := p.hostsSnapshot()
	if known.Len() == 0 {
		return err
	}
	p.log.WarnContext(ctx, "the database is away: waiting for it, and answering for certificates meanwhile", "hosts", known.Len(), "error", err)
	unready := api.Unready(api.OpsOptions{User: p.OpsUser, Password: p.OpsPassword, Hosts: p.OpsHosts, Serves: known.Serves})
	return api.Meanwhile(ctx, ops, unready, func(ctx context.Context) error {
		return api.Meanwhile(ctx, public, api.Away(), func(ctx context.Context) error {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for err := err; ; err = postgres.Check(ctx, p.DatabaseURL) {
				if err == nil || !postgres.Lost(err) {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-tick.C:
				}
			}
		})
	})
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

// serve adds the API on ln.
func (p *process) serve(ln net.Listener) {
	d := api.Deps{
		DB: p.app, System: p.system, Log: p.log, Auth: p.auth, Box: p.box, Metrics: api.NewMetrics(p.metrics),
		PublicURL: strings.TrimSuffix(p.PublicURL, "/"), CORSOrigins: p.CORSOrigins, SignupOff: p.Signup == "off", Hooks: p.hooks,
		Plans: plans.NewService(p.app, p.plans), Billing: p.billing, TrialDays: p.trialDays(), Social: p.social,
		Domains: p.domains, Hosts: p.hosts, AI: p.models(), Tokens: limits.NewTokens(p.requests, p.log), AIPerMinute: p.AIPerMinute,
	}
	if d.PublicURL == "" {
		d.PublicURL = base(ln)
	}
	for _, n := range p.Proxies {
		d.TrustedProxies = append(d.TrustedProxies, netip.Prefix(n))
	}
	if p.RateLimit == "on" {
		d.Limits = limits.New(limits.Options{Redis: p.requests, Log: p.log, Metrics: limits.NewMetrics(p.metrics)})
		p.atEnd(func(context.Context) error { d.Limits.Close(); return nil })
	}
	a := api.New(d)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return a.Serve(ctx, ln) })
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

// work adds the worker.
func (p *process) work(ctx context.Context) (err error) {
	d := jobs.Deps{
		App: p.app, System: p.system, Log: p.log, Box: p.box, PublicURL: strings.TrimSuffix(p.PublicURL, "/"), Hooks: p.hooks,
		Calls: outbound.New(outbound.Options{Policy: p.hooks.Policy}), Deliveries: webhookdeliver.NewMetrics(p.metrics), Plans: p.plans, Billing: p.billing,
		Social: p.social, Refresher: p.refresher(ctx), Domains: p.domains,
	}
	if p.SMTPURL != "" {
		if d.SMTP, err = mail.NewSMTP(p.SMTPURL, p.MailFrom); err != nil {
			return err
		}
	}
	p.tasks = append(p.tasks, func(ctx context.Context) error { return d.Deliveries.Watch(ctx, p.system, p.log) })
	w := worker.New(worker.Options{
		App: p.app, System: p.system, Redis: p.workers, Concurrency: p.Concurrency, Log: p.log, Metrics: worker.NewMetrics(p.metrics), Handlers: jobs.All(d), Watches: jobs.Watches(d),
	})
	p.slots = w
	p.tasks = append(p.tasks, w.Run)
	return nil
}

// refresher keeps tokens alive. What an earlier process had on its disk and not in the database is stored when the worker runs.
func (p *process) refresher(ctx context.Context) *social.Refresher {
	o := social.RefreshOptions{Service: p.social, App: p.app, System: p.system, Log: p.log, Metrics: social.NewRefreshMetrics(p.metrics)}
	var err error
	if o.Spool, err = social.OpenSpool(cmp.Or(p.Spool, filepath.Join(p.Home, "spool")), p.box); err != nil {
		p.log.WarnContext(ctx, "new tokens are not kept on the disk until they are stored: a crash in between may end a login", "error", err)
	}
	r := social.NewRefresher(o)
	p.tasks = append(p.tasks, func(ctx context.Context) error { return o.Metrics.Watch(ctx, p.system, p.log) }, r.Recover)
	return r
}

// remind adds the scheduler.
func (p *process) remind() {
	s := scheduler.New(scheduler.Options{System: p.system, Log: p.log, Metrics: scheduler.NewMetrics(p.metrics)})
	p.tasks = append(p.tasks, s.Run)
}

// operate adds the ops listener.
func (p *process) operate(ln net.Listener) error {
	mounts := map[string]http.Handler{}
	if p.SMTPURL == "" {
		mounts["/sandbox/mailbox/"] = mailbox.Handler(p.system, p.box, p.log)
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
	var serves func(string) bool
	if p.hosts != nil {
		serves = p.hosts.Serves
	}
	ops, err := api.NewOps(api.OpsOptions{
		Serves: serves, Role: p.name, Log: p.log, Metrics: p.metrics, DB: p.app, System: p.system, DatabaseURL: p.DatabaseURL, RedisURL: p.RedisURL,
		User: p.OpsUser, Password: p.OpsPassword, Hosts: p.OpsHosts, ReadOnly: p.OpsReadOnly, Worker: p.slots, Mounts: mounts, Receivers: []string{inbox.Path},
	})
	api.CollectPool(p.metrics, "app", p.app)
	api.CollectPool(p.metrics, "system", p.system)
	if err == nil {
		p.tasks = append(p.tasks, func(ctx context.Context) error { return ops.Serve(ctx, ln) })
	}
	return err
}

// base is the URL at which a listener can be called from this machine.
func base(ln net.Listener) string {
	host, port, _ := net.SplitHostPort(ln.Addr().String())
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// network is a setting: an address or a network.
type network netip.Prefix

// UnmarshalText reads "10.0.0.1" or "10.0.0.0/8".
func (n *network) UnmarshalText(text []byte) error {
	if a, err := netip.ParseAddr(string(text)); err == nil {
		*n = network(netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	p, err := netip.ParsePrefix(string(text))
	*n = network(p.Masked())
	return err
}

// role is one of api, worker and scheduler: a process of its own, beside a Postgres and a Redis that are given.
type role struct{}

// Run is kong's.
func (role) Run(ctx context.Context, k *kong.Context, s *settings, log *slog.Logger) (err error) {
	p := s.process(k.Command(), log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if p.DatabaseURL == "" || p.RedisURL == "" {
		return fmt.Errorf("%s needs DATABASE_URL and REDIS_URL; `funnelwork up` does without", p.name)
	}
	var public, ops net.Listener
	if p.name == "api" {
		if public, err = p.listen(ctx, p.Addr); err != nil {
			return err
		}
	}
	if p.OpsAddr == "" {
		p.OpsAddr = map[string]string{"api": "127.0.0.1:9090", "worker": "127.0.0.1:9091", "scheduler": "127.0.0.1:9092"}[p.name]
	}
	if ops, err = p.listenOps(ctx); err != nil {
		return err
	}
	if err = p.awaitDatabase(ctx, public, ops); err != nil {
		return err
	}
	if err = migrations.Await(ctx, p.DatabaseURL, p.log); err != nil {
		return err
	}
	if err = p.open(ctx); err != nil {
		return err
	}
	if err = p.bill(ctx, public, ops); err != nil {
		return err
	}
	if err = p.connectors(ctx, public, ops); err != nil {
		return err
	}
	p.connectAccounts(public)
	if err = p.customDomains(); err != nil {
		return err
	}
	switch p.name {
	case "api":
		p.followHosts(ctx)
		p.serve(public) //nolint:contextcheck // a request has its own
	case "worker":
		err = p.work(ctx)
	default:
		p.remind()
	}
	if err = errors.Join(err, p.operate(ops)); err != nil {
		return err
	}
	return p.run(ctx)
}

// reminder is the scheduler's role, or a look at what it does.
type reminder struct {
	List bool `help:"Print the timetable and what last happened of it, and end."`
}

// Run is kong's.
func (r reminder) Run(ctx context.Context, k *kong.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	if !r.List {
		return role{}.Run(ctx, k, s, log)
	}
	p := s.process("scheduler", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	// A look makes nothing: where neither a database is given nor a home is there, nothing has happened yet.
	asked := p.DatabaseURL != "" || local.Inhabited(p.Home)
	if asked {
		if err = p.connect(ctx, false); err != nil {
			return err
		}
		if p.system, err = postgres.Open(ctx, postgres.Options{URL: p.DatabaseURL, Role: postgres.System, Pooler: p.Pooler, Name: p.name, MaxConns: 1}); err != nil {
			return err
		}
		p.atEnd(func(context.Context) error { p.system.Close(); return nil })
	}
	lines, err := scheduler.List(ctx, p.system, nil, time.Now())
	if err != nil {
		if pending, unknown := migrations.Pending(ctx, p.DatabaseURL); unknown == nil && pending {
			return errors.New("the database lacks the schema of this version: run `funnelwork migrate`")
		}
		return err
	}
	return scheduler.Print(out, lines, asked)
}

type up struct {
	SeedEmail    string `help:"Mail address of the person to begin with." default:"demo@example.com"`
	SeedPassword string `help:"Their password; made up and printed where none is given."`
	SeedOrg      string `help:"Name of their org." default:"Demo"`
}

// Run is kong's.
func (u *up) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	p := s.process("up", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if p.OpsAddr == "" {
		p.OpsAddr = "127.0.0.1:9090"
	}
	public, err := p.listen(ctx, p.Addr)
	if err != nil {
		return err
	}
	ops, err := p.listenOps(ctx)
	if err != nil {
		return err
	}
	p.inbox = base(ops) + inbox.Path
	if err = p.start(ctx, true); err != nil {
		return err
	}
	if err = p.open(ctx); err != nil {
		return err
	}
	if err = p.bill(ctx, public, ops); err != nil {
		return err
	}
	if err = p.connectors(ctx, public, ops); err != nil {
		return err
	}
	p.connectAccounts(public)
	if err = p.customDomains(); err != nil {
		return err
	}
	p.followHosts(ctx)
	if u.SeedPassword == "" {
		u.SeedPassword = rand.Text()[:16]
	}
	seeded, err := api.Admit(ctx, p.auth, api.Newcomer{Email: u.SeedEmail, Password: u.SeedPassword, FirstName: "Demo", LastName: "User", OrgName: u.SeedOrg, TrialDays: p.trialDays()})
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	p.serve(public) //nolint:contextcheck // a request has its own
	p.remind()
	if err = errors.Join(p.work(ctx), p.operate(ops)); err != nil {
		return err
	}
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		if err := api.Answers(ctx, base(public)); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "ready:", base(public))
		if seeded && err == nil {
			_, err = fmt.Fprint(out, api.Greeting(base(public), base(ops), u.SeedEmail, u.SeedPassword))
		}
		return err
	})
	return p.run(ctx)
}

type migrate struct{}

// Run is kong's.
func (migrate) Run(ctx context.Context, s *settings, log *slog.Logger) (err error) {
	p := s.process("migrate", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	return p.start(ctx, false)
}

type userGroup struct {
	Create userCreate `cmd:"" help:"Let a person in, into a new org or one that is there."`
}

type userCreate struct {
	Email     string `required:"" help:"Mail address."`
	Password  string `env:"FUNNELWORK_USER_PASSWORD" help:"Password; made up and printed where none is given."`
	FirstName string `help:"First name."`
	LastName  string `help:"Last name."`
	Org       string `help:"Name of the new org, which the person will own." default:"Main"`
	OrgID     string `name:"org-id" help:"Id of an org to join instead."`
	Role      string `enum:"viewer,member,admin,owner" default:"member" help:"Role in the org that is joined: viewer, member, admin or owner."`
}

// Run is kong's.
func (u *userCreate) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	p := s.process("user", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	n := api.Newcomer{Email: u.Email, Password: u.Password, FirstName: u.FirstName, LastName: u.LastName, OrgName: u.Org, Role: auth.Role(u.Role)}
	if u.OrgID != "" {
		if n.Org, err = id.Parse(u.OrgID); err != nil {
			return fmt.Errorf("org id: %w", err)
		}
	}
	if n.Password == "" {
		n.Password = rand.Text()[:16]
	}
	if err = p.start(ctx, false); err != nil {
		return err
	}
	if err = p.openDatabase(ctx, nil); err != nil {
		return err
	}
	n.TrialDays = p.trialDays()
	switch admitted, err := api.Admit(ctx, p.auth, n); {
	case err != nil:
		return err
	case !admitted:
		return fmt.Errorf("a person with the address %s exists already", u.Email)
	case u.Password == "":
		_, err = fmt.Fprintln(out, "password:", n.Password)
		return err
	default:
		return nil
	}
}

type billingGroup struct {
	Sync     billingSync     `cmd:"" help:"Make the payment processor's products and prices from the list of plans. May run as often as one likes."`
	Rights   billingRights   `cmd:"" help:"Print what an org may use, why, and how much of it is used."`
	Override billingOverride `cmd:"" help:"Give an org another value of a feature than its plan does."`
	Addon    billingAddon    `cmd:"" name:"addon" help:"Give an org more of a feature, on top of its plan."`
}

type billingSync struct {
	DryRun bool `help:"Say what would be made, and make nothing."`
}

// Run is kong's.
func (b *billingSync) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	p := s.process("billing", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err = p.start(ctx, false); err != nil {
		return err
	}
	if err = p.openDatabase(ctx, nil); err != nil {
		return err
	}
	if err = p.bill(ctx, nil, nil); err != nil {
		return err
	}
	published, err := p.billing.Publish(ctx, b.DryRun)
	for _, one := range published {
		if _, say := fmt.Fprintf(out, "%-8s %-45s %d %s %s\n", one.Done, one.Name, one.Amount, one.Currency, one.ID); say != nil {
			return say
		}
	}
	if err == nil && b.DryRun {
		_, err = fmt.Fprintln(out, "nothing was made: this was a dry run")
	}
	return err
}

// grant is what a decision about an org's rights says beside itself.
type grant struct {
	Org    string `arg:"" help:"Id of the org."`
	Actor  string `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who decides, for the org's audit log."`
	Reason string `help:"Why, for the same."`
}

// decide runs fn for the org and writes what it answers into the org's audit log.
func (g *grant) decide(ctx context.Context, s *settings, log *slog.Logger, fn func(context.Context, *postgres.Tx, *plans.Catalogue) (org.Entry, error)) error {
	return atOrg(ctx, s, log, g.Org, func(ctx context.Context, tx *postgres.Tx, c *plans.Catalogue) error {
		e, err := fn(ctx, tx, c)
		if err != nil {
			return err
		}
		e.Target, e.Detail["by"], e.Detail["reason"] = "feature", g.Actor, g.Reason
		org.Audit(ctx, tx, e)
		return nil
	})
}

// atOrg runs fn in a transaction of an org that there is.
func atOrg(ctx context.Context, s *settings, log *slog.Logger, which string, fn func(context.Context, *postgres.Tx, *plans.Catalogue) error) (err error) {
	at, err := id.Parse(which)
	if err != nil {
		return fmt.Errorf("org id: %w", err)
	}
	p := s.process("billing", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err = p.start(ctx, false); err != nil {
		return err
	}
	if err = p.openDatabase(ctx, nil); err != nil {
		return err
	}
	return p.app.Tx(ctx, at, func(tx *postgres.Tx) error {
		if _, err := org.Read(ctx, tx); err != nil {
			return err
		}
		return api.Plainly(fn(ctx, tx, p.plans))
	})
}

type billingRights struct {
	Org string `arg:"" help:"Id of the org."`
}

// Run is kong's.
func (b *billingRights) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return atOrg(ctx, s, log, b.Org, func(ctx context.Context, tx *postgres.Tx, c *plans.Catalogue) error {
		return c.Print(ctx, tx, out)
	})
}

type billingOverride struct {
	grant
	Feature string    `arg:"" help:"Key of the feature."`
	Value   string    `arg:"" optional:"" help:"true or false, a number, null for no limit, or a word in quotes, as JSON writes them."`
	Until   time.Time `help:"When it ends, such as 2027-01-31T00:00:00Z; never where it is not given."`
	Clear   bool      `help:"End the override instead."`
}

// Run is kong's.
func (b *billingOverride) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return b.decide(ctx, s, log, func(ctx context.Context, tx *postgres.Tx, c *plans.Catalogue) (org.Entry, error) {
		if b.Clear {
			return org.Entry{Action: "plan.override_ended", ID: b.Feature, Detail: map[string]any{}}, c.Revoke(ctx, tx, b.Feature)
		}
		var until *time.Time
		detail := map[string]any{"value": json.RawMessage(b.Value)}
		if !b.Until.IsZero() {
			until, detail["expires_at"] = &b.Until, wire.At(b.Until)
		}
		return org.Entry{Action: "plan.overridden", ID: b.Feature, Detail: detail}, c.Override(ctx, tx, b.Feature, json.RawMessage(b.Value), until)
	})
}

type billingAddon struct {
	grant
	Feature string `arg:"" optional:"" help:"Key of the feature."`
	Amount  int64  `arg:"" optional:"" help:"How much more of a limit; none for a feature that one has or has not."`
	Endless bool   `help:"No limit."`
	End     string `help:"Id of an add-on to take back instead."`
}

// Run is kong's.
func (b *billingAddon) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return b.decide(ctx, s, log, func(ctx context.Context, tx *postgres.Tx, c *plans.Catalogue) (org.Entry, error) {
		if b.End != "" {
			addon, err := id.Parse(b.End)
			if err != nil {
				return org.Entry{}, fmt.Errorf("add-on id: %w", err)
			}
			return org.Entry{Action: "plan.addon_ended", ID: b.End, Detail: map[string]any{}}, c.Reduce(ctx, tx, addon)
		}
		amount := b.Amount
		if b.Endless {
			amount = plans.Unlimited
		}
		addon, err := c.Extend(ctx, tx, b.Feature, amount)
		if err != nil {
			return org.Entry{}, err
		}
		_, err = fmt.Fprintln(out, "addon:", addon)
		return org.Entry{Action: "plan.addon_added", ID: addon.String(), Detail: map[string]any{"feature": b.Feature, "amount": b.Amount, "endless": b.Endless}}, err
	})
}

type jobsGroup struct {
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
	Actor string `env:"FUNNELWORK_ACTOR,USER" default:"cli" help:"Who acts, for the audit."`

	List     clerk.List     `cmd:"" help:"Print jobs, dead ones unless said, newest first."`
	Show     clerk.Show     `cmd:"" help:"Print all of a job."`
	Retry    clerk.Retry    `cmd:"" help:"Run jobs now; dead ones begin anew."`
	Archive  clerk.Archive  `cmd:"" help:"Make open jobs dead: they are kept, and run no more."`
	Drop     clerk.Drop     `cmd:"" help:"Delete jobs, by id or by what they have in common."`
	Redrive  clerk.Redrive  `cmd:"" help:"Run dead jobs again, so many a second; it goes on by itself."`
	Redrives clerk.Redrives `cmd:"" help:"Print how far redrives are, or cancel one."`
	Pause    clerk.Pause    `cmd:"" help:"Let nothing of a lane, a kind or an org begin to run."`
	Resume   clerk.Resume   `cmd:"" help:"End a pause."`
	Pauses   clerk.Pauses   `cmd:"" help:"Print what is paused."`
	Weight   clerk.Weight   `cmd:"" help:"Set an org's part of the slots."`
	Acts     clerk.Acts     `cmd:"" help:"Print who did what to jobs."`
}

// opener connects to the database that is given, or to the home's, which a running up shares. Redis may be away or
// unknown: a worker's relay sees within a second what was done.
func (j *jobsGroup) opener(s *settings, log *slog.Logger, out io.Writer) clerk.Opener {
	return func(ctx context.Context, do func(*clerk.Clerk) error) (err error) {
		p := s.process("jobs", log)
		defer func() { err = errors.Join(err, p.close(ctx)) }()
		if p.DatabaseURL == "" {
			if !local.Inhabited(p.Home) {
				return fmt.Errorf("nothing has run in %s yet: give DATABASE_URL or --home", p.Home)
			}
			if err = p.connect(ctx, false); err != nil {
				return err
			}
		}
		if pending, err := migrations.Pending(ctx, p.DatabaseURL); err != nil || pending {
			return cmp.Or(err, errors.New("the database lacks the schema of this version: run `funnelwork migrate`"))
		}
		if p.system, err = postgres.Open(ctx, postgres.Options{URL: p.DatabaseURL, Role: postgres.System, Pooler: p.Pooler, Name: p.name, MaxConns: 2}); err != nil {
			return err
		}
		p.atEnd(func(context.Context) error { p.system.Close(); return nil })
		if p.RedisURL != "" {
			if p.workers, err = redisx.Open(p.RedisURL, redisx.Worker); err != nil {
				return err
			}
			p.atEnd(func(context.Context) error { return p.workers.Close() })
		}
		return do(&clerk.Clerk{
			Operator: queue.NewOperator(queue.NewLedger(p.system, p.system), p.workers), Actor: j.Actor, JSON: j.JSON, Out: out,
			Redrive: func(ctx context.Context, tx *postgres.Tx, which id.ID) error {
				return redrive.Kind.Add(ctx, tx, redrive.Args{Redrive: which})
			},
		})
	}
}

type keysGroup struct {
	New    keysNew    `cmd:"" help:"Print a new keyset for FUNNELWORK_KEYSET."`
	Rotate keysRotate `cmd:"" help:"Add a key; what the older ones signed or sealed stays good."`
	Status keysStatus `cmd:"" help:"Print the sealing keys, what each has sealed, and who holds them."`
	Retire keysRetire `cmd:"" help:"Take a sealing key out of the keyset under which nothing is sealed any more."`
}

type keysNew struct{}

// Run is kong's.
func (keysNew) Run(out io.Writer) error {
	text, err := secret.Generate()
	if err == nil {
		_, err = fmt.Fprintln(out, text)
	}
	return err
}

type keysRotate struct {
	Which string        `arg:"" optional:"" enum:"signing,sealing" default:"signing" help:"signing: of access tokens, in the database. sealing: of HOME/keyset.json or FUNNELWORK_KEYSET."`
	Wait  time.Duration `default:"2m" help:"How long to wait for running processes to take up the new sealing key."`
}

// Run is kong's.
func (r *keysRotate) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeys(ctx, log, func(p *process) error {
		if r.Which == "signing" {
			return p.auth.Rotate(ctx)
		}
		key, promoted, err := keyring.Rotation{
			System: p.system, Keyset: p.keyset(out), Patience: r.Wait,
			Promoted: func(ctx context.Context, tx *postgres.Tx) error { return keyreseal.Kind.Add(ctx, tx, keyreseal.Args{}) },
		}.Rotate(ctx)
		switch {
		case err != nil:
			return err
		case promoted && p.Keyset == "":
			_, err = fmt.Fprintf(out, "key %d seals; a job seals anew what older keys have sealed\n", key)
		case promoted:
			log.InfoContext(ctx, "the printed keyset seals with the new key: start every process again with it", "key", key)
		default:
			log.InfoContext(ctx, "the printed keyset has a new key, which does not seal yet: start every process again with it, then rotate once more", "key", key)
		}
		return err
	})
}

// withKeys opens the database and the keyset for a command that ends by itself.
func (s *settings) withKeys(ctx context.Context, log *slog.Logger, do func(*process) error) (err error) {
	p := s.process("keys", log)
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err = p.start(ctx, false); err != nil {
		return err
	}
	if err = p.openDatabase(ctx, nil); err != nil {
		return err
	}
	return do(p)
}

// keyset is where the keyset is edited.
func (s *settings) keyset(out io.Writer) keyring.Keyset {
	if s.Keyset != "" {
		return keyring.Setting{Text: s.Keyset, Out: out}
	}
	return keyring.File(s.keysetFile())
}

type keysStatus struct{}

// Run is kong's.
func (keysStatus) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeys(ctx, log, func(p *process) error {
		return keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}.Print(ctx, out)
	})
}

type keysRetire struct {
	Key uint32 `arg:"" help:"The key, as 'keys status' names it."`
}

// Run is kong's.
func (r keysRetire) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withKeys(ctx, log, func(p *process) error {
		return keyring.Resealer{System: p.system, Box: p.box, Columns: jobs.Sealed()}.Retire(ctx, p.keyset(out), r.Key)
	})
}

type openapi struct{}

// Run is kong's.
func (openapi) Run(log *slog.Logger, out io.Writer) error {
	_, err := out.Write(api.New(api.Deps{Log: log}).Document())
	return err
}

type catalogue struct{}

// Run is kong's. The last object counts the types.
func (catalogue) Run(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	for _, t := range events.Catalogue() {
		sample, err := t.Example()
		if err != nil {
			return err
		}
		if err := e.Encode(map[string]any{"type": t.Name, "description": t.Description, "live": t.Live, "schema": t.Schema(), "sample": sample}); err != nil {
			return err
		}
	}
	live, all := events.Count()
	return e.Encode(map[string]any{"types": all, "live": live, "reserved": all - live})
}
