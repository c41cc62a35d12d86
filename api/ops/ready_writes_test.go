package ops_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAProcessThatReadsStaysReadyWhileWritesFailAndOneThatMustWriteDoesNot(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	become := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !holds(); {
			if time.Now().After(end) {
				t.Fatalf("after 30 s: not yet %s", what)
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	turn := func(on string) {
		t.Helper()
		for _, sql := range []string{
			"ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()",
		} {
			if _, err := testkit.Pgx(t, server.URL).Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	reg := prometheus.NewRegistry()
	db, err := postgres.Open(t.Context(),
		postgres.Options{URL: server.URL, Role: postgres.App, Writes: postgres.NewWrites(testkit.Log(t))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	ops.CollectWrites(reg, db.Writes())
	listeners := map[string]*ops.Listener{}
	for _, role := range []string{"api", "up", "worker", "scheduler"} {
		listeners[role] = newOps(t, func(o *ops.Options) {
			o.Role, o.DB, o.System, o.DatabaseURL, o.Metrics = role, db, db, server.URL, reg
		})
	}
	metric := func(value string) bool {
		return strings.Contains(asked(t, listeners["api"], "GET", "/metrics").Body.String(),
			"\nfunnelwork_postgres_writes_failing "+value)
	}
	healthy := func(about string) {
		t.Helper()
		for role, listener := range listeners {
			if code, a := readyz(t, listener, ""); code != 200 || a.Degraded == nil || len(a.Degraded) > 0 {
				t.Errorf("%s: %s is %d %+v", about, role, code, a)
			}
		}
		if !metric("0") {
			t.Errorf("%s: the metric is not 0", about)
		}
	}
	healthy("at the start")
	turn("on")
	// Nothing is written meanwhile: the probe alone finds out.
	become("degraded", func() bool {
		_, a := readyz(t, listeners["api"], "")
		return len(a.Degraded) > 0
	})
	for role, listener := range listeners {
		code, a := readyz(t, listener, "")
		want := 200
		if role == "worker" || role == "scheduler" {
			want = 503
			if check := a.Checks["writes"]; check.OK || check.Reason != "the database takes no writes" {
				t.Errorf("the check of a %s is %+v", role, check)
			}
		}
		if code != want || !slices.Equal(a.Degraded, []string{"writes"}) || !a.Checks["postgres"].OK {
			t.Errorf("%s is %d, want %d: %+v", role, code, want, a)
		}
	}
	if !metric("1") {
		t.Error("the metric is not 1 while writes fail")
	}
	read := func(tx *postgres.Tx) error { return tx.QueryRow(t.Context(), "SELECT 1", nil, new(int)) }
	if err := db.ReadTx(t.Context(), id.New(), read); err != nil {
		t.Errorf("read while writes fail: %v", err)
	}
	turn("off")
	become("not degraded", func() bool {
		_, a := readyz(t, listeners["api"], "")
		return len(a.Degraded) == 0
	})
	healthy("after the outage")
}

func TestAHealthyServerIsNotWrittenToByReadinessChecks(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: server.URL, Role: postgres.App})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	listener := newOps(t, func(o *ops.Options) { o.Role, o.DB, o.System, o.DatabaseURL = "api", db, db, server.URL })
	next := func() (n int64) {
		t.Helper()
		const sql = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
		if err := testkit.Pgx(t, server.URL).QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	readyz(t, listener, "")
	before, sessions := next(), db.Stat().NewConnsCount()
	for range 20 {
		readyz(t, listener, "")
	}
	if n := next() - before; n > 3 { // the server's own
		t.Errorf("%d transactions wrote", n)
	}
	if n := db.Stat().NewConnsCount() - sessions; n > 3 {
		t.Errorf("%d sessions were opened", n)
	}
}
