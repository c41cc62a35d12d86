package postgres_test

import (
	"strconv"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Whatever ended the server, the first transactions after it is back are served: each session of the pool is dead, and
// nothing of a transaction can have been sent on it.
func TestTheFirstTransactionsAfterARestartAreServed(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	app := testkit.Open(t, server.URL, postgres.App)
	org := id.New()
	count := func(tx *postgres.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM job", nil, new(int))
	}
	kindsOf := map[string]func(name string) error{
		"read": func(string) error { return app.ReadTx(t.Context(), org, count) },
		"read by key": func(string) error {
			var one int
			return app.BatchedGet(t.Context(), org, "SELECT 1", nil, scanInto(&one))
		},
		"snapshot": func(string) error { return app.SnapshotTx(t.Context(), org, count) },
		"transaction": func(name string) error {
			return app.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				_, err := tx.Exec(t.Context(), insert, org, id.New(), name)
				return err
			})
		},
		"batch": func(name string) error {
			return app.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				tx.Queue(insert, org, id.New(), name)
				return nil
			})
		},
	}
	rows := 0
	for how, end := range map[string]func(){"stopped": server.Stop, "killed": server.Crash} {
		for kind, run := range kindsOf {
			for _, warm := range kindsOf { // each of the pools has a session
				if err := warm("warm." + strconv.Itoa(rows)); err != nil {
					t.Fatal(err)
				}
			}
			rows += 2
			end()
			server.Start()
			if err := run(how); err != nil {
				t.Errorf("%s after the server was %s: %v", kind, how, err)
			}
			if kind == "transaction" || kind == "batch" {
				rows++
			}
		}
	}
	if got := len(kinds(t, app, org)); got != rows {
		t.Errorf("%d rows, want %d", got, rows)
	}
}
