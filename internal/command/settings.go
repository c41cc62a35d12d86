package command

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// settings are read here and nowhere else: flag, else environment, else default.
type settings struct {
	Addr        string   `env:"FUNNELWORK_ADDR" default:"127.0.0.1:8080" help:"Where the API listens."`
	OpsAddr     string   `env:"FUNNELWORK_OPS_ADDR"`
	OpsUser     string   `env:"FUNNELWORK_OPS_USER" help:"User of the ops listener; needed off loopback."`
	OpsPassword string   `env:"FUNNELWORK_OPS_PASSWORD" help:"Password of the ops listener."`
	OpsHosts    []string `env:"FUNNELWORK_OPS_HOSTS" help:"Names under which the ops listener is called."`
	OpsReadOnly bool     `env:"FUNNELWORK_OPS_READ_ONLY" help:"The job dashboard shows and changes nothing."`
	Home        string   `env:"FUNNELWORK_HOME" default:".funnelwork"`

	DatabaseURL string `name:"database-url" env:"DATABASE_URL"`
	ReadURL     string `name:"read-database-url" env:"FUNNELWORK_READ_DATABASE_URL"`
	Pooler      bool   `name:"database-pooler" env:"FUNNELWORK_DATABASE_POOLER"`
	RedisURL    string `name:"redis-url" env:"REDIS_URL"`
	Repository  string `name:"postgres-repository" env:"FUNNELWORK_POSTGRES_REPOSITORY"`

	Keyset string `env:"FUNNELWORK_KEYSET"`
	Spool  string `env:"FUNNELWORK_SPOOL"`

	PublicURL    string    `name:"public-url" env:"FUNNELWORK_PUBLIC_URL"`
	DomainTarget string    `name:"domain-target" env:"FUNNELWORK_DOMAIN_TARGET"`
	DNSResolvers []string  `name:"dns-resolvers" env:"FUNNELWORK_DNS_RESOLVERS" default:"system,authority"`
	HostsFile    string    `name:"hosts-file" env:"FUNNELWORK_HOSTS_FILE"`
	CORSOrigins  []string  `name:"cors-origins" env:"FUNNELWORK_CORS_ORIGINS"`
	Proxies      []network `name:"trusted-proxies" env:"FUNNELWORK_TRUSTED_PROXIES"`

	StripeKey    string `name:"stripe-secret-key" env:"STRIPE_SECRET_KEY"`
	StripeHook   string `name:"stripe-webhook-secret" env:"STRIPE_WEBHOOK_SECRET"`
	StripeOthers string `name:"stripe-connect-webhook-secret" env:"STRIPE_CONNECT_WEBHOOK_SECRET"`
	StripeURL    string `name:"stripe-url" env:"FUNNELWORK_STRIPE_URL"`

	AIKey       string `name:"ai-key" env:"FUNNELWORK_AI_KEY"`
	AIURL       string `name:"ai-url" env:"FUNNELWORK_AI_URL"`
	AIModel     string `name:"ai-model" env:"FUNNELWORK_AI_MODEL" default:"gpt-4.1-mini"`
	AIPerMinute int64  `name:"ai-tokens-per-minute" env:"FUNNELWORK_AI_TOKENS_PER_MINUTE" default:"50000"`

	Plans        string    `env:"FUNNELWORK_PLANS"`
	OAuth        oauthApps `embed:"" prefix:"oauth-" envprefix:"FUNNELWORK_OAUTH_"`
	Signup       string    `env:"FUNNELWORK_SIGNUP" enum:"on,off,auto" default:"auto"`
	RateLimit    string    `env:"FUNNELWORK_RATE_LIMIT" enum:"on,off" default:"on" help:"Rate limits: on or off."`
	AllowPrivate bool      `name:"webhook-allow-private" env:"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE"`
	Concurrency  int       `env:"FUNNELWORK_CONCURRENCY" default:"64" help:"Jobs that a worker runs at once."`

	InboundAddr      string        `name:"inbound-addr" env:"FUNNELWORK_INBOUND_ADDR"`
	InboundDomain    string        `name:"inbound-domain" env:"FUNNELWORK_INBOUND_DOMAIN"`
	InboundTrusted   []network     `name:"inbound-trusted" env:"FUNNELWORK_INBOUND_TRUSTED"`
	MailAllowPrivate bool          `name:"mail-allow-private" env:"FUNNELWORK_MAIL_ALLOW_PRIVATE"`
	MailHelo         string        `name:"mail-helo" env:"FUNNELWORK_MAIL_HELO"`
	MailResolveAfter time.Duration `name:"mail-resolve-after" env:"FUNNELWORK_MAIL_RESOLVE_AFTER" default:"15m"`

	SMTPURL   string        `name:"smtp-url" env:"FUNNELWORK_SMTP_URL"`
	Sandboxes []sandboxName `env:"FUNNELWORK_SANDBOXES"`
	MailFrom  string        `name:"mail-from" env:"FUNNELWORK_MAIL_FROM" default:"Funnelwork <noreply@localhost>"`

	LogLevel  string `env:"FUNNELWORK_LOG_LEVEL" enum:"debug,info,warn,error" default:"info"`
	LogFormat string `env:"FUNNELWORK_LOG_FORMAT" enum:"json,text,auto" default:"auto"`

	DrainDelay *time.Duration `env:"FUNNELWORK_DRAIN_DELAY"`

	// The names of the variables are OpenTelemetry's.
	OTLPEndpoint string  `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	OTLPTraces   string  `name:"otlp-traces-endpoint" env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"`
	OTLPHeaders  string  `name:"otlp-headers" env:"OTEL_EXPORTER_OTLP_HEADERS"`
	TraceShare   float64 `name:"trace-share" env:"OTEL_TRACES_SAMPLER_ARG" default:"1"`
	OTelService  string  `name:"otel-service" env:"OTEL_SERVICE_NAME"`

	retention
}

