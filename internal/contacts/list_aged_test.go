package contacts_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestAListByScoreOrCreationOfAnAgedOrgReadsItsPageAndTheIndexesOfItsConditions lists by each filter. An index page has
// a hundred contacts; a page of contacts with all that is shown of them takes 20 buffers each.
func TestAListByScoreOrCreationOfAnAgedOrgReadsItsPageAndTheIndexesOfItsConditions(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	const limit = 51
	for _, class := range []aged.Class{aged.Huge, aged.Middle, aged.Grown} {
		org := d.World.Org(class)
		for name, f := range filtersOf(t, d, org.ID) {
			if f.Archived {
				continue
			}
			for _, sort := range []contacts.Sort{
				contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest,
			} {
				var rows int
				r.Take()
				if err := d.App.ReadTx(t.Context(), org.ID, func(tx *postgres.Tx) error {
					found, err := contacts.List(t.Context(), tx, f, sort, nil, limit)
					rows = len(found)
					return err
				}); err != nil {
					t.Fatalf("%s: %s by %s: %v", class, name, sort, err)
				}
				read, worst := aged.Buffers(r.Take())
				// The rest is a visit of each contact in the table, which is not vacuumed, at most.
				if most := aged.Page(rows) + 3*min(org.Contacts, 1400); read > most {
					t.Errorf("%s: %s by %s: %d buffers for %d rows, at most %d%s", class, name, sort, read, rows, most,
						worst)
				}
			}
		}
	}
}
