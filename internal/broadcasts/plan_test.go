package broadcasts_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAStepLooksAddressesUpByTheirIndex holds that a step does not read all emails of its broadcast: 2,000 steps of
// 100,000 emails would read 100 million rows.
func TestAStepLooksAddressesUpByTheirIndex(t *testing.T) {
	t.Parallel()
	sql := testkit.Pgx(t, testkit.DB(t).URL)
	tx, err := sql.Begin(t.Context()) // the settings are those of a transaction
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{broadcasts.PlansByKey, `PREPARE addressed AS ` + broadcasts.AddressedSQL} {
		if _, err := tx.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := tx.Query(t.Context(), `EXPLAIN EXECUTE addressed (NULL, NULL, NULL)`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "email_broadcast_once") || !strings.Contains(plan, "(to_email = c.email))") ||
		!strings.Contains(plan, "(id = u.id))") {
		t.Errorf("the plan:\n%s", plan)
	}
}