func (s *settings) keysetFile() string { return filepath.Join(s.Home, "keyset.json") }

const (
	defaultDrainDelay = 5 * time.Second
	maxDrainDelay     = 10 * time.Minute
)

// drainDelay returns the drain delay of a command's API. up has no load balancer in front that would redirect clients.
func (s *settings) drainDelay(command string) time.Duration {
	switch {
	case s.DrainDelay != nil:
		return *s.DrainDelay
	case command == "api":
		return defaultDrainDelay
	default:
		return 0
	}
}

// network is a setting: an address or a network.
type network netip.Prefix

// UnmarshalText parses "10.0.0.1" or "10.0.0.0/8". An IPv6 form of an IPv4 address is that address.
func (n *network) UnmarshalText(text []byte) error {
	if a, err := netip.ParseAddr(string(text)); err == nil {
		a = a.Unmap()
		*n = network(netip.PrefixFrom(a, a.BitLen()))
		return nil
	}

	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return errors.New("want an address or a network, such as 10.0.0.1 or 10.0.0.0/8")
	}
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}

	*n = network(p.Masked())

	return nil
}

// oauthApps are the applications registered with social networks and ad platforms.
type oauthApps struct {
	Facebook  oauthApp `embed:"" prefix:"facebook-" envprefix:"FACEBOOK_" group:"Facebook and Meta Ads"`
	Instagram oauthApp `embed:"" prefix:"instagram-" envprefix:"INSTAGRAM_" group:"Instagram"`
	LinkedIn  oauthApp `embed:"" prefix:"linkedin-" envprefix:"LINKEDIN_" group:"LinkedIn"`

	LinkedInPage oauthApp `embed:"" prefix:"linkedin-page-" envprefix:"LINKEDIN_PAGE_" group:"linkedin-page"`
	LinkedInAds  oauthApp `embed:"" prefix:"linkedin-ads-" envprefix:"LINKEDIN_ADS_" group:"linkedin-ads"`

	X         oauthApp `embed:"" prefix:"x-" envprefix:"X_" group:"X"`
	TikTok    oauthApp `embed:"" prefix:"tiktok-" envprefix:"TIKTOK_" group:"TikTok"`
	TikTokAds oauthApp `embed:"" prefix:"tiktok-ads-" envprefix:"TIKTOK_ADS_" group:"TikTok Ads"`
	Google    oauthApp `embed:"" prefix:"google-" envprefix:"GOOGLE_" group:"YouTube, Gmail and Google Ads"`
	Pinterest oauthApp `embed:"" prefix:"pinterest-" envprefix:"PINTEREST_" group:"Pinterest and its ads"`
	Microsoft oauthApp `embed:"" prefix:"microsoft-" envprefix:"MICROSOFT_" group:"Outlook"`
	XAds      oauthApp `embed:"" prefix:"x-ads-" envprefix:"X_ADS_" group:"X Ads: its API key and secret"`

	FacebookConfig string `name:"facebook-config-id" env:"FACEBOOK_CONFIG_ID"`
	MetaAdsConfig  string `name:"meta-ads-config-id" env:"META_ADS_CONFIG_ID" help:"The same for Meta Ads."`
	Graph          string `name:"graph-version" env:"GRAPH_VERSION" default:"v25.0" help:"Version of Meta's Graph API."`
	LinkedInMonth  string `name:"linkedin-version" env:"LINKEDIN_VERSION" default:"202607"`
	GoogleAds      string `name:"google-ads-version" env:"GOOGLE_ADS_VERSION" default:"v25"`
	XAdsAPI        string `name:"x-ads-version" env:"X_ADS_VERSION" default:"12" help:"Version of the X Ads API."`
	DeveloperToken string `name:"google-developer-token" env:"GOOGLE_DEVELOPER_TOKEN"`
	URL            string `name:"url" env:"URL"`
}

