package command

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/local"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/redisx"
)

// welcome is the block that up prints when it serves. Its first line is "ready: " and the API's URL, alone; the login
// and the curl line of a first start are lines of their own, for programs that read them.
type welcome struct {
	api, ops        string // URLs of the listeners
	postgres, redis string // which servers
	home            string // absolute path
	parts           []partLine
	inbox           string // URL of the sandbox's webhook inbox
	seeded          bool   // a first start: email and password belong to a new user
	email, password string
}

// partLine is a part outside the product: its name, what stands for it, and the page of its sandbox ("" if there is
// none).
type partLine struct {
	name, state, page string
	sandbox           string // the name of the sandbox in use, or ""
}

// String returns the block. A start that seeded no user has a shorter one, without the login, the curl line and the
// pages of the sandboxes.
func (w welcome) String() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&b, "ready: %s\n\n", w.api)
	row("Postgres", "%s", w.postgres)
	row("Redis", "%s", w.redis)
	row("home", "%s", w.home)
	if w.seeded {
		for _, p := range w.parts {
			row(p.name, "%s", strings.TrimSpace(p.state+"  "+p.page))
		}
	}

	b.WriteString("\n")
	row("API docs", "%s/docs", w.api)
	row("login page", "%s/login", w.api)
	row("operations", "%s/", w.ops)
	row("sandboxes", "%s/sandbox/  (%s)", w.ops, w.sandboxNames())
	if !w.seeded {
		row("demo login", "%s  (a new password: funnelwork user password --email %[1]s)", w.email)
		return b.String()
	}

	row("inbox", "%sfirst  (a webhook endpoint to subscribe)", w.inbox)
	fmt.Fprintf(&b, `
demo login: %[2]s / %[3]s (shown this once)
create a contact:
  curl -s %[1]s/api/v1/crm/contacts -H 'Content-Type: application/json' -H "Authorization: Bearer $(curl -s `+
		`%[1]s/api/v1/auth/login -H 'Content-Type: application/json' -d '{"email":"%[2]s","password":"%[3]s"}' | `+
		`sed 's/.*"access_token":"\([^"]*\)".*/\1/')" `+
		`-d '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}'
`, w.api, w.email, w.password)

	return b.String()
}

func (w welcome) sandboxNames() string {
	var names []string
	for _, p := range w.parts {
		if p.sandbox != "" {
			names = append(names, p.sandbox)
		}
	}

	if len(names) == 0 {
		return "none"
	}

	return strings.Join(names, ", ")
}

// newWelcome returns the block of this process, without the login.
func (p *process) newWelcome(public, ops net.Listener) welcome {
	home, err := filepath.Abs(p.Home)
	if err != nil {
		home = p.Home
	}

	return welcome{
		api: listenerURL(public), ops: listenerURL(ops), postgres: p.postgresLine(), redis: p.redisLine(), home: home,
		parts: p.partLines(ops), inbox: p.inbox,
	}
}

func (p *process) postgresLine() string {
	if p.servers.PrivatePostgres {
		return p.versions.postgres + fromSource(p.servers.PostgresSource) + ", a private server in the home"
	}
	return p.versions.postgres + ", DATABASE_URL: " + postgres.Address(p.DatabaseURL)
}

// fromSource returns what follows the version of a server whose program is not installed.
func fromSource(source local.Source) string {
	if source == local.Installed || source == "" {
		return ""
	}
	return " from " + string(source)
}

func (p *process) redisLine() string {
	switch {
	case p.servers.RedisInProcess:
		return "in this process, because no redis-server was found: for trying out"
	case p.servers.PrivateRedis:
		return p.versions.redis + fromSource(p.servers.RedisSource) + ", a private server in the home"
	case p.versions.redis == "":
		return "REDIS_URL: " + redisx.Address(p.RedisURL) + ", of unknown version"
	default:
		return p.versions.redis + ", REDIS_URL: " + redisx.Address(p.RedisURL)
	}
}

// partLines returns a line for each part. The OAuth platforms of one process may be real and on the sandbox.
func (p *process) partLines(ops net.Listener) (lines []partLine) {
	names := map[httpx.Part]string{
		httpx.PartBilling: "Stripe", httpx.PartOAuth: "OAuth", httpx.PartMail: "mail", httpx.PartAI: "AI",
	}
	for _, one := range allParts() {
		line := partLine{name: names[one.Part], state: "configured"}
		if p.usesSandbox(one.Part) {
			line.state = "sandbox"
			line.sandbox = one.sandbox
			if one.page != "" {
				line.page = listenerURL(ops) + one.page
			}
			if apps, _, err := p.OAuth.splitApps(); one.Part == httpx.PartOAuth && err == nil && len(apps) > 0 {
				line.state = "sandbox but for " + strings.Join(slices.Sorted(maps.Keys(apps)), ", ")
			}
		}

		lines = append(lines, line)
	}

	return lines
}
