package social_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/social/provider"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// shore is a database, the sandbox's providers behind a real listener, and the dependencies of a refresher.
type shore struct {
	t      testing.TB
	db     *testkit.Database
	sql    *pgx.Conn
	box    *oauth.Sandbox
	clock  *clock // nil: the real clock
	places places
	secret *secret.Sealer
	log    *logged
	set    *provider.Set

	requestsMade int // by refreshers that counted has wrapped

	mu   sync.Mutex
	told []id.ID // grants with a notification
}

// places holds the addresses and paths that other processes need.
type places struct {
	Database, Keyset, Spool, Providers string
	Lease                              time.Duration
}

// clock only moves when it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logged counts the messages at level ERROR.
type logged struct {
	slog.Handler
	mu     sync.Mutex
	errors []string
}

func (l *logged) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		l.mu.Lock()
		l.errors = append(l.errors, r.Message)
		l.mu.Unlock()
	}
	return l.Handler.Handle(ctx, r)
}

// Enabled implements slog.Handler.
func (*logged) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }

// newShore returns a shore; if c is not nil, c is the clock of all its parts.
func newShore(t testing.TB, c *clock) *shore {
	t.Helper()
	s := &shore{t: t, db: testkit.DB(t), clock: c, log: &logged{Handler: slog.DiscardHandler}}
	s.sql = testkit.Pgx(t, s.db.URL)
	o := oauth.Options{}
	if c != nil {
		o.Now = c.Now
	}
	s.box = oauth.New(o)
	server := httptest.NewServer(s.box.Handler())
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.box.Close()
	})
	dir := t.TempDir()
	s.places = places{
		Database: s.db.URL, Keyset: filepath.Join(dir, "keyset.json"),
		Spool: filepath.Join(dir, "spool"), Providers: server.URL + oauth.Path, Lease: 2 * time.Second,
	}
	var err error
	if s.secret, err = secret.Create(s.places.Keyset); err != nil {
		t.Fatal(err)
	}
	s.set = providers(s.places.Providers, s.now, "")
	return s
}

func (s *shore) now() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock.Now()
}

// providers returns the sandbox's providers, and "herd", which is X with a budget of 30 requests per second.
func providers(base string, now func() time.Time, wrong string) *provider.Set {
	apps := map[string]provider.App{}
	for _, family := range provider.Families() {
		client, password := oauth.Client(family)
		apps[family] = provider.App{ClientID: client, ClientSecret: provider.Secret(password + wrong), Base: base}
	}
	var more []provider.Spec
	for _, spec := range provider.Catalogue() {
		if spec.Platform == "x" {
			spec.Platform, spec.Rate = "herd", 30
			more = append(more, spec)
		}
	}
	return provider.New(provider.Options{Apps: apps, Now: now, More: more})
}

func (s *shore) service(set *provider.Set) *social.Service {
	return social.New(social.Options{
		Providers: set, Box: s.secret, PublicURL: "http://test",
		Audit:  func(context.Context, *postgres.Tx, social.Act) {},
		Revoke: func(context.Context, *postgres.Tx, id.ID, time.Time) error { return nil },
		Tell: func(_ context.Context, _ *postgres.Tx, grant id.ID) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, grant)
			return nil
		},
	})
}

func (s *shore) refresher() *social.Refresher { return s.refresherOf(s.set) }

func (s *shore) refresherOf(set *provider.Set) *social.Refresher {
	s.t.Helper()
	dir, err := journal.Open(s.places.Spool)
	if err != nil {
		s.t.Fatal(err)
	}
	o := social.RefreshOptions{
		Service: s.service(set), App: s.db.App, System: s.db.System,
		Spool: social.NewTokenJournal(dir, s.secret),
		Log:   slog.New(s.log), Lease: s.places.Lease,
	}
	if s.clock != nil {
		o.Now = s.clock.Now
	}
	return social.NewRefresher(o)
}

// at identifies a grant.
type at struct{ org, grant id.ID }

