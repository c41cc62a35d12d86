package postgres_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestASnapshotSeesNothingOfWhatIsCommittedBetweenItsReads commits a row of each of two orgs between reads of both.
func TestASnapshotSeesNothingOfWhatIsCommittedBetweenItsReads(t *testing.T) {
	t.Parallel()
	kit := testkit.DB(t)
	db, _ := open(t, kit.URL, postgres.App, false)
	one, other := id.New(), id.New()
	add := func(org id.ID) {
		t.Helper()
		if err := db.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			_, err := tx.Exec(t.Context(), insert, org, id.New(), "later")
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(tx *postgres.Tx) (n int) {
		t.Helper()
		if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM job", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	add(one)
	for name, want := range map[string]int{"a snapshot": 0, "single reads": 1} {
		read := db.SnapshotTx
		if want > 0 {
			read = db.ReadTx
		}
		if err := read(t.Context(), one, func(tx *postgres.Tx) error {
			before := count(tx)
			add(one)
			add(other)
			if n := count(tx) - before; n != want {
				t.Errorf("%s: %d rows more", name, n)
			}
			was := 0
			if err := tx.In(t.Context(), other, func() error {
				was = count(tx)
				add(other)
				if n := count(tx) - was; n != want {
					t.Errorf("%s of another org: %d rows more", name, n)
				}
				return nil
			}); err != nil {
				return err
			}
			if n := count(tx); n != before+want {
				t.Errorf("%s after that of another org: %d rows, %d before", name, n, before)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestASnapshotCannotWrite inserts in one.
func TestASnapshotCannotWrite(t *testing.T) {
	t.Parallel()
	db, _ := open(t, testkit.DB(t).URL, postgres.App, false)
	org := id.New()
	if err := db.SnapshotTx(t.Context(), org, func(tx *postgres.Tx) error {
		_, err := tx.Exec(t.Context(), insert, org, id.New(), "never")
		return err
	}); postgres.Code(err) != "25006" {
		t.Errorf("got %v", err)
	}
	if got := kinds(t, db, org); len(got) > 0 {
		t.Errorf("written: %v", got)
	}
}
