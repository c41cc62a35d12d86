package contacts_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

var allSorts = []contacts.Sort{
	contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest, contacts.LastName, contacts.Email,
}

// agedFilters are filters over the contacts of an aged org: each kind of condition, and several together.
var agedFilters = []string{
	`{"field":"tag","op":"ne","value":"newsletter"}`, `{"field":"tag","op":"eq","value":"vip"}`,
	`{"field":"tag","op":"in","value":["vip","webinar","nobody"]}`,
	`{"field":"tag","op":"not_in","value":["newsletter","webinar"]}`, `{"field":"tag","op":"exists","value":false}`,
	`{"field":"tag","op":"contains","value":"ewslette"}`,
	`{"field":"segment","op":"eq","value":"segment-2"}`, `{"field":"segment","op":"ne","value":"segment-2"}`,
	`{"field":"segment","op":"starts_with","value":"segment-"}`, `{"field":"segment","op":"exists","value":true}`,
	`{"field":"stage","op":"ne","value":"lead"}`, `{"field":"stage","op":"in","value":["lead","other"]}`,
	`{"field":"stage","op":"eq","value":"customer"}`, `{"field":"email","op":"contains","value":"zoovaz"}`,
	`{"field":"last_name","op":"contains","value":"mann"}`, `{"field":"last_name","op":"starts_with","value":"ba"}`,
	`{"field":"email","op":"starts_with","value":"balan"}`, `{"field":"phone","op":"exists","value":false}`,
	`{"field":"phone","op":"exists","value":true}`, `{"field":"phone","op":"ne","value":"1"}`,
	`{"field":"attributes.plan","op":"eq","value":"pro"}`, `{"field":"attributes.plan","op":"ne","value":"free"}`,
	`{"field":"attributes.plan","op":"exists","value":false}`, `{"field":"attributes.seats","op":"gte","value":900}`,
	`{"field":"attributes.plan","op":"contains","value":"r"}`, `{"field":"attributes.seats","op":"lt","value":20}`,
	`{"field":"attributes.renews_on","op":"exists","value":true}`, `{"field":"lead_score","op":"lt","value":3}`,
	`{"field":"lead_score","op":"ne","value":3}`, `{"field":"consent_basis","op":"exists","value":false}`,
	`{"field":"updated_at","op":"gt","value":"2026-01-01T00:00:00Z"}`,
	`{"field":"company_id","op":"exists","value":true}`, `{"field":"owner_id","op":"exists","value":false}`,
	`{"all":[{"field":"stage","op":"eq","value":"lead"},{"field":"tag","op":"eq","value":"webinar"},` +
		`{"field":"attributes.plan","op":"eq","value":"pro"}]}`,
	`{"all":[{"field":"tag","op":"eq","value":"vip"},{"field":"lead_score","op":"gte","value":90},` +
		`{"not":{"field":"segment","op":"eq","value":"segment-1"}}]}`,
	`{"any":[{"field":"tag","op":"eq","value":"vip"},{"field":"stage","op":"eq","value":"evangelist"}]}`,
	`{"any":[{"field":"phone","op":"exists","value":false},{"all":[{"field":"stage","op":"ne","value":"lead"},` +
		`{"field":"attributes.plan","op":"ne","value":"pro"}]}]}`,
	`{"not":{"field":"tag","op":"eq","value":"newsletter"}}`, `{"all":[]}`, `{"any":[]}`,
}

