package contacts_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// company inserts the rows of a company, as package companies does.
func (s *shop) company(i id.ID, name string, archived bool) {
	s.t.Helper()
	if err := s.tx(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM company_word WHERE org_id = $1 AND company_id = $2`, s.org, i)
		tx.Queue(`INSERT INTO company (org_id, id, name, name_folded, created_at, updated_at, archived_at)
			VALUES ($1, $2, $3, $3, now(), now(), CASE WHEN $4 THEN now() END)
			ON CONFLICT (org_id, id) DO UPDATE SET name = $3, name_folded = $3`, s.org, i, name, archived)
		tx.Queue(`INSERT INTO company_word (org_id, word, company_id) SELECT $1, w, $2 FROM unnest($3::text[]) w`,
			s.org, i, compare.Words(name))
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) search(f *contacts.Filter, order contacts.Sort, after *contacts.Position, limit int,
	effort [3]int,
) (rows []contacts.Row) {
	s.t.Helper()
	s.view(func(ctx context.Context, tx *postgres.Tx) (err error) {
		rows, err = contacts.Search(ctx, tx, f, order, after, limit, effort[0], effort[1], effort[2])
		return err
	})
	return rows
}

// Both strategies return the same contacts in the same order, on every page.
func TestASearchFindsTheSameByEveryWay(t *testing.T) {
	t.Parallel()
	s, seed := open(t), rand.Uint64()
	d := dice{rand.New(rand.NewPCG(seed, 1))}
	t.Logf("seed %d", seed)
	companies := []id.ID{id.New(), id.New(), id.New(), id.New()}
	names := []string{"Ada Foods GmbH", "Straße & Söhne GmbH", "ACME Labs", "Gone Foods"}
	for i, c := range companies {
		s.company(c, names[i], i == 3)
	}
	s.crowd(d, 80, companies)
	words := []string{
		"a", "ad", "ada", "acme", "exam", "gmbh", "foods", "söh", "strasse", "straße", "o", "neil",
		"日本", "labs", "gone", "drop", "x", "ann7", "long", "zzz",
	}
	ways := [][3]int{{5000, 200, 10_000}, {0, 200, 10_000}, {0, 0, 10_000}, {0, 0, 1}, {10, 1, 5}, {5000, 0, 10_000}}
	orders := []contacts.Sort{
		contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest, contacts.LastName,
		contacts.Email,
	}
	found := 0
	for n := range 30 {
		f := contacts.Filter{Words: compare.Words(one(d, words), one(d, []string{"", one(d, words)}),
			one(d, []string{"", one(d, words)})), Archived: n%10 == 0}
		if n%4 == 0 {
			f.Stages = []string{"lead", "mql"}
		}
		order := one(d, orders)
		var want []string
		for _, r := range s.list(contacts.Filter{Archived: f.Archived, Stages: f.Stages}, order) {
			has := compare.Words(r.FirstName, r.LastName, r.Contact.Email)
			if r.CompanyID != nil {
				has = append(has, compare.Words(names[slices.Index(companies, *r.CompanyID)])...)
			}
			if !slices.ContainsFunc(f.Words, func(w string) bool {
				return !slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, w) })
			}) {
				want = append(want, r.ID.String())
			}
		}
		found += len(want)
		for _, way := range ways {
			var got []string
			for from := (*contacts.Position)(nil); ; {
				rows := s.search(&f, order, from, 7, way)
				for _, r := range rows {
					got = append(got, r.ID.String())
				}
				if len(rows) < 7 {
					break
				}
				at := order.Position(&rows[6])
				from = &at
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q by %s (archived %v, stages %v), way %v: %d found, want %d\n%v\n%v", f.Words, order,
					f.Archived, f.Stages, way, len(got), len(want), got, want)
			}
		}
		s.view(func(ctx context.Context, tx *postgres.Tx) error {
			exact, err := contacts.Count(ctx, tx, &f)
			if err != nil {
				return err
			}
			near, err := contacts.Estimate(ctx, tx, &f)
			if int(exact) != len(want) || near != exact {
				t.Errorf("%q: counted %d, estimated %d, want %d", f.Words, exact, near, len(want))
			}
			return err
		})
	}
	if found < 100 {
		t.Errorf("only %d found in all", found)
	}
}

func TestARenamedCompanyFindsItsContactsByItsNewNameAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	i := id.New()
	s.company(i, "Acme Foods", false)
	p := person("ada@beta.example")
	p.CompanyID = some(i.String())
	ada := s.must(p)
	s.must(person("bob@beta.example"))
	for _, name := range []string{"Acme Foods", "Börse & Co"} {
		s.company(i, name, false)
		for query, want := range map[string]int{"foo": 1, "börse lovelace": 1, "ada co": 1} {
			if !strings.Contains(name, "Foods") == (query == "foo") {
				want = 0
			}
			if got := s.ids(contacts.Filter{Words: compare.Words(query)}, contacts.Newest); len(got) != want ||
				want == 1 && got[0] != ada.ID {
				t.Errorf("%s: %q finds %v, want %d", name, query, got, want)
			}
		}
	}
}
