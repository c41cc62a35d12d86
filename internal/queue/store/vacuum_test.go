package store_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// discarded fills the table with n jobs and deletes them, unseen by autovacuum.
func discarded(t *testing.T, sql *pgx.Conn, n int) {
	t.Helper()
	for _, s := range []string{
		"ALTER TABLE job SET (autovacuum_enabled = off)",
		`INSERT INTO job (org_id, id, kind, args, lane, max_attempts)
			SELECT gen_random_uuid(), gen_random_uuid(), 'test.a', '{}', 'default', 3 FROM generate_series(1, $1)`,
		"DELETE FROM job",
		"SELECT pg_stat_force_next_flush()",
	} {
		var args []any
		if strings.Contains(s, "$1") {
			args = append(args, n)
		}
		if _, err := sql.Exec(t.Context(), s, args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sql.Exec(t.Context(), "SELECT 1"); err != nil { // the statistics are written before it
		t.Fatal(err)
	}
}

func deadRows(t *testing.T, sql *pgx.Conn) (n int) {
	t.Helper()
	if err := sql.QueryRow(t.Context(), "SELECT pg_stat_get_dead_tuples('job'::regclass)").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestATableWithTooManyDeadRowsIsVacuumed(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	v := store.NewVacuumer(store.New(db.App, db.System))
	discarded(t, sql, 400)
	if err := v.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := deadRows(t, sql); n != 400 {
		t.Fatalf("%d dead rows, want 400: too few to vacuum", n)
	}
	discarded(t, sql, 400)
	if err := v.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := deadRows(t, sql); n != 0 {
		t.Errorf("%d dead rows after 800, want none", n)
	}
	var role string
	if err := db.System.ReadTx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT current_user", nil, &role)
	}); err != nil || role != postgres.System {
		t.Errorf("the session goes on as %q, %v, want %s", role, err, postgres.System)
	}
}

func TestALoginThatDoesNotOwnTheTableLeavesItToAutovacuum(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	login := "guest_" + strings.ReplaceAll(id.New().String(), "-", "")
	exec := func(s string) {
		t.Helper()
		if _, err := sql.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE ROLE " + login + " LOGIN PASSWORD 'guest' IN ROLE " + postgres.System)
	at, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(login, "guest")
	guest, err := postgres.Open(t.Context(), postgres.Options{URL: at.String(), Role: postgres.System, Name: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	discarded(t, sql, 600)
	err = store.NewVacuumer(store.New(db.App, guest)).Look(t.Context())
	guest.Close()
	exec("DROP ROLE " + login)
	if !errors.Is(err, store.ErrNotOwner) {
		t.Errorf("error %v, want %v", err, store.ErrNotOwner)
	}
	if n := deadRows(t, sql); n != 600 {
		t.Errorf("%d dead rows, want the 600", n)
	}
}
