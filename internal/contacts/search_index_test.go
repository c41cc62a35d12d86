package contacts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// indexed is an org with a word index whose contacts and companies change at random.
type indexed struct {
	*shop
	dice
	companies []id.ID
	names     []string // of the companies
	made      int
	pace      wordindex.Pace
}

func (s *shop) indexed(d dice) *indexed {
	s.t.Helper()
	x := &indexed{shop: s, dice: d, pace: wordindex.Pace{Block: 1 + d.IntN(40), Marks: 1 + d.IntN(6), For: time.Hour}}
	for range 4 {
		x.companies, x.names = append(x.companies, id.New()), append(x.names, "")
		x.renameCompany(len(x.names) - 1)
	}
	return x
}

var (
	firstNames   = []string{"Ann", "Anna", "Annika", "Bob", "Bo", "Über", "O'Neil", "日本", "Ada", "Adam"}
	lastNames    = []string{"Lovelace", "Love", "Annan", "Straße", "Bobson", "Acme", "日本語", "Gmbh"}
	domains      = []string{"acme.example", "gmail.test", "love.example", "foods.test"}
	companyNames = []string{"Acme Foods GmbH", "Love Labs", "Gmail Media GmbH", "日本 Foods", "Ann & Söhne", "Bob"}
	queries      = []string{
		"ann", "an", "a", "bob", "bo", "über", "o", "neil", "日", "日本", "ada", "love", "lovelace", "strasse", "straße",
		"st", "acme", "gmbh", "gm", "gmail", "test", "example", "ex", "foods", "labs", "media", "söh", "zzz", "p1",
	}
)

func (x *indexed) renameCompany(i int) {
	x.names[i] = one(x.dice, companyNames)
	x.company(x.companies[i], x.names[i], x.IntN(8) == 0)
}

func (x *indexed) patch() *contacts.Patch {
	x.made++
	p := person(fmt.Sprintf("%s%d@%s", one(x.dice, []string{"p", "ann", "x"}), x.made, one(x.dice, domains)))
	p.FirstName, p.LastName = some(one(x.dice, firstNames)), some(one(x.dice, lastNames))
	if x.IntN(2) == 0 {
		p.CompanyID = some(one(x.dice, x.companies).String())
	}
	return p
}

// change makes one random change.
func (x *indexed) change() {
	x.t.Helper()
	var rows []contacts.Row
	for _, archived := range []bool{false, true} {
		rows = append(rows, x.list(contacts.Filter{Archived: archived}, contacts.Newest)...)
	}
	if len(rows) < 20 {
		x.must(x.patch())
		return
	}
	r := one(x.dice, rows)
	err := x.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		switch n := x.IntN(15); {
		case n < 2:
			_, err = contacts.Create(tx, x.patch(), rate)
		case n < 5 && r.ArchivedAt == nil:
			_, err = contacts.Update(ctx, tx, r.ID, nil, x.patch(), rate)
		case n == 5:
			_, err = contacts.Archive(ctx, tx, r.ID, nil)
		case n == 6:
			_, err = contacts.Restore(ctx, tx, r.ID)
		case n == 7:
			err = contacts.Purge(ctx, tx, r.ID)
		case n == 8:
			in := make([]contacts.Upsert, 5)
			for i := range in {
				in[i].Patch = *x.patch()
			}
			_, _, _, err = contacts.Batch{Rate: rate}.Upsert(ctx, tx, in)
		case n == 9 && r.ArchivedAt == nil:
			loser := one(x.dice, rows)
			if loser.ArchivedAt == nil && loser.ID != r.ID {
				_, err = merge.Do(ctx, tx, r.ID, []id.ID{loser.ID}, rate, nil)
			}
		case n > 11 && r.ArchivedAt == nil:
			p := &contacts.Patch{CompanyID: some(one(x.dice, x.companies).String())}
			if n == 12 {
				p.CompanyID = wire.Field[string]{Set: true, Null: true}
			}
			_, err = contacts.Update(ctx, tx, r.ID, nil, p, rate)
		default:
			x.renameCompany(x.IntN(len(x.names)))
		}
		return err
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

var errAbort = errors.New("the worker is gone")

// sync is one run of the job; one of four is undone before its end.
func (x *indexed) sync() {
	x.t.Helper()
	abort := x.IntN(4) == 0
	pace := x.pace
	if x.IntN(2) == 0 {
		pace.For = 0 // one block
	}
	err := x.tx(func(ctx context.Context, tx *postgres.Tx) error {
		if err := wordindex.Sync(ctx, tx, pace); err != nil {
			return err
		}
		if abort {
			return errors.Join(tx.Flush(ctx), errAbort)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAbort) {
		x.t.Fatal(err)
	}
}

// want are the ids of f by a look at every contact, in the order of the list without words.
func (x *indexed) want(f contacts.Filter, order contacts.Sort) (ids []id.ID) {
	words := f.Words
	f.Words = nil
	for _, r := range x.list(f, order) {
		has := compare.Words(r.FirstName, r.LastName, r.Contact.Email)
		if r.CompanyID != nil {
			has = append(has, compare.Words(x.names[slices.Index(x.companies, *r.CompanyID)])...)
		}
		if !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, w) })
		}) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// check holds a random search, page by page, against want, and the candidates of the index against both.
