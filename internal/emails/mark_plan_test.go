package emails_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAMarkReadsOneContactOfAnOrgWithMany holds that the plan of the mark, which sessions keep, reads its contact and
// its broadcast by their keys. A plan with a hashed subplan reads all contacts of the org for each mail.
func TestAMarkReadsOneContactOfAnOrgWithMany(t *testing.T) {
	t.Parallel()
	sql, org := testkit.Pgx(t, testkit.DB(t).URL), id.New()
	if _, err := sql.Exec(t.Context(), `INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name,
			last_name_folded, stage, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'a' || n || '@example.com', 'a' || n || '@example.com', 'A', 'B', 'b', 'lead',
			now(), now() FROM generate_series(1, 20000) n`, org); err != nil {
		t.Fatal(err)
	}
	for _, statistics := range []string{`SELECT`, `VACUUM ANALYZE contact`} { // new tables have none
		for _, statement := range []string{
			statistics, `DEALLOCATE ALL`, `SET plan_cache_mode = force_generic_plan`,
			`PREPARE mark AS ` + emails.MarkSQL(),
		} {
			if _, err := sql.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := sql.Query(t.Context(), `EXPLAIN EXECUTE mark (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
			pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if strings.Contains(plan, "hashed SubPlan") || !strings.Contains(plan, "contact_pkey") ||
			!strings.Contains(plan, "broadcast_pkey") {
			t.Errorf("the plan of the mark after %s:\n%s", statistics, plan)
		}
	}
}