// filtersOf returns the filters of agedFilters and of the list's own parameters in an org.
func filtersOf(t *testing.T, d *aged.Database, org id.ID) map[string]*contacts.Filter {
	t.Helper()
	out := map[string]*contacts.Filter{}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
		for _, raw := range agedFilters {
			where, err := contacts.ParseFilter(t.Context(), tx, []byte(raw))
			if err != nil {
				return fmt.Errorf("%s: %w", raw, err)
			}
			out[raw] = &contacts.Filter{Where: where}
		}
		var owner, company *id.ID
		if err := tx.QueryRow(t.Context(), `SELECT (SELECT owner_id FROM contact WHERE owner_id IS NOT NULL LIMIT 1),
			(SELECT company_id FROM contact WHERE company_id IS NOT NULL LIMIT 1)`, nil, &owner, &company); err != nil {
			return err
		}
		score, after, before := 50.0, time.Now().Add(-48*time.Hour), time.Now().Add(-390*24*time.Hour)
		out["all"] = &contacts.Filter{}
		out["owner"] = &contacts.Filter{Owner: owner}
		out["company and stage"] = &contacts.Filter{Company: company, Stages: []string{"lead", "customer"}}
		out["score"] = &contacts.Filter{MinScore: &score}
		out["after"] = &contacts.Filter{CreatedAfter: &after}
		out["before"] = &contacts.Filter{CreatedBefore: &before}
		out["segments"] = &contacts.Filter{Segments: []string{"segment-0", "segment-3"}}
		out["segment"] = &contacts.Filter{Segments: []string{"segment-2"}}
		out["tags, stages"] = &contacts.Filter{Tags: []string{"vip", "webinar"}, Stages: []string{"lead", "mql"}}
		out["stages, score"] = &contacts.Filter{Stages: []string{"lead", "mql"}, MinScore: &score}
		out["stages"] = &contacts.Filter{Stages: []string{"lead", "customer"}}
		return nil
	}))
	for name, f := range out {
		if name == "all" || strings.HasPrefix(name, "{") && len(out) < 100 {
			archived := *f
			archived.Archived = true
			out["archived "+name] = &archived
		}
	}
	return out
}

// idsOf returns the ids that a statement's rows begin with.
func idsOf(ctx context.Context, tx *postgres.Tx, sql string, args []any) ([]id.ID, error) {
	contacts.Planned(tx)
	rows, err := tx.Query(ctx, "SELECT x.id FROM ("+sql+") AS x", args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.ID])
}

func contactIDs(rows []contacts.Row) (all []id.ID) {
	for i := range rows {
		all = append(all, rows[i].ID)
	}
	return all
}

// TestEveryWayToAPageOfAnAgedOrgReadsTheSameContacts compares the statements of a page, for each filter in each order,
// from the beginning and from a contact in the middle, with the one statement in which the planner chooses the way.
func TestEveryWayToAPageOfAnAgedOrgReadsTheSameContacts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("thousands of statements")
	}
	d := aged.Read(t, aged.Test, aged.Grew)
	const limit = 21
	texts := 0
	defer func() {
		if texts < 20 {
			t.Errorf("%d pages of a text", texts)
		}
	}()
	for _, class := range []aged.Class{aged.Grown, aged.Middle} {
		org := d.World.Org(class).ID
		for name, f := range filtersOf(t, d, org) {
			for _, sort := range allSorts {
				var after *contacts.Position
				for page := range 2 {
					var next *contacts.Position
					if err := d.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) error {
						sql, args, err := contacts.Statement(org, f, sort, after, limit)
						if err != nil {
							return err
						}
						want, err := idsOf(t.Context(), tx, sql, args)
						if err != nil {
							return err
						}
						ways, waysArgs, err := contacts.PageWays(org, f, sort, after, limit, 100_000)
						if err != nil {
							return err
						}
						for way := range ways {
							got, err := idsOf(t.Context(), tx, ways[way], waysArgs[way])
							if err != nil {
								return fmt.Errorf("way %d: %w\n%s", way, err, ways[way])
							}
							if diff := cmp.Diff(want, got); diff != "" {
								t.Errorf("%s: %s by %s, page %d, way %d (-want +got):\n%s", class, name,
									sort, page, way, diff)
							}
						}
						rows, err := contacts.List(t.Context(), tx, f, sort, after, limit)
						if err != nil {
							return err
						}
						pages, err := contacts.OfText(t.Context(), tx, f, sort, after, limit)
						if err != nil {
							return err
						}
						texts += len(pages)
						for _, listed := range append(pages, rows) {
							got := contactIDs(listed)
							if len(want)+len(got) > 0 && !cmp.Equal(want, got) {
								t.Errorf("%s: %s by %s, page %d: %s", class, name, sort, page, cmp.Diff(want, got))
							}
						}
						if len(rows) == limit {
							p := sort.Position(&rows[rand.IntN(limit)])
							next = &p
						}
						return nil
					}); err != nil {
						t.Fatalf("%s: %s by %s: %v", class, name, sort, err)
					}
					if after = next; after == nil {
						break
					}
				}
			}
		}
	}
}