// grants makes n logins of a family, each in its own org, with one account and an access token that expires after left.
func (s *shore) grants(platform, family string, n int, left time.Duration) []at {
	s.t.Helper()
	all := make([]at, n)
	p, err := s.set.Get(platform)
	if err != nil {
		s.t.Fatal(err)
	}
	now := s.now()
	var grants, accounts, orgs [][]any
	for i := range all {
		one := at{id.New(), id.New()}
		g, err := s.box.Issue(s.t.Context(), family, fmt.Sprintf("person %d", i), p.Scopes...)
		if err != nil {
			s.t.Fatal(err)
		}
		var refresh []byte
		if g.Refresh != "" {
			refresh = s.seal(g.Refresh, one, "refresh")
		}
		life := p.Lifetime
		orgs = append(orgs, []any{one.org, fmt.Sprintf("Org %d", i)})
		grants = append(grants, []any{
			one.org, one.grant, platform, string(p.Kind), p.ClientID(), g.Subject, s.seal(g.Access, one, "access"),
			refresh, now, now.Add(left - life), now.Add(left), now, p.Scopes,
		})
		accounts = append(accounts,
			[]any{one.org, id.New(), platform, string(p.Kind), g.Subject, one.grant, fmt.Sprintf("Account %d", i), now})
		all[i] = one
	}
	for _, c := range []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"org", []string{"id", "name"}, orgs},
		{"social_grant", []string{
			"org_id", "id", "platform", "kind", "client_id", "subject_id", "sealed_access", "sealed_refresh",
			"granted_at", "issued_at", "access_expires_at", "refresh_at", "scopes",
		}, grants},
		{
			"social_account",
			[]string{
				"org_id", "id", "platform", "kind", "external_account_id", "grant_id", "display_name",
				"connected_at",
			},
			accounts,
		},
	} {
		// Counting takes a lock per org until the transaction ends.
		for rows := range slices.Chunk(c.rows, 1000) {
			if _, err := s.sql.CopyFrom(s.t.Context(), pgx.Identifier{c.table}, c.columns,
				pgx.CopyFromRows(rows)); err != nil {
				s.t.Fatalf("%s: %v", c.table, err)
			}
		}
	}
	return all
}

func (s *shore) seal(token string, one at, field string) []byte {
	s.t.Helper()
	sealed, err := s.secret.Seal([]byte(token), "grant|"+one.org.String()+"|"+one.grant.String()+"|"+field)
	if err != nil {
		s.t.Fatal(err)
	}
	return sealed
}

// grantState holds the columns of a grant's row that the tests check.
type grantState struct {
	Status, Reason   string
	Attempt          *string
	Version          int64
	Failures         int
	Access, Refresh  []byte
	RefreshAt, Until *time.Time
	IssuedAt         time.Time
}

func (s *shore) stands(one at) (g grantState) {
	s.t.Helper()
	err := s.sql.QueryRow(s.t.Context(),
		`SELECT status, reason, attempt_state, version, fail_count, sealed_access, sealed_refresh, refresh_at,
			access_expires_at, issued_at
		FROM social_grant WHERE id = $1`, one.grant).Scan(&g.Status, &g.Reason, &g.Attempt, &g.Version, &g.Failures,
		&g.Access, &g.Refresh, &g.RefreshAt, &g.Until, &g.IssuedAt)
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

// holder returns the provider's view of the login of our refresh token, and whether that token is its newest.
func (s *shore) holder(one at) (g oauth.Grant, newest bool) {
	s.t.Helper()
	token, err := s.secret.Open(s.stands(one).Refresh, "grant|"+one.org.String()+"|"+one.grant.String()+"|refresh")
	if err != nil {
		s.t.Fatal(err)
	}
	if g, err = s.box.Holder(s.t.Context(), string(token)); err != nil {
		s.t.Fatal(err)
	}
	return g, g.Refresh == string(token)
}

// alive reports whether the grant is alive, here and at the provider.
func (s *shore) alive(one at) bool {
	s.t.Helper()
	g := s.stands(one)
	held, newest := s.holder(one)
	return g.Status == "active" && g.Attempt == nil && held.Alive && newest
}

func (s *shore) set1(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shore) knobs(family string, k oauth.Knobs) {
	s.t.Helper()
	if err := s.box.Set(s.t.Context(), family, k); err != nil {
		s.t.Fatal(err)
	}
}

// sweep claims the due grants.
func (s *shore) sweep(r *social.Refresher) (claims []social.Claim) {
	s.t.Helper()
	_, err := r.Sweep(s.t.Context(), func(_ context.Context, _ *postgres.Tx, c social.Claim) error {
		claims = append(claims, c)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return claims
}

// one claims the only due grant and makes its attempt.
func (s *shore) one(r *social.Refresher) social.Outcome {
	s.t.Helper()
	claims := s.sweep(r)
	if len(claims) != 1 {
		s.t.Fatalf("%d claims, want 1", len(claims))
	}
	return s.attempt(r, claims[0])
}

// attempt makes an attempt, and waits for its request slot.
func (s *shore) attempt(r *social.Refresher, c social.Claim) social.Outcome {
	s.t.Helper()
	for {
		out, err := r.Refresh(s.t.Context(), c)
		var wait social.WaitError
		switch {
		case errors.As(err, &wait) && wait.For < time.Minute:
			<-time.After(wait.For)
		case err != nil:
			s.t.Fatal(err)
		default:
			return out
		}
	}
}

// requests returns the number of renewal requests to X.
func (s *shore) requests() int {
	s.t.Helper()
	counts, err := s.box.Counts(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return counts["x"]["token"]
}

var same = bytes.Equal
