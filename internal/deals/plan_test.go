package deals_test

import (
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// fill inserts $2 deals in org $1 in the stages of its default pipeline, one in ten archived.
const fill = `
INSERT INTO deal (org_id, id, name, contact_id, company_id, pipeline_id, stage_id, status, amount, currency,
expected_close_on, owner_id, closed_at, created_at, updated_at, archived_at)
SELECT $1, uuidv7_at(at), 'Deal' || g, ('00000000-0000-0000-0000-' || lpad((g % 900)::text, 12, '0'))::uuid,
('00000000-0000-0000-0000-' || lpad((g % 200)::text, 12, '0'))::uuid,
	s.pipeline_id, s.id, s.kind, g % 5000, 'EUR', CASE
	WHEN g % 3 > 0 THEN at::date END, ('00000000-0000-0000-0000-' || lpad((g % 7)::text, 12, '0'))::uuid,
	CASE WHEN s.kind <> 'open' THEN at END, at, at, CASE WHEN g % 10 = 9 THEN at END
FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made
JOIN pipeline_stage s ON s.org_id = $1 AND s.place = (g * 7) % 5`

func TestNoListOfDealsScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	for i, o := range []id.ID{org, id.New(), id.New()} {
		if _, err := conn.Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Shop')`, o); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), fill, o, []int{12_000, 300, 300}[i]); err != nil {
			t.Fatal(err)
		}
	}
	var pipeline, stage id.ID
	if err := conn.QueryRow(t.Context(), `SELECT pipeline_id, id FROM pipeline_stage WHERE org_id = $1 AND place = 1`,
		org).Scan(&pipeline, &stage); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `ANALYZE deal`); err != nil {
		t.Fatal(err)
	}
	one, hour, low, high := id.ID{15: 2}, time.Now().Add(-time.Hour), int64(10), int64(4990)
	middle := map[string]string{
		"-created_at": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z",
		"-amount": "2500", "expected_close_on": "2026-01-01",
	}
	for name, f := range map[string]deals.Filter{
		"all": {}, "archived": {Archived: true}, "pipeline": {Pipeline: &pipeline}, "stage": {Stage: &stage},
		"status": {Status: deals.Won}, "contact": {Contact: &one},
		"company": {Company: &one}, "owner": {Owner: &one}, "at least": {MinAmount: &high},
		"at most": {MaxAmount: &low}, "closed after": {ClosedAfter: &hour},
		"closed before": {ClosedBefore: &hour}, "contact and status": {Contact: &one, Status: deals.Lost},
		"archived contact": {Contact: &one, Archived: true},
	} {
		for order, key := range middle {
			for _, from := range []*record.Position{nil, {Key: key, ID: id.New()}} {
				sql, args := deals.Statement(org, &f, order, from, 51)
				if bad := db.Troubles(t, org, record.Planning, sql, args...); len(bad) > 0 {
					t.Errorf("%s by %s (from the middle: %v): %s", name, order, from != nil, strings.Join(bad, ", "))
				}
			}
		}
	}
}
