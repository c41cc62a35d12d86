package templates_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestNoListOfTemplatesScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	for i, o := range []id.ID{org, id.New(), id.New()} {
		if _, err := conn.Exec(t.Context(), `
			INSERT INTO template (org_id, id, name, name_folded, subject, text, created_at, updated_at, archived_at)
			SELECT $1, uuidv7_at(at), 'T' || g % 100, 't' || g % 100, 's', 't', at, at, CASE WHEN g % 10 = 9 THEN at END
			FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
			o, []int{6000, 300, 300}[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE template`); err != nil {
		t.Fatal(err)
	}
	for _, archived := range []bool{false, true} {
		for order, key := range map[string]string{
			"-created_at": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z", "name": "t5",
		} {
			for _, from := range []*record.Position{nil, {Key: key, ID: id.New()}} {
				sql, args := templates.Statement(org, archived, order, from, 51)
				if bad := db.Troubles(t, org, record.Planning, sql, args...); len(bad) > 0 {
					t.Errorf("archived %v by %s (from the middle: %v): %s", archived, order, from != nil,
						strings.Join(bad, ", "))
				}
			}
		}
	}
}
