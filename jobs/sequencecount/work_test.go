package sequencecount_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/sequencecount"
)

func TestANewSequenceIsCountedByOneJobOfItsOrg(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	sql := testkit.Pgx(t, db.URL)
	org, sequence := id.New(), id.New()
	exec := func(statement string, args ...any) {
		if _, err := sql.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	jobs := func() (n int) {
		if err := sequencecount.Watch(db.App, db.System)(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := sql.QueryRow(t.Context(), `SELECT count(*) FROM job`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, org)
	if n := jobs(); n != 0 {
		t.Errorf("%d jobs for an org without sequences", n)
	}
	exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, latest, created_at, updated_at)
		VALUES ($1, $2, 'Welcome', 'welcome', 'draft', 1, now(), now())`, org, sequence)
	for range 2 {
		if n := jobs(); n != 1 {
			t.Errorf("%d jobs for a new sequence", n)
		}
	}
	exec(`DELETE FROM job`)
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		return counts.Begin(t.Context(), tx, sequence)
	}); err != nil {
		t.Fatal(err)
	}
	if n := jobs(); n != 0 {
		t.Errorf("%d jobs for a sequence that is counted", n)
	}
}
