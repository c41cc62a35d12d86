package command

import (
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/worker"
)

// invalidSetting returns the error of one setting, by its flag and its environment variable ("" if it has none): what
// is wrong with its value. why must not repeat the value of a setting that may hold a secret.
func invalidSetting(flag, env string, why error) error {
	if env == "" {
		return fmt.Errorf("--%s: %w", flag, why)
	}
	return fmt.Errorf("--%s (%s): %w", flag, env, why)
}

// check is what one setting has to comply with.
type check struct {
	flag, env string
	value     string             // the check is left out if it is ""
	holds     func(string) error // its error never repeats a secret
}

// Validate is kong's: it refuses a value that no command could use, before anything is started. It connects to no
// server.
func (s *settings) Validate() error {
	for _, c := range s.textChecks() {
		if c.value == "" {
			continue
		}
		if err := c.holds(c.value); err != nil {
			return invalidSetting(c.flag, c.env, err)
		}
	}

	if s.Concurrency < 1 || s.Concurrency > worker.MaxConcurrency {
		return invalidSetting("concurrency", "FUNNELWORK_CONCURRENCY",
			fmt.Errorf("want 1 to %d", worker.MaxConcurrency))
	}
	if s.TraceShare < 0 || s.TraceShare > 1 {
		return invalidSetting("trace-share", "OTEL_TRACES_SAMPLER_ARG", errors.New("want 0 to 1"))
	}
	if err := checkSandboxes(s.Sandboxes); err != nil {
		return err
	}
	if s.DrainDelay != nil && (*s.DrainDelay < 0 || *s.DrainDelay > maxDrainDelay) {
		return invalidSetting("drain-delay", "FUNNELWORK_DRAIN_DELAY", fmt.Errorf("want 0s to %s", maxDrainDelay))
	}
	if _, err := branding.Views(s.DNSResolvers, outbound.Public()); err != nil {
		return invalidSetting("dns-resolvers", "FUNNELWORK_DNS_RESOLVERS", err)
	}

	for _, origin := range s.CORSOrigins {
		if u, err := url.Parse(origin); checkBase(origin) != nil || err != nil || u.Path != "" {
			return invalidSetting("cors-origins", "FUNNELWORK_CORS_ORIGINS",
				errors.New("each is http:// or https://, a host, and a port where there is one"))
		}
	}

	catalogue, err := plans.Load(s.Plans)
	if err == nil {
		err = s.retention.checkSettings(catalogue)
	}
	if err != nil {
		return err
	}
	if err := s.OAuth.checkVersions(); err != nil {
		return err
	}

	_, _, err = s.OAuth.splitApps()

	return err
}

// textChecks returns the checks of the settings that are one text.
func (s *settings) textChecks() []check {
	return []check{
		{"addr", "FUNNELWORK_ADDR", s.Addr, checkAddress},
		{"ops-addr", "FUNNELWORK_OPS_ADDR", s.OpsAddr, checkAddress},
		{"database-url", "DATABASE_URL", s.DatabaseURL, postgres.CheckURL},
		{"read-database-url", "FUNNELWORK_READ_DATABASE_URL", s.ReadURL, postgres.CheckURL},
		{"redis-url", "REDIS_URL", s.RedisURL, redisx.CheckURL},
		{"postgres-repository", "FUNNELWORK_POSTGRES_REPOSITORY", s.Repository, func(text string) error {
			if text == "none" {
				return nil
			}
			return checkBase(text)
		}},
		{"keyset", "FUNNELWORK_KEYSET", s.Keyset, func(text string) error {
			if _, err := secret.Parse(text); err != nil {
				return errors.New("not a keyset; `funnelwork keys new` prints one")
			}
			return nil
		}},
		{"public-url", "FUNNELWORK_PUBLIC_URL", s.PublicURL, checkBase},
		{"stripe-url", "FUNNELWORK_STRIPE_URL", s.StripeURL, checkBase},
		{"ai-url", "FUNNELWORK_AI_URL", s.AIURL, checkBase},
		{"otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", s.OTLPEndpoint, checkBase},
		{"otlp-traces-endpoint", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", s.OTLPTraces, checkBase},
		{"otlp-headers", "OTEL_EXPORTER_OTLP_HEADERS", s.OTLPHeaders, func(text string) error {
			_, err := traceHeaders(text)
			return err
		}},
		{"oauth-url", "FUNNELWORK_OAUTH_URL", s.OAuth.URL, checkBase},
		{"plans", "FUNNELWORK_PLANS", s.Plans, func(file string) error {
			_, err := plans.Load(file)
			return err
		}},
		{"mail-from", "FUNNELWORK_MAIL_FROM", s.MailFrom, func(text string) error {
			if _, err := netmail.ParseAddress(text); err != nil {
				return errors.New("want a mail address, such as Funnelwork <noreply@example.com>")
			}
			return nil
		}},
		{"inbound-domain", "FUNNELWORK_INBOUND_DOMAIN", s.InboundDomain, func(text string) error {
			if _, err := netmail.ParseAddress("a@" + text); err != nil || !strings.Contains(text, ".") {
				return errors.New("want a domain, such as in.example.com")
			}
			return nil
		}},
		{"smtp-url", "FUNNELWORK_SMTP_URL", s.SMTPURL, func(text string) error {
			_, err := mail.NewSMTP(text, s.MailFrom)
			return err
		}},
	}
}

// checkAddress refuses what is no address to listen on.
func checkAddress(text string) error {
	const want = "want host:port, such as 127.0.0.1:8080, or :8080 for every address"
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q is not an address; %s", text, want)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port; %s", port, want)
	}

	return nil
}

// checkBase refuses what is no base of links.
func checkBase(text string) error {
	u, err := url.Parse(text)
	isWeb := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if isWeb && u.Host != "" && u.RawQuery == "" && u.Fragment == "" {
		return nil
	}
	return errors.New("want http:// or https:// and a host")
}
