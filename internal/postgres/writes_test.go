package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// become waits until holds returns true.
func become(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("after 30 s: not yet %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// setReadOnly makes a server refuse writes, or take them again, in all its sessions.
func setReadOnly(t *testing.T, server *testkit.PostgresServer, on string) {
	t.Helper()
	for _, sql := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()"} {
		if _, err := testkit.Pgx(t, server.URL).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

func writeRow(ctx context.Context, db *postgres.DB) error {
	return db.Tx(ctx, id.New(), func(tx *postgres.Tx) error {
		tx.Queue(insert, tx.Org(), id.New(), "a")
		return nil
	})
}

func TestAServerThatTurnsReadOnlyFailsWritesAndServesReads(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db, _ := open(t, server.URL, postgres.App, false)
	if err := writeRow(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if ok, err := db.Writes().Check(t.Context()); !ok || err != nil {
		t.Fatalf("writes of a healthy server: %v %v", ok, err)
	}
	setReadOnly(t, server, "on")
	become(t, "a refused write", func() bool {
		err := writeRow(t.Context(), db)
		if err != nil && (!postgres.Away(err) || !postgres.Lost(err)) {
			t.Fatalf("the refusal %v is not taken for an outage", err)
		}
		return err != nil
	})
	become(t, "failing", db.Writes().Failing)
	before := db.Stat().NewConnsCount()
	for range 50 {
		kinds(t, db, id.New())
	}
	if n := db.Stat().NewConnsCount() - before; n > 4 {
		t.Errorf("%d sessions were opened for 50 reads while writes fail", n)
	}
	setReadOnly(t, server, "off")
	become(t, "writable", func() bool { return writeRow(t.Context(), db) == nil })
	become(t, "not failing", func() bool { return !db.Writes().Failing() })
}

func TestAnIdleProcessLearnsOfAReadOnlyServerFromItsCheckOrAnyRead(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db, _ := open(t, server.URL, postgres.App, false)
	setReadOnly(t, server, "on")
	become(t, "refused by the check", func() bool {
		ok, err := db.Writes().Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !ok
	})
	reader, _ := open(t, server.URL, postgres.App, false)
	kinds(t, reader, id.New())
	become(t, "failing", reader.Writes().Failing)
	setReadOnly(t, server, "off")
	become(t, "not failing", func() bool { return !db.Writes().Failing() && !reader.Writes().Failing() })
}

func TestSessionsOfADemotedServerGoToTheServerThatTakesWrites(t *testing.T) {
	t.Parallel()
	first := testkit.RealPostgres(t)
	second := first.Standby()
	db, _ := open(t, testkit.AnyOf(t, first, second), postgres.App, false)
	if err := writeRow(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	byKey := func() bool {
		var readOnly bool
		err := db.BatchedGet(t.Context(), id.New(), "SELECT current_setting('transaction_read_only')::bool", nil,
			scanInto(&readOnly))
		if err != nil {
			t.Fatal(err)
		}
		return readOnly
	}
	if byKey() {
		t.Fatal("the primary is read-only")
	}
	// The old primary keeps its sessions, which serve reads until another server takes writes.
	setReadOnly(t, first, "on")
	become(t, "failing", func() bool { return writeRow(t.Context(), db) != nil && db.Writes().Failing() })
	kinds(t, db, id.New())
	byKey()
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("a session while no server takes writes: %v", err)
	}
	second.Promote()
	become(t, "writable", func() bool { return writeRow(t.Context(), db) == nil })
	become(t, "not failing", func() bool { return !db.Writes().Failing() })
	if byKey() {
		t.Error("reads by key still go to the old primary")
	}
}

func TestAReadOnlyPrimaryIsTheSecondChoiceOfADemandForWrites(t *testing.T) {
	t.Parallel()
	first := testkit.RealPostgres(t)
	second := first.Standby()
	setReadOnly(t, first, "on")
	for _, url := range []string{testkit.AnyOf(t, first, second), testkit.AnyOf(t, second, first)} {
		db, _ := open(t, url, postgres.App, false)
		var standby bool
		err := db.ReadTx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(), "SELECT pg_is_in_recovery()", nil, &standby)
		})
		if err != nil || standby {
			t.Errorf("read while no server takes writes: standby %v, %v", standby, err)
		}
	}
	first.Stop() // a standby is no choice: its rows may be old
	db, _ := open(t, testkit.AnyOf(t, first, second), postgres.App, false)
	if err := db.Ping(t.Context()); err == nil {
		t.Error("a demand for writes was met by a standby")
	}
}

func TestCommitsThatWaitForAStandbyThatIsAwayAreFailingWrites(t *testing.T) {
	t.Parallel()
	server := testkit.RealPostgres(t)
	db, _ := open(t, server.URL, postgres.App, false)
	demand := func(standbys string) {
		t.Helper()
		for _, sql := range []string{
			"ALTER SYSTEM SET synchronous_standby_names = '" + standbys + "'", "SELECT pg_reload_conf()",
		} {
			if _, err := testkit.Pgx(t, server.URL).Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	demand("nobody")
	become(t, "a write without an answer", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return writeRow(ctx, db) != nil
	})
	become(t, "failing", db.Writes().Failing)
	kinds(t, db, id.New())
	demand("")
	become(t, "not failing", func() bool { return !db.Writes().Failing() })
	if err := writeRow(t.Context(), db); err != nil {
		t.Error(err)
	}
}

func TestATriggerThatRefusesOneTablesWritesIsNoOutage(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	refuseWrites(t, kit.URL, "job", "53100")
	if err := writeRow(t.Context(), db); !postgres.Away(err) {
		t.Fatalf("refused write: %v", err)
	}
	if ok, err := db.Writes().Check(t.Context()); !ok || err != nil {
		t.Errorf("writes after the probe: %v %v", ok, err)
	}
}

func TestPoolsOnAStandbyProbeNothing(t *testing.T) {
	t.Parallel()
	standby := testkit.RealPostgres(t).Standby()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: standby.URL, Role: postgres.App, Standby: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	kinds(t, db, id.New())
	if db.Writes() != nil || db.Writes().Failing() {
		t.Error("a pool on a standby watches writes")
	}
}
