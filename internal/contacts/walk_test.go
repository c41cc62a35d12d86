package contacts_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// walk reads the whole list page by page and calls between after each page.
func (s *shop) walk(f contacts.Filter, order contacts.Sort, limit int, between func()) map[id.ID]int {
	seen := map[id.ID]int{}
	var from *contacts.Position
	for {
		var rows []contacts.Row
		if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
			rows, err = contacts.List(s.t.Context(), tx, &f, order, from, limit)
			return err
		}); err != nil {
			s.t.Error(err)
			return seen
		}
		for _, r := range rows {
			seen[r.ID]++
		}
		if len(rows) < limit {
			return seen
		}
		next := order.Position(&rows[len(rows)-1])
		from = &next
		between()
	}
}

func TestAWalkMeetsEachContactThatStaysOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.fill(s.org, 11_200) // a tenth is archived: 10,080 live
	before := s.walk(contacts.Filter{}, contacts.Newest, 1000, func() {})
	if len(before) < 10_000 {
		t.Fatalf("%d contacts to begin with", len(before))
	}
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		gone    = map[id.ID]bool{}
		pace    = make(chan struct{}, 4) // each page read lets the writers continue
		waiting = make([]id.ID, 0, len(before))
	)
	for i := range before {
		waiting = append(waiting, i)
	}
	// Two writers create and archive contacts throughout, at arbitrary positions in the order.
	for w := range 2 {
		wg.Go(func() {
			for n := 0; ; n++ {
				if _, more := <-pace; !more {
					return
				}
				s.must(&contacts.Patch{
					Email: some(fmt.Sprintf("w%d-%d@new.example", w, n)), FirstName: some("N"),
					LastName: some(fmt.Sprint("Last", n%1000)),
				})
				i := waiting[2*n+w]
				mu.Lock()
				gone[i] = true
				mu.Unlock()
				if _, err := s.archive(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, order := range []contacts.Sort{
		contacts.Newest, contacts.Oldest, contacts.Highest, contacts.Lowest,
		contacts.LastName, contacts.Email,
	} {
		seen := s.walk(contacts.Filter{}, order, 100, func() {
			pace <- struct{}{}
			pace <- struct{}{}
		})
		for i, n := range seen {
			if n != 1 {
				t.Errorf("%s: %v was met %d times", order, i, n)
			}
		}
		mu.Lock()
		for i := range before {
			if !gone[i] && seen[i] != 1 {
				t.Errorf("%s: %v stayed and was missed", order, i)
			}
		}
		mu.Unlock()
	}
	for _, f := range []contacts.Filter{
		{Tags: []string{"t3"}},
		{Tags: []string{"t3", "rare13"}},
		{Stages: []string{"lead"}},
	} {
		for i, n := range s.walk(f, contacts.Newest, 50, func() {}) {
			if n != 1 {
				t.Errorf("%+v: %v was met %d times", f, i, n)
			}
		}
	}
	close(pace)
	wg.Wait()
	if len(gone) < 100 {
		t.Errorf("only %d were archived meanwhile", len(gone))
	}
}

func (s *shop) upsert(rows []contacts.Upsert) (out []contacts.Outcome, made, changed []contacts.Change, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, made, changed, err = contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
		return err
	})
	return out, made, changed, err
}

func TestParallelBatchesMakeOneContactPerAddress(t *testing.T) {
	t.Parallel()
	s := open(t)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total = map[string]int{}
	)
	for w := range 8 {
		wg.Go(func() {
			var rows []contacts.Upsert
			for n := range 60 {
				n = (n*7 + w*13) % 60 // each worker in its own order
				rows = append(rows, contacts.Upsert{Patch: contacts.Patch{
					Email: some(fmt.Sprintf("P%d@acme.example", n)), FirstName: some(fmt.Sprint("by ", w)),
					LastName: some("L"),
				}})
			}
			out, made, _, err := s.upsert(rows)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, o := range out {
				total[o.Result]++
			}
			total["made"] += len(made)
		})
	}
	wg.Wait()
	if n := s.count("contact"); n != 60 {
		t.Errorf("%d contacts, want 60", n)
	}
	for result, want := range map[string]int{"created": 60, "made": 60, "updated": 7 * 60} {
		if total[result] != want {
			t.Errorf("%d times %s, want %d", total[result], result, want)
		}
	}
}

func TestSeveralRowsAboutOneContactAreOneChange(t *testing.T) {
	t.Parallel()
	s := open(t)
	known := s.must(person("known@acme.example"))
	row := func(email string, change func(*contacts.Patch)) contacts.Upsert {
		u := contacts.Upsert{Patch: *person(email)}
		change(&u.Patch)
		return u
	}
	out, made, changed, err := s.upsert([]contacts.Upsert{
		row("new@acme.example", func(p *contacts.Patch) { p.Tag.Set, p.Tag.Value = true, []string{"a"} }),
		row("NEW@acme.example", func(p *contacts.Patch) { p.Tag.Set, p.Tag.Value = true, []string{"a", "b"} }),
		{ID: some(known.ID.String()), Patch: contacts.Patch{Email: some("moved@acme.example")}},
		row("known@acme.example", func(*contacts.Patch) {}), // the address is free again: a new contact
		row("moved@acme.example", func(p *contacts.Patch) { p.Phone = some("1") }),
		{ID: some(known.ID.String()), Patch: contacts.Patch{Phone: null[string]()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range out {
		got = append(got, o.Result)
	}
	if want := "[created updated updated created updated updated]"; fmt.Sprint(got) != want {
		t.Errorf("results %v, want %s", got, want)
	}
	if len(made) != 2 || len(changed) != 1 {
		t.Errorf("%d made, %d changed; want 2 and 1", len(made), len(changed))
	}
	if out[1].ID != out[0].ID {
		t.Errorf("the second row is contact %s, want the first row's %s", out[1].ID, out[0].ID)
	}
	if out[1].LeadScore != 20 || out[0].LeadScore != 10 {
		t.Errorf("scores %v, then %v; want 10, then 20", out[0].LeadScore, out[1].LeadScore)
	}
	if out[4].ID != known.ID {
		t.Errorf("the fifth row is contact %s, want %s", out[4].ID, known.ID)
	}
	for i, want := range map[id.ID]int{out[0].ID: 1, out[3].ID: 1, known.ID: 2} {
		if r, err := s.get(i, false); err != nil || r.Edit != want {
			t.Errorf("%v has edit %d, want %d (%v)", i, r.Edit, want, err)
		}
	}
	if keys := changed[0].Previous; len(keys) != 1 || keys["email"] != "known@acme.example" {
		t.Errorf("previous %v", keys)
	}
	if n := len(s.ids(contacts.Filter{Tags: []string{"b"}}, contacts.Newest)); n != 1 {
		t.Errorf("tag b finds %d", n)
	}
}
