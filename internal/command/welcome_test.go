package command

import (
	"log/slog"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/local"
)

func TestTheBlockNamesGivenServersWithoutTheirPasswords(t *testing.T) {
	t.Parallel()
	p := (&settings{
		DatabaseURL: "postgres://app:hunter2@db.example/crm", RedisURL: "redis://:hunter2@cache.example",
	}).newProcess("up", slog.New(slog.DiscardHandler))
	p.servers = &local.Servers{}
	p.versions.postgres, p.versions.redis = "16.4", "7.2.5"
	if got, want := p.postgresLine(), "16.4, DATABASE_URL: db.example:5432/crm"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.redisLine(), "7.2.5, REDIS_URL: cache.example:6379"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.versions.redis = "" // it is away, or the login may not ask for it
	if got, want := p.redisLine(), "REDIS_URL: cache.example:6379, of unknown version"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.servers.PrivatePostgres, p.servers.PostgresSource = true, local.Packages
	packaged := "16.4 from the distribution's packages, a private server in the home"
	if got, want := p.postgresLine(), packaged; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.servers.PrivateRedis, p.servers.RedisInProcess = true, true
	want := "in this process, because no redis-server was found: for trying out"
	if got := p.redisLine(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheBlockTellsRealPartsFromSandboxes(t *testing.T) {
	t.Parallel()
	ops, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ops.Close() }()
	s := &settings{StripeKey: "sk_test_hunter2", AIKey: "hunter2"}
	s.OAuth.X = oauthApp{ID: "abc", Secret: "hunter2"}
	got := s.newProcess("up", slog.New(slog.DiscardHandler)).partLines(ops)
	want := []partLine{
		{name: "Stripe", state: "configured"},
		{name: "OAuth", state: "sandbox but for x", sandbox: "oauth", page: listenerURL(ops) + "/sandbox/oauth/"},
		{name: "mail", state: "sandbox", sandbox: "mail", page: listenerURL(ops) + "/sandbox/mailbox/"},
		{name: "AI", state: "configured"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(partLine{})); diff != "" {
		t.Error(diff)
	}
	if got, want := (welcome{parts: got}).sandboxNames(), "oauth, mail"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (welcome{parts: got[:1]}).sandboxNames(), "none"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
