package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func scanInto(dst any) func(pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error { return row.Scan(dst) }
}

// refuseWrites makes every write to a table fail with a SQLSTATE.
func refuseWrites(t *testing.T, url, table, state string) {
	t.Helper()
	sql := fmt.Sprintf(`CREATE OR REPLACE FUNCTION refuse_%[1]s() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN RAISE 'refused' USING ERRCODE = '%[2]s'; END$$;
		CREATE OR REPLACE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON %[1]s
		FOR EACH STATEMENT EXECUTE FUNCTION refuse_%[1]s()`, table, state)
	if _, err := testkit.Pgx(t, url).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// terminateSessions ends all sessions of the test's pools, and returns their number when they have ended.
func terminateSessions(t *testing.T, url string) (n int) {
	t.Helper()
	const sql = `SELECT count(*) FROM (SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
		WHERE application_name LIKE 'funnelwork %' AND datname = current_database()) AS ended`
	if err := testkit.Pgx(t, url).QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Every kind of transaction meets sessions that ended a moment ago, which the pool does not notice by itself.
func TestATransactionOnSessionsThatEndedInThePoolIsSentAgain(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	app, _ := open(t, kit.URL, postgres.App, false)
	system, _ := open(t, kit.URL, postgres.System, false)
	org := id.New()
	count := func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM job", nil, new(int))
	}
	kindsOf := map[string]func() error{
		"read":             func() error { return app.ReadTx(t.Context(), org, count) },
		"read of all orgs": func() error { return system.ReadTx(t.Context(), id.ID{}, count) },
		"snapshot":         func() error { return app.SnapshotTx(t.Context(), org, count) },
		"rows of all orgs": func() error {
			return system.ReadTx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
				rows, err := tx.Query(t.Context(), "SELECT kind FROM job")
				if err != nil {
					return err
				}
				_, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err
			})
		},
		"read by key": func() error {
			var one int
			return app.BatchedGet(t.Context(), org, "SELECT 1", nil, scanInto(&one))
		},
		"transaction": func() error {
			return app.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				_, err := tx.Exec(t.Context(), insert, org, id.New(), "transaction")
				return err
			})
		},
		"batch": func() error {
			return app.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				tx.Queue(insert, org, id.New(), "batch")
				return nil
			})
		},
	}
	const rounds = 5
	for name, run := range kindsOf {
		for range rounds {
			var all sync.WaitGroup
			for range 4 { // every session of the pools
				all.Go(func() {
					for _, run := range []func() error{kindsOf["read"], kindsOf["read of all orgs"]} {
						if err := run(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if err := kindsOf["read by key"](); err != nil {
				t.Error(err)
			}
			if n := terminateSessions(t, kit.URL); n < 2 {
				t.Fatalf("%d sessions were terminated", n)
			}
			if err := run(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := strings.Join(kinds(t, app, org), " "); got != strings.TrimSpace(strings.Repeat("batch ", rounds)+
		strings.Repeat("transaction ", rounds)) {
		t.Errorf("rows: %s", got)
	}
}

func TestASessionThatEndsInItsTransactionIsNotReplaced(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	org, runs := id.New(), 0
	err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		runs++
		if _, err := tx.Exec(t.Context(), insert, org, id.New(), "a"); err != nil {
			return err
		}
		terminateSessions(t, kit.URL)
		_, err := tx.Exec(t.Context(), insert, org, id.New(), "b")
		return err
	})
	if !postgres.Lost(err) || !postgres.Away(err) || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
	if got := kinds(t, db, org); len(got) != 0 {
		t.Errorf("half of the transaction is there: %v", got)
	}
}

// The server ends a session that waits in its transaction for too long. The transaction is lost, and the pool works on.
func TestATransactionThatTheServerEndedWhileItWasIdleMayBeRepeated(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	org := id.New()
	err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue("SET LOCAL idle_in_transaction_session_timeout = 50")
		if _, err := tx.Exec(t.Context(), insert, org, id.New(), "a"); err != nil {
			return err
		}
		become(t, "ended", func() bool {
			var n int
			const sql = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
				AND application_name LIKE 'funnelwork %' AND state LIKE 'idle in transaction%'`
			if err := testkit.Pgx(t, kit.URL).QueryRow(t.Context(), sql).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n == 0
		})
		_, err := tx.Exec(t.Context(), insert, org, id.New(), "b")
		return err
	})
	if !postgres.Away(err) {
		t.Errorf("%v is not taken for an outage", err)
	}
	if got := kinds(t, db, org); len(got) != 0 {
		t.Errorf("half of the transaction is there: %v", got)
	}
	if err := writeRow(t.Context(), db); err != nil {
		t.Errorf("the next transaction: %v", err)
	}
}

// The sessions in the pool end with the server, and there is no other one to repeat the round trip in.
func TestATransactionOnAServerThatHasDiedIsLost(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db := testkit.Open(t, server.URL, postgres.App)
	read := func(tx *postgres.Tx) error {
		var one int
		return tx.QueryRow(t.Context(), `SELECT 1`, nil, &one)
	}
	if err := db.ReadTx(t.Context(), id.New(), read); err != nil {
		t.Fatal(err)
	}
	server.Crash()
	for name, tx := range map[string]func(context.Context, id.ID, func(*postgres.Tx) error) error{
		"a read": db.ReadTx, "a transaction": db.Tx,
	} {
		if err := tx(t.Context(), id.New(), read); !postgres.Lost(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
