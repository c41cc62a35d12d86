package companies_test

import (
	"fmt"
	"testing"

	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// TestABatchOfCompaniesReadsItsRowsAlone counts the rows read for a hundred companies, found by domain or by name, of
// an org that the statistics do not know: autovacuum has measured the table, but not analyzed it yet.
func TestABatchOfCompaniesReadsItsRowsAlone(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("ALTER TABLE company SET (autovacuum_enabled = off)")
	upsert := func(org id.ID, from, n int) (read int) {
		var rows []companies.Upsert
		for i := from; i < from+n; i++ {
			p := companies.Patch{Name: wire.Some(fmt.Sprint("Firm ", i)), Phone: wire.Some("1")}
			if i%2 == 0 {
				p.Domain = wire.Some(fmt.Sprintf("firm%d.example", i))
			}
			rows = append(rows, companies.Upsert{Patch: p})
		}
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			if _, _, err := companies.UpsertAll(t.Context(), tx, rows); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
				FROM pg_stat_xact_user_tables WHERE relname = 'company'`, nil, &read)
		}); err != nil {
			t.Fatal(err)
		}
		return read
	}
	for range 5 {
		upsert(id.New(), 0, 1000)
	}
	for from := 0; from < 5000; from += 1000 {
		upsert(org, from, 1000)
	}
	exec("VACUUM company")
	for _, statistics := range []string{"with sizes alone", "with statistics"} {
		if read := upsert(org, 2000, 100); read > 1000 {
			t.Errorf("%s: %d rows were read", statistics, read)
		}
		exec("ANALYZE company")
	}
}
