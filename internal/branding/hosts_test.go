package branding_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// served creates a domain in a state, as checks would have.
func served(t testing.TB, conn *pgx.Conn, org id.ID, host string, status branding.Status) id.ID {
	t.Helper()
	domain := id.New()
	if _, err := conn.Exec(t.Context(),
		"INSERT INTO domain (org_id, id, host, token, status, proven_at) VALUES ($1, $2, $3, 'x', $4, now())", org,
		domain, host, status); err != nil {
		t.Fatal(err)
	}
	return domain
}

func follow(t testing.TB, h *branding.Hosts) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("not within 30 s: " + what)
		}
	}
}

func TestHostsFollowEveryChangeOfWhatIsServed(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn := testkit.Pgx(t, db.URL)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "state", "hosts.json")
	options := branding.HostsOptions{System: db.System, File: file, Log: testkit.Log(t)}
	h := branding.NewHosts(options)
	a, b := id.New(), id.New()
	first := served(t, conn, a, "crm.acme.test", branding.Active)
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	is := func(org id.ID, host string) func() bool {
		return func() bool {
			got, ok := h.Org(host)
			return ok == !org.IsZero() && got == org && h.Serves(host) == ok
		}
	}
	if !is(a, "crm.acme.test")() {
		t.Fatal("what was there is not known after Load")
	}
	follow(t, h)
	for _, status := range []branding.Status{
		branding.Degraded, branding.Verified, branding.Suspended,
		branding.Active,
	} {
		exec("UPDATE domain SET status = $2 WHERE id = $1", first, status)
		until(t, "after "+string(status), is(map[bool]id.ID{true: a}[status != branding.Suspended], "crm.acme.test"))
	}
	// Another org's claim of the host begins and ends; the host still belongs to a.
	other := served(t, conn, b, "crm.acme.test", branding.PendingDNS)
	exec("UPDATE domain SET status = 'removed' WHERE id = $1", other)
	marker := served(t, conn, id.New(), "marker.acme.test", branding.Active)
	until(t, "what came after is known", func() bool { return h.Serves("marker.acme.test") })
	if !is(a, "crm.acme.test")() {
		t.Error("the end of another's claim took the host away")
	}
	exec("UPDATE domain SET status = 'removed' WHERE id = $1", marker)
	// The host moves to b between two reads, so the end of a's claim and the start of b's are read together.
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec("UPDATE domain SET status = 'removed' WHERE id = $1", first)
	claim := served(t, conn, b, "crm.acme.test", branding.PendingDNS)
	exec("UPDATE domain SET status = 'verified' WHERE id = $1", claim)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the host is b's", is(b, "crm.acme.test"))
	served(t, conn, a, "pending.acme.test", branding.PendingDNS)
	served(t, conn, id.New(), "gone.acme.test", branding.Suspended)
	served(t, conn, id.New(), "last.acme.test", branding.Verified)
	until(t, "the newest is known", func() bool { return h.Serves("last.acme.test") })
	for name, want := range map[string]bool{
		"pending.acme.test": false, "gone.acme.test": false, "unknown.acme.test": false, "": false, ".": false,
		"acme.test": false, "x.crm.acme.test": false,
		"crm.acme.test": true, "CRM.acme.test": true, "crm.acme.test.": true,
	} {
		if h.Serves(name) != want {
			t.Errorf("%q is served: %v", name, !want)
		}
	}

	// The snapshot has the state, and a start without the database uses it.
	until(t, "the snapshot holds the newest", func() bool {
		return branding.NewHosts(options).Serves("last.acme.test")
	})
	away, err := postgres.Open(t.Context(), postgres.Options{URL: "postgres://127.0.0.1:1/x", Role: postgres.System})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	options.System = away
	again := branding.NewHosts(options)
	if err := again.Load(t.Context()); err == nil {
		t.Error("the database that is away was read")
	}
	if org, ok := again.Org("crm.acme.test"); !ok || org != b {
		t.Errorf("after a start without the database: %v, %v; want %v", org, ok, b)
	}
	if again.Serves("unknown.acme.test") {
		t.Error("after a start without the database an unknown host is served")
	}
	if n := again.Len(); n != 2 {
		t.Errorf("after a start without the database: %d hosts, want 2", n)
	}
	// An invalid file counts as missing.
	for _, broken := range []string{"", "{", `{"format":9}`, `[]`} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := branding.NewHosts(options).Len(); n != 0 {
			t.Errorf("%q: %d hosts", broken, n)
		}
	}
}

// TestWhatCommitsLaterIsNotMissed: changes of overlapping transactions are numbered in commit order.
func TestWhatCommitsLaterIsNotMissed(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	h := branding.NewHosts(branding.HostsOptions{System: db.System, Log: testkit.Log(t)})
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(t, h)
	const writers, each = 8, 12
	var writing sync.WaitGroup
	for w := range writers {
		conn := testkit.Pgx(t, db.URL)
		writing.Go(func() {
			for i := range each {
				tx, err := conn.Begin(t.Context())
				if err == nil {
					_, err = tx.Exec(t.Context(),
						"INSERT INTO domain (org_id, id, host, token, status) VALUES ($1, $2, $3, 'x', 'active')",
						id.New(), id.New(), fmt.Sprintf("h%d.w%d.test", i, w))
				}
				if err == nil {
					_, err = tx.Exec(t.Context(), "SELECT pg_sleep($1)", float64((w+i)%3)/200)
				}
				if err == nil {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	until(t, "all are known", func() bool { return h.Len() == writers*each })
}

func TestHostsGoOnWhileThePostgresIsStopped(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	system, err := postgres.Open(t.Context(), postgres.Options{URL: server.URL, Role: postgres.System})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(system.Close)
	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	served(t, conn, id.New(), "crm.acme.test", branding.Active)
	_ = conn.Close(t.Context())
	options := branding.HostsOptions{
		System: system, File: filepath.Join(t.TempDir(), "hosts.json"),
		Log: testkit.Log(t),
	}
	h := branding.NewHosts(options)
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(t, h)
	server.Stop()
	if err := h.Load(t.Context()); err == nil {
		t.Fatal("the server is not stopped")
	}
	if !h.Serves("crm.acme.test") || h.Serves("unknown.acme.test") {
		t.Error("what was known is not known while the database is stopped")
	}
	if again := branding.NewHosts(options); !again.Serves("crm.acme.test") || again.Serves("unknown.acme.test") {
		t.Error("what was known is not known after a start while the database is stopped")
	}
	server.Start()
	conn = testkit.Pgx(t, server.URL)
	served(t, conn, id.New(), "new.acme.test", branding.Active)
	until(t, "a change after the stop is known", func() bool { return h.Serves("new.acme.test") })
}
