package migrations_test

import (
	"context"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/migrations"
)

const (
	indexesText = "-- Of a table, and of one with partitions.\n" +
		"CREATE UNIQUE INDEX planted_thread ON thread (org_id, last_message_at, id);\n" +
		"CREATE INDEX planted_event ON event (org_id, type,\n\tid) WHERE type <> 'contact.created';\n"
	processURL = "FUNNELWORK_TEST_INDEXES_URL"
)

// A process of its own that makes the indexes, to be killed.
func TestMain(m *testing.M) {
	if url := os.Getenv(processURL); url != "" {
		if migrations.MakeIndexes(context.Background(), url, indexesText) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// incomplete returns the planted indexes that are missing, invalid or not attached.
func incomplete(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM (
		SELECT FROM (VALUES ('planted_thread'), ('planted_event')) AS want (name)
		LEFT JOIN pg_index i ON i.indexrelid = to_regclass(name) WHERE i.indisvalid IS NOT TRUE
		UNION ALL
		SELECT FROM pg_inherits t WHERE t.inhparent = 'event'::regclass AND NOT EXISTS (
			SELECT FROM pg_inherits x JOIN pg_index i ON i.indexrelid = x.inhrelid
			WHERE x.inhparent = to_regclass('planted_event') AND i.indrelid = t.inhrelid AND i.indisvalid)) AS wrong`).
		Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAMigrationOfIndexesThatIsKilledAnywhereIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	conn := connect(t, db.URL)
	exec(t, conn, insertEvent, "0")
	if n := incomplete(t, conn); n < 5 {
		t.Fatalf("%d are incomplete before", n)
	}
	// An open transaction on each table in turn holds the process there, and it dies holding an index that is not
	// valid.
	for _, table := range []string{"thread", "event_default"} {
		holder := connect(t, db.URL)
		tx, err := holder.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "LOCK TABLE "+table+" IN ROW EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		process := startMaking(t, db.URL)
		waitFor(t, conn, "an index of "+table+" waits", `SELECT EXISTS (SELECT FROM pg_index i
			WHERE i.indrelid = '`+table+`'::regclass AND NOT i.indisvalid)`)
		_ = process.Process.Kill()
		_ = process.Wait()
		// The server's session goes on until it finds its client gone.
		exec(t, conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'CREATE %INDEX%CONCURRENTLY%'
			AND pid <> pg_backend_pid()`)
		waitFor(t, conn, "the session is gone", `SELECT NOT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'CREATE %INDEX%CONCURRENTLY%'
			AND pid <> pg_backend_pid())`)
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if incomplete(t, conn) == 0 {
			t.Fatalf("nothing is incomplete after a kill at %s", table)
		}
	}
	for range 2 { // once more changes nothing
		if err := migrations.MakeIndexes(t.Context(), db.URL, indexesText); err != nil {
			t.Fatal(err)
		}
		if n := incomplete(t, conn); n > 0 {
			t.Errorf("%d are incomplete", n)
		}
	}
	exec(t, conn, "SELECT make_partitions(12)")
	if n := incomplete(t, conn); n > 0 {
		t.Errorf("%d are incomplete with new days", n)
	}
}

func startMaking(t *testing.T, url string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := osexec.CommandContext(t.Context(), self)
	process.Env = append(os.Environ(), processURL+"="+url)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return process
}

// waitFor waits until a query returns true.
func waitFor(t *testing.T, conn *pgx.Conn, what, sql string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; {
		var ok bool
		if err := conn.QueryRow(t.Context(), sql).Scan(&ok); err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// No writer waits longer than 100 ms for a lock, though a transaction that reads the table stays open for a while.
func TestTablesAreWrittenWhileTheirIndexesAreMade(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	reader, writer := connect(t, db.URL), connect(t, db.URL)
	tx, err := reader.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead}) // keeps its snapshot
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT count(*) FROM event"); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() { made <- migrations.MakeIndexes(t.Context(), db.URL, indexesText) }()
	exec(t, writer, "SET lock_timeout = '150ms'")
	for n := 0; ; n++ {
		exec(t, writer, insertEvent, "0")
		if n == 200 {
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-made:
			if err != nil || n < 200 {
				t.Errorf("made after %d events: %v", n, err)
			}
			if n := incomplete(t, writer); n > 0 {
				t.Errorf("%d are incomplete", n)
			}
			return
		default:
		}
	}
}

func TestAFileOfIndexesWithAnotherStatementIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"CREATE INDEX CONCURRENTLY a ON thread (org_id);", "DROP INDEX a;", "CREATE INDEX ON thread (org_id);",
	} {
		err := migrations.MakeIndexes(t.Context(), "postgres://nowhere", text)
		if err == nil || !strings.Contains(err.Error(), "not CREATE") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
