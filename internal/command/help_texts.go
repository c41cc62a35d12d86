package command

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// setHelp sets the help texts of settings that do not fit into a struct tag. It returns an error for a text of no flag.
func setHelp(k *kong.Kong) error {
	texts := helpTexts()
	for _, flag := range k.Model.Flags {
		if text, ok := texts[flag.Name]; ok {
			flag.Help = text
			delete(texts, flag.Name)
		}
	}

	for name := range texts {
		return fmt.Errorf("help of --%s: there is no such flag", name)
	}

	return nil
}

// helpTexts returns the long help texts by flag.
func helpTexts() map[string]string {
	return map[string]string{ //nolint:gosec // the texts are about secrets and contain none
		"ops-addr": "Where health, metrics and the job dashboard listen (127.0.0.1:9090; worker 9091, scheduler " +
			"9092).",
		"home": "Directory of local state: private servers, keyset.",
		"database-url": "Postgres 15 or later; up starts a private one where it is not given. What it leaves out " +
			"comes from libpq's variables, such as a password of any characters from $PGPASSWORD.",
		"read-database-url": "A streaming standby of DATABASE_URL's server, from which exports, the event feed, " +
			"statistics and trainings are read while it lags less than 10 s.",
		"database-pooler": "DATABASE_URL leads to a transaction pooler, and so does FUNNELWORK_READ_DATABASE_URL.",
		"redis-url": "Redis 6.2 or later, Sentinel or Cluster; up starts a private one where it is not " +
			"given.",
		"postgres-repository": "Maven repository from which up downloads Postgres if neither the machine nor its " +
			"distribution has one. none: up downloads nothing, neither from Maven nor packages of the distribution.",
		"keyset": "Keyset that seals secrets in the database, as 'keys new' prints it; else " +
			"HOME/keyset.json.",
		"spool": "Directory in which a worker keeps new tokens of accounts, sealed, and final replies of mail " +
			"servers until the database has them; else HOME/spool.",
		"public-url": "Base of every link; else http:// and the API's address.",
		"domain-target": "Name that the CNAME of custom domains leads to; else that of " +
			"FUNNELWORK_PUBLIC_URL.",
		"dns-resolvers": "Who is asked for the records of custom domains, each of whom has to see them: system, " +
			"authority (the zones' own servers) or addresses.",
		"hosts-file": "File in which an API process keeps the custom domains that it knows, for a start without the " +
			"database; else HOME/hosts.json.",
		"cors-origins":                  "Origins whose pages may call the API.",
		"trusted-proxies":               "Addresses or networks whose X-Forwarded-For counts.",
		"stripe-secret-key":             "Stripe's secret key; without one there is no billing, but for the sandbox.",
		"stripe-webhook-secret":         "Signing secret of the Stripe endpoint that sends to /billing/stripe/webhook.",
		"stripe-connect-webhook-secret": "The same of /billing/stripe/connect-webhook, for connected accounts.",
		"stripe-url":                    "Where Stripe's API is, for tests; else at Stripe.",
		"ai-key": "Key of a provider of language models; without key and URL there are no AI endpoints, but for the " +
			"sandbox.",
		"ai-url":               "Base of the provider's API, which is like OpenAI's; else OpenAI's own.",
		"ai-model":             "The model that is asked.",
		"ai-tokens-per-minute": "AI tokens that an organization may spend in a minute.",
		"plans":                "File that lists the plans; without one those that the program ships with.",
		"signup": "Whether strangers may sign up: on, off, or auto: only where up listens on loopback. Others " +
			"are let in by 'user create' and by invitations.",
		"webhook-allow-private": "Webhooks may go to http and to private addresses.",
		"inbound-addr": "Where an API process takes incoming mails: host:port for SMTP, lmtp://host:port for LMTP; " +
			"without one by HTTP alone.",
		"inbound-domain": "Domain of which all mail reaches that listener. Emails of mailboxes whose reply_to is " +
			"there get addresses of their own for answers.",
		"inbound-trusted": "Addresses and networks of the mail servers in front of that listener, separated by " +
			"commas; others have limits of connections and commands.",
		"mail-allow-private": "Mailboxes may use servers with private addresses, any port, and no TLS.",
		"mail-helo": "Name that mailboxes greet their servers with; without one the host of the public URL, or the " +
			"address " +
			"of the connection.",
		"mail-resolve-after": "How long after its transmission a person may settle an email whose fate is unknown.",
		"smtp-url": "Server for the platform's mails, smtp:// or smtps://; without one none is sent; with the " +
			"sandbox they go to its mailbox on the ops listener.",
		"sandboxes": "Sandboxes that stand in for what is not configured: stripe, oauth, mail, ai. Pages on the ops " +
			"listener show what they did. up uses all of them.",
		"mail-from":  "Sender of the platform's mails.",
		"log-level":  "debug, info, warn or error.",
		"log-format": "json, text, or auto: text on a terminal.",
		"drain-delay": "How long the API goes on serving after SIGTERM, with /readyz at 503, before its listener " +
			"closes (5s; up 0s).",
		"otlp-endpoint": "OpenTelemetry collector that gets the traces by OTLP over HTTP, such as " +
			"http://localhost:4318; without one nothing is traced.",
		"otlp-traces-endpoint": "The same as the whole URL, if it does not end in /v1/traces.",
		"otlp-headers": "Headers of requests to the collector, name=value with commas between them, such as a token; " +
			"values are percent-encoded.",
		"trace-share":  "Share of the traces that are recorded, from 0 to 1 (1).",
		"otel-service": "The service's name in traces (funnelwork- and the role).",
		"archive-url": "Where a worker writes days of events, deliveries and attempts before it drops them: " +
			"s3://bucket/prefix?endpoint=https://host&region=R, without endpoint at Amazon; without it they are " +
			"dropped.",
		"retain-events": "Days that events are kept, 31 or more (31), and days of single plans: 90,free=31. A plan " +
			"is a key of the catalogue, or free: orgs whose plan is not in effect.",
		"retain-deliveries": "The same of webhook deliveries, 31 or more (31). Events are kept for as long.",
		"retain-attempts":   "The same of their attempts, 7 or more (31).",
		"retain-mail":       "The same of contents of mails, 30 or more (365).",
		"oauth-facebook-config-id": "Configuration of Facebook Login for Business for pages; asked for in the place " +
			"of scopes.",
		"oauth-linkedin-version":       "Version of LinkedIn's API, a month such as 202607.",
		"oauth-google-ads-version":     "Version of the Google Ads API.",
		"oauth-google-developer-token": "Google Ads' developer token.",
		"oauth-url": "Where the platforms are, for tests, such as the sandbox of another process; else at their own " +
			"addresses.",
	}
}

// helpGroups returns the headings of flags that do not fit into a struct tag.
func helpGroups() kong.Option {
	return kong.ExplicitGroups([]kong.Group{
		{Key: "linkedin-page", Title: "LinkedIn Pages: the profile's application where none is set"},
		{Key: "linkedin-ads", Title: "LinkedIn Ads: the profile's application where none is set"},
	})
}
