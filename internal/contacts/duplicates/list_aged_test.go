package duplicates_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestAListOfDuplicatesOfAGrownOrgReadsItsContactsByTheirIDs lists the groups of an org of which the statistics do not
// know that it has grown.
func TestAListOfDuplicatesOfAGrownOrgReadsItsContactsByTheirIDs(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	for _, class := range []aged.Class{aged.Grown, aged.Huge} {
		for _, reason := range []string{"", "email", "name_company", "phone"} {
			if err := d.App.ReadTx(t.Context(), d.World.Org(class).ID, func(tx *postgres.Tx) error {
				rows, err := tx.Query(t.Context(), `SELECT c.id FROM (SELECT * FROM contact_duplicate
					WHERE $1 = '' OR reason = $1 ORDER BY reason, n LIMIT 50) AS d
					JOIN contact c ON c.id = ANY (d.contact_ids) AND c.archived_at IS NULL
					ORDER BY d.reason, d.n, c.created_at, c.id`, reason)
				if err != nil {
					return err
				}
				all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
				if err != nil {
					return err
				}
				r.Take()
				groups, _, err := duplicates.List(t.Context(), tx, reason, nil, 50)
				if err != nil {
					return err
				}
				read := 0
				for _, p := range r.Take() {
					read += p.Root.Buffers()
				}
				listed, members := map[id.ID]bool{}, 0
				var order []id.ID
				for i := range groups {
					members += len(groups[i].Contacts)
					for _, c := range groups[i].Contacts {
						listed[c.ID] = true
						order = append(order, c.ID)
					}
				}
				var want []id.ID // those of groups that have two contacts left
				for _, i := range all {
					if listed[i] {
						want = append(want, i)
					}
				}
				if diff := cmp.Diff(want, order); diff != "" {
					t.Errorf("%s, reason %q (-want +got): %s", class, reason, diff)
				}
				if most := aged.Page(max(members, 50)); read > most {
					t.Errorf("%s, reason %q: %d buffers for %d contacts, at most %d", class, reason, read, members,
						most)
				}
				if class == aged.Grown && reason == "" && members < 20 {
					t.Errorf("%d contacts", members)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestASearchForDuplicatesReadsTheContactsOfItsOrgAlone searches in an org that has grown, and in the huge one, whose
// contacts are so many that a scan of the table looks cheap.
func TestASearchForDuplicatesReadsTheContactsOfItsOrgAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	for _, class := range []aged.Class{aged.Grown, aged.Huge, aged.Small} {
		if err := d.App.ReadTx(t.Context(), d.World.Org(class).ID, func(tx *postgres.Tx) error {
			r.Take()
			_, err := duplicates.Search(t.Context(), tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		searches := 0
		for _, p := range r.Take() {
			if strings.Contains(p.SQL, "FROM contact ") {
				searches++
			}
			if scan := p.Root.Worst(); strings.Contains(scan, "Seq Scan") {
				t.Errorf("%s: a scan of the contacts of all orgs: %s", class, scan)
			}
		}
		if searches != 3 {
			t.Errorf("%s: %d searches, not one for each reason", class, searches)
		}
	}
}
