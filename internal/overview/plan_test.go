package overview_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/overview"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Each worker looks once a second, however many orgs there are.
func TestALookReadsAFewPagesOfManyOrgs(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	super := testkit.Pgx(t, db.URL)
	for _, sql := range []string{
		`INSERT INTO overview_state (org_id, look_at) SELECT gen_random_uuid(), now() + interval '1 day'
			FROM generate_series(1, 20000)`,
		`ANALYZE overview_state`,
	} {
		if _, err := super.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if n := pages(t, db, overview.LookSQL, 500); n > 10 {
		t.Errorf("a look that finds nothing reads %d pages", n)
	}
	rows, err := super.Query(t.Context(), `UPDATE overview_state SET look_at = now() WHERE org_id IN
		(SELECT org_id FROM overview_state LIMIT 3) RETURNING org_id`)
	if err != nil {
		t.Fatal(err)
	}
	orgs, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{
		"find": pages(t, db, overview.LookSQL, 500),
		"ask": pages(t, db, overview.DueSQL, orgs, "none", id.Floor(time.Now().Add(-time.Hour)),
			id.Floor(time.Now().Add(time.Hour))),
		"delay": pages(t, db, overview.LaterSQL, orgs, []bool{true, false, false}),
	} {
		if n > 400 { // an index page or two of each day's events and deliveries, for each of the orgs
			t.Errorf("to %s three orgs of 20,000 reads %d pages", name, n)
		}
	}
}

// pages returns how many pages a statement reads as the system role. It is rolled back.
func pages(t *testing.T, db *testkit.Database, sql string, args ...any) int {
	t.Helper()
	undo := errors.New("undo")
	var raw []byte
	if err := db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(overview.Planning)
		if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, args, &raw); err != nil {
			return err
		}
		return undo
	}); !errors.Is(err, undo) {
		t.Fatal(err)
	}
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(raw, &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read
}
