package companies_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// fill inserts $2 companies in org $1, one in ten archived.
var fill = []string{
	`INSERT INTO company (org_id, id, name, name_folded, domain, owner_id, created_at, updated_at, archived_at,
		external_ids)
	SELECT $1, uuidv7_at(at), 'Firm' || g % 1000, 'firm' || g % 1000, 'firm' || g || '.example',
		CASE WHEN g % 2 = 0 THEN ('00000000-0000-0000-0000-' || lpad((g % 7)::text, 12, '0'))::uuid END, at, at,
		CASE WHEN g % 10 = 9 THEN at END, jsonb_build_object('hubspot', g::text, 'legacy', g % 5 || '-' || g)
	FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
	`INSERT INTO company_word (org_id, word, company_id) SELECT DISTINCT org_id, w, id
		FROM company, regexp_split_to_table(name_folded || ' ' || domain, '[^a-z0-9]+') w WHERE org_id = $1 AND $2 > 0`,
	`ANALYZE company`, `ANALYZE company_word`, `ANALYZE external_id`,
}

func TestNoListOfCompaniesScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	conn := testkit.Pgx(t, db.URL)
	for i, o := range []id.ID{org, id.New(), id.New()} {
		if _, err := conn.Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Shop')`, o); err != nil {
			t.Fatal(err)
		}
		for _, sql := range fill {
			args := []any{o, []int{12_000, 300, 300}[i]}
			if strings.HasPrefix(sql, "ANALYZE") {
				args = nil
			}
			if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	owner := id.ID{15: 2}
	for name, f := range map[string]companies.Filter{
		"all": {}, "archived": {Archived: true}, "owner": {Owner: &owner}, "domain": {Domain: "firm77.example"},
		"word":  {Words: []string{"firm77"}},
		"words": {Words: []string{"firm7", "firm77"}}, "no such word": {Words: []string{"zzz"}},
		"archived word": {Words: []string{"firm99"}, Archived: true},
		"external id":   {ExternalID: &externalid.Key{System: "hubspot", Value: "77"}},
		"archived external id": {
			ExternalID: &externalid.Key{System: "hubspot", Value: "79"}, Archived: true,
		},
	} {
		for _, order := range []string{"-created_at", "created_at", "name"} {
			for _, from := range []*record.Position{
				nil,
				{Key: map[bool]string{true: "firm5", false: "2026-01-01T00:00:00Z"}[order == "name"], ID: id.New()},
			} {
				sql, args := companies.Statement(org, &f, order, from, 51)
				if bad := db.Troubles(t, org, record.Planning, sql, args...); len(bad) > 0 {
					t.Errorf("%s by %s (from the middle: %v): %s", name, order, from != nil, strings.Join(bad, ", "))
				}
			}
		}
	}
}
