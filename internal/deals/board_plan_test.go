package deals

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestABoardOfManyDealsIsReadFromItsIndex(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	stages := []id.ID{id.New(), id.New()}
	for _, sql := range []string{
		`INSERT INTO pipeline_stage (org_id, id, pipeline_id, place, name, kind, probability)
			SELECT $1, s, $1, n, 's', 'open', 10 FROM unnest($2::uuid[]) WITH ORDINALITY AS t (s, n)`,
		`INSERT INTO deal (org_id, id, name, pipeline_id, stage_id, status, amount, currency, created_at, updated_at)
			SELECT $1, uuidv7_at(now() - n * interval '1 minute'), 'd', $1, ($2::uuid[])[1 + n % 2], 'open', n, 'EUR',
				now(), now() FROM generate_series(1, 20000) n`,
	} {
		if _, err := conn.Exec(t.Context(), sql, org, stages); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), "VACUUM ANALYZE deal"); err != nil {
		t.Fatal(err)
	}
	for sql, args := range map[string][]any{sumsSQL: {org, stages}, pageSQL: {org, stages, "", id.ID{}, 51}} {
		if found := db.Troubles(t, org, record.Planning, sql, args...); len(found) > 0 {
			t.Errorf("%v: %s", found, sql)
		}
	}
}