func (x *indexed) check() (matches int) {
	x.t.Helper()
	f := contacts.Filter{
		Words: compare.Words(one(x.dice, queries), one(x.dice, queries),
			one(x.dice, []string{"", "", one(x.dice, queries)})),
		Archived: x.IntN(5) == 0,
	}
	if x.IntN(4) == 0 {
		f.Company = &x.companies[x.IntN(len(x.companies))]
	}
	order := one(x.dice, []contacts.Sort{
		contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest, contacts.LastName, contacts.Email,
	})
	want := x.want(f, order)
	const size = 3
	for _, effort := range [][3]int{{0, 200, 1}, {0, 0, 1}, {3, 1, 2}} {
		var got []id.ID
		for from := (*contacts.Position)(nil); ; {
			rows := x.search(&f, order, from, size, effort)
			for _, r := range rows {
				got = append(got, r.ID)
			}
			if len(rows) < size {
				break
			}
			at := order.Position(&rows[size-1])
			from = &at
		}
		if !slices.Equal(got, want) {
			x.t.Fatalf("%q by %s (archived %v, company %v), effort %v: found %v, want %v",
				f.Words, order, f.Archived, f.Company, effort, got, want)
		}
	}
	var ready bool
	x.view(func(ctx context.Context, tx *postgres.Tx) error {
		err := tx.QueryRow(ctx, `SELECT COALESCE((SELECT ready FROM word_index WHERE org_id = $1), false)`,
			[]any{x.org}, &ready)
		if err != nil || !ready {
			return err
		}
		terms := make([]wordindex.Term, len(f.Words))
		for i, w := range f.Words {
			terms[i] = wordindex.Term{Word: w, More: true}
		}
		found, err := wordindex.Find(ctx, tx, terms, wordindex.Limits{Marks: 1000, Few: x.IntN(5), Most: 1000})
		if err != nil {
			return err
		}
		ids, ok, err := found.IDs(ctx, tx)
		byBytes := func(a, b id.ID) int { return slices.Compare(a[:], b[:]) }
		if !ok || len(ids) > found.Len() {
			x.t.Errorf("%q: %d candidates of %d, %v", f.Words, len(ids), found.Len(), ok)
		}
		if !slices.IsSortedFunc(ids, byBytes) {
			x.t.Errorf("%q: the candidates are not sorted: %v", f.Words, ids)
		}
		for _, i := range want {
			if !slices.Contains(ids, i) {
				x.t.Fatalf("%q: the index misses %s", f.Words, i)
			}
		}
		return err
	})
	return len(want)
}

func TestASearchWithAWordIndexFindsWhatALookAtEveryContactFinds(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, rand.Uint64()} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s, d := open(t), dice{rand.New(rand.NewPCG(seed, 3))}
			other := *s
			other.org = id.New()
			s.newOrg(other.org)
			both := []*indexed{s.indexed(d), other.indexed(d)}
			matches := 0
			for step := range 220 {
				x := one(d, both)
				x.change()
				if step == 60 {
					s.sweep(10)
				}
				if step > 60 && d.IntN(2) == 0 {
					x.sync()
				}
				if step%3 == 0 {
					matches += x.check()
				}
			}
			if matches < 20 {
				t.Errorf("only %d matches in all", matches)
			}
			for _, x := range both {
				x.pace.Marks = 1
				for left := true; left; { // until the build has ended and blocks cover all contacts
					x.sync()
					x.view(func(ctx context.Context, tx *postgres.Tx) error {
						return tx.QueryRow(ctx, `SELECT NOT ready OR building
							OR EXISTS (SELECT FROM word_index_mark WHERE org_id = $1)
							FROM word_index WHERE org_id = $1`, []any{x.org}, &left)
					})
				}
				for range 20 {
					x.check()
				}
			}
		})
	}
}

// sweep gives an index to orgs of so many contacts.
func (s *shop) sweep(contacts int) {
	s.t.Helper()
	if err := wordindex.SweepOrgs(s.t.Context(), s.System, contacts); err != nil {
		s.t.Fatal(err)
	}
}