type oauthApp struct {
	ID     string `name:"client-id" env:"CLIENT_ID" help:"Client id of the application that is registered there."`
	Secret string `name:"client-secret" env:"CLIENT_SECRET" help:"Its secret."`
}

// checkVersions checks the versions against each API's format.
func (o *oauthApps) checkVersions() error {
	for name, v := range map[string]struct{ is, like string }{
		"GRAPH_VERSION": {o.Graph, `^v\d+\.\d+$`}, "LINKEDIN_VERSION": {o.LinkedInMonth, `^\d{6}$`},
		"GOOGLE_ADS_VERSION": {o.GoogleAds, `^v\d+$`},
		"X_ADS_VERSION":      {o.XAdsAPI, `^\d+$`},
	} {
		if !regexp.MustCompile(v.like).MatchString(v.is) {
			return fmt.Errorf("FUNNELWORK_OAUTH_%s: %q is no version", name, v.is)
		}
	}

	return nil
}

// withFamily returns app with the further settings of its family.
func (o *oauthApps) withFamily(family string, app provider.App) provider.App {
	switch family {
	case "facebook":
		app.Version = o.Graph
		app.Configs = map[string]string{"facebook": o.FacebookConfig, "meta_ads": o.MetaAdsConfig}
	case "instagram":
		app.Version = o.Graph
	case "linkedin", "linkedin_page", "linkedin_ads":
		app.Version = o.LinkedInMonth
	case "x_ads":
		app.Version = o.XAdsAPI
	case "google":
		app.Version = o.GoogleAds
		if app.DeveloperToken == "" {
			app.DeveloperToken = provider.Secret(o.DeveloperToken)
		}
	}

	return app
}

// halfApp is the error of an application with an ID and no secret, or the reverse.
func halfApp(family string) error {
	name := "FUNNELWORK_OAUTH_" + strings.ToUpper(family)
	return fmt.Errorf("%s_CLIENT_ID and %s_CLIENT_SECRET: set both or neither", name, name)
}

// splitApps returns the applications by family, and the families that have none.
func (o *oauthApps) splitApps() (apps map[string]provider.App, without []string, err error) {
	given := map[string]oauthApp{
		"facebook": o.Facebook, "instagram": o.Instagram, "linkedin": o.LinkedIn, "x": o.X, "tiktok": o.TikTok,
		"tiktok_ads": o.TikTokAds,
		"google":     o.Google, "pinterest": o.Pinterest, "microsoft": o.Microsoft, "x_ads": o.XAds,
	}
	apps = map[string]provider.App{}
	for _, family := range provider.Families() {
		a := given[family]
		if a == (oauthApp{}) && o.URL != "" { // another process's sandbox
			a.ID, a.Secret = oauth.Client(family)
		}
		if (a.ID == "") != (a.Secret == "") {
			return nil, nil, halfApp(family)
		}
		if a.ID == "" {
			without = append(without, family)
			continue
		}

		apps[family] = provider.App{ClientID: a.ID, ClientSecret: provider.Secret(a.Secret), Base: o.URL}
	}

	for family, a := range map[string]oauthApp{"linkedin_page": o.LinkedInPage, "linkedin_ads": o.LinkedInAds} {
		switch {
		case (a.ID == "") != (a.Secret == ""):
			return nil, nil, halfApp(family)
		case a.ID != "": // else the profile's stands in
			apps[family] = provider.App{ClientID: a.ID, ClientSecret: provider.Secret(a.Secret), Base: o.URL}
		}
	}

	return apps, without, nil
}
