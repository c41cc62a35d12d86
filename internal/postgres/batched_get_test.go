package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const pointSQL = `SELECT kind FROM job WHERE org_id = $1 AND id = $2`

func point(ctx context.Context, db *postgres.DB, as, of, i id.ID) (kind string, err error) {
	err = db.BatchedGet(ctx, as, pointSQL, []any{of, i}, func(row pgx.CollectableRow) error { return row.Scan(&kind) })
	return kind, err
}

func TestPointReadsOfManyOrgsAtOnceSeeTheirOwnRowsAlone(t *testing.T) {
	t.Parallel()
	for _, pooler := range []bool{false, true} {
		db, _ := open(t, testkit.DB(t).URL, postgres.App, pooler)
		var orgs, ids [20]id.ID
		for i := range orgs {
			orgs[i], ids[i] = id.New(), id.New()
			if err := db.Tx(t.Context(), orgs[i], func(tx *postgres.Tx) error {
				tx.Queue(insert, orgs[i], ids[i], ids[i].String())
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				for i := range orgs {
					own, other := (i+n)%len(orgs), (i+n+1)%len(orgs)
					if kind, err := point(t.Context(), db, orgs[own], orgs[own], ids[own]); err != nil ||
						kind != ids[own].String() {
						t.Errorf("own row: %q, %v", kind, err)
					}
					if kind, err := point(t.Context(), db, orgs[own], orgs[other], ids[other]); !postgres.None(err) {
						t.Errorf("another org's row: %q, %v; want none", kind, err)
					}
					err := db.BatchedGet(t.Context(), orgs[own], "SELECT 1/(random()*0)::int", nil,
						func(pgx.CollectableRow) error { return nil })
					if postgres.Code(err) != "22012" {
						t.Errorf("a statement that fails: %v", err)
					}
					if err := db.BatchedGet(t.Context(), orgs[own], pointSQL, []any{orgs[own], ids[own]},
						func(pgx.CollectableRow) error { return errStop }); !errors.Is(err, errStop) {
						t.Errorf("a scan that fails: %v", err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestPointReadsGoOnAfterTheirSessionWasKilled(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	org, i := id.New(), id.New()
	if err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(insert, org, i, "a")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if kind, err := point(t.Context(), db, org, org, i); err != nil || kind != "a" {
		t.Fatalf("%q, %v", kind, err)
	}
	if _, err := testkit.Pgx(t, kit.URL).Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "+
			"pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
	if _, err := point(t.Context(), db, org, org, i); err != nil && !postgres.Away(err) {
		t.Errorf("the read that met the kill: %v, which is not away", err)
	}
	if kind, err := point(t.Context(), db, org, org, i); err != nil || kind != "a" {
		t.Errorf("the next read: %q, %v", kind, err)
	}
}

func TestAPointReadThatIsGivenUpScansNothingAfterwards(t *testing.T) {
	t.Parallel()
	db, _ := open(t, testkit.DB(t).URL, postgres.App, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		done := false
		err := db.BatchedGet(ctx, id.New(), "SELECT 1", nil, func(pgx.CollectableRow) error {
			if done {
				t.Error("scanned after Point had returned")
			}
			return nil
		})
		done = true
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// Neither an error nor a timeout of a lost session counts as the caller's.
func TestAPointReadWhoseServerWentAwayIsLost(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db, _ := open(t, server.URL, postgres.App, false)
	read := func() error {
		return db.BatchedGet(t.Context(), id.New(), "SELECT 1", nil, func(pgx.CollectableRow) error { return nil })
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	server.Crash()
	for range 3 {
		if err := read(); !postgres.Lost(err) {
			t.Errorf("%v, which is not lost", err)
		}
	}
	server.Start()
	if err := read(); err != nil {
		t.Error(err)
	}
}
