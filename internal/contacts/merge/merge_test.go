// This file is long because it keeps the property test together with its dump and random edits.

package merge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// shop is one org in its own database.
type shop struct {
	*testing.T
	*testkit.Database
	org id.ID
}

func open(t *testing.T) *shop {
	t.Helper()
	s := &shop{t, testkit.DB(t), id.New()}
	if err := s.System.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, s.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

func rate(c *contacts.Contact) (float64, events.ContactScore) {
	lead := float64(len(c.Tag))
	if c.CompanyID != nil {
		lead += 5
	}
	return lead, events.ContactScore{Probability: lead / 100, Confidence: "prior", ModelVersion: "test-1"}
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) error {
	return s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.Context(), tx) })
}

func (s *shop) create(p contacts.Patch) (row contacts.Row) {
	s.Helper()
	if err := s.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx, &p, rate)
		return err
	}); err != nil {
		s.Fatal(err)
	}
	return row
}

func (s *shop) person(email string) contacts.Row {
	s.Helper()
	return s.create(contacts.Patch{
		Email: wire.Some(email), FirstName: wire.Some("Ada"),
		LastName: wire.Some("Lovelace"),
	})
}

func (s *shop) update(i id.ID, p contacts.Patch) {
	s.Helper()
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Update(ctx, tx, i, nil, &p, rate)
		return err
	}); err != nil {
		s.Fatal(err)
	}
}

// nouns lists the kinds of records that belong to contacts, as in the API.
var nouns = []merge.Noun{
	{Name: "deals", Repoint: deals.Repoint, Return: deals.Return},
	{Name: "activities", Repoint: activities.Repoint, Return: activities.Return},
}

// hang gives a contact up to three deals, notes and tasks each, some of them archived.
func (s *shop) hang(r *rand.Rand, contact id.ID) {
	s.Helper()
	if err := s.tx(func(_ context.Context, tx *postgres.Tx) error {
		for range r.IntN(4) {
			tx.Queue(`INSERT INTO deal (org_id, id, name, contact_id, pipeline_id, stage_id, status, amount,
				currency, created_at, updated_at, archived_at)
				SELECT org_id, $2, 'deal', $3, pipeline_id, id, kind, 100, 'EUR', now(), now(), CASE
				WHEN $4 THEN now() END FROM pipeline_stage WHERE org_id = $1 AND place = 0`,
				tx.Org(), id.New(), contact, r.IntN(3) == 0)
		}
		for table, column := range map[string]string{"note": "body", "task": "status, priority, title"} {
			for range r.IntN(4) {
				said := "'x'"
				if table == "task" {
					said = "'open', 'normal', 'x'"
				}
				tx.Queue(`INSERT INTO `+table+` (org_id, id, `+column+
					`, contact_id, created_at, updated_at, archived_at)
					VALUES ($1, $2, `+said+`, $3, now(), now(), CASE WHEN $4 THEN now() END)`, tx.Org(), id.New(),
					contact, r.IntN(3) == 0)
			}
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
}

// hanging returns the number of records of each kind that belong to a contact.
func (s *shop) hanging(contact id.ID) map[string]int {
	s.Helper()
	out := map[string]int{}
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for _, table := range []string{"deal", "note", "task"} {
			var n int
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE org_id = $1 AND contact_id = $2`,
				[]any{tx.Org(), contact}, &n); err != nil {
				return err
			}
			out[table] = n
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
	return out
}

func (s *shop) merge(survivor id.ID, losers ...id.ID) (out merge.Result, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, err = merge.Do(ctx, tx, survivor, losers, rate, nouns)
		return err
	})
	return out, err
}

func (s *shop) undo(i id.ID) (out merge.Result, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		out, err = merge.Undo(ctx, tx, i, rate, nouns)
		return err
	})
	return out, err
}

func (s *shop) get(i id.ID) (row contacts.Row) {
	s.Helper()
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Get(ctx, tx, i, true)
		return err
	}); err != nil {
		s.Fatal(err)
	}
	return row
}

// dump returns every row about contacts, without values that only increase: the ETag, and the time of a score.
func (s *shop) dump() string {
	s.Helper()
	var out strings.Builder
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		for _, table := range []string{
			"contact", "contact_score", "contact_tag", "contact_word", "contact_attribute",
			"segment_member", "contact_merged", "timeline", "score_history", "deal", "note", "task",
		} {
			rows, err := tx.Query(ctx,
				`SELECT (to_jsonb(t) - 'edit' - 'computed' - 'scored_at'
					- '{first_score,first_probability,first_version}'::text[])::text FROM `+table+` t ORDER BY 1`)
			if err != nil {
				return err
			}
			all, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			if table == "timeline" {
				all = slices.DeleteFunc(all, func(r string) bool {
					return strings.Contains(r, `"contact.merged"`) || strings.Contains(r, `"contact.restored"`) ||
						strings.Contains(r, `"contact.updated"`) || strings.Contains(r, `"contact.tagged"`)
				})
			}
			fmt.Fprintf(&out, "%s\n%s\n", table, strings.Join(all, "\n"))
		}
		return nil
	}); err != nil {
		s.Fatal(err)
	}
	return out.String()
}

func keysOf(r *rand.Rand, prefix string) []string {
	out := []string{}
	for range r.IntN(5) {
		if k := fmt.Sprintf("%s%d", prefix, r.IntN(8)); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// anybody returns a patch with some of everything.
func anybody(r *rand.Rand, n int) contacts.Patch {
	p := contacts.Patch{
		Email: wire.Some(fmt.Sprintf("P%d@acme.example", n)), FirstName: wire.Some("Ada"),
		LastName: wire.Some(fmt.Sprintf("L%d", n)), Attributes: wire.Some(map[string]any{}),
	}
	for i, f := range []*wire.Field[string]{&p.Phone, &p.JobTitle, &p.Source} {
		if r.IntN(2) == 0 {
			*f = wire.Some(fmt.Sprintf("value %d %d", i, r.IntN(3)))
		}
	}
	for _, f := range []*wire.Field[string]{&p.CompanyID, &p.OwnerID} {
		if r.IntN(2) == 0 {
			*f = wire.Some(fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", r.IntN(4)))
		}
	}
	if r.IntN(2) == 0 {
		p.TimeZone = wire.Some("Europe/Berlin")
	}
	p.Tag, p.Segment = wire.Some(keysOf(r, "t")), wire.Some(keysOf(r, "s"))
	for _, k := range keysOf(r, "number") {
		p.Attributes.Value[k] = float64(r.IntN(3))
	}
	for _, k := range keysOf(r, "text") {
		p.Attributes.Value[k] = fmt.Sprint("x", r.IntN(3))
	}
	return p
}

func TestAMergeThatIsUndoneLeavesEveryRowAsItWas(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := rand.New(rand.NewPCG(3, 4))
	var ids []id.ID
	for i := range 14 {
		ids = append(ids, s.create(anybody(r, i)).ID)
		s.hang(r, ids[i])
	}
	moved, handed := 0, map[string]int{}
	for range 25 {
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		before, was, had := s.dump(), s.get(ids[0]), s.hanging(ids[0])
		m, err := s.merge(ids[0], ids[1:2+r.IntN(5)]...)
		if err != nil {
			t.Fatal(err)
		}
		if s.dump() == before {
			t.Fatal("a merge changes nothing")
		}
		if m.Survivor.Edit != was.Edit {
			moved++
		}
		for table, n := range s.hanging(ids[0]) {
			if n > had[table] {
				handed[table]++
			}
		}
		for _, l := range m.Merge.LoserIDs {
			if loser := s.get(l); loser.ArchivedAt == nil {
				t.Errorf("%s is live", l)
			}
		}
		if _, err := s.undo(m.Merge.ID); err != nil {
			t.Fatal(err)
		}
		if after := s.dump(); after != before {
			t.Fatal(cmp.Diff(before, after))
		}
		if _, err := s.undo(m.Merge.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("undone twice: %v", err)
		}
	}
	if moved < 10 || min(handed["deal"], handed["note"], handed["task"]) < 10 {
		t.Errorf("the survivor changed but %d times, and was handed %v", moved, handed)
	}
}

func TestWhatTheSurvivorHasWinsAndTheRestComesInTheOrderGiven(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := s.create(contacts.Patch{
		Email: wire.Some("a@x.example"), FirstName: wire.Some("A"), LastName: wire.Some("A"),
		Phone: wire.Some("1"), Tag: wire.Some([]string{"own"}), Attributes: wire.Some(map[string]any{"size": 1.0}),
	})
	b := s.create(contacts.Patch{
		Email: wire.Some("b@x.example"), FirstName: wire.Some("B"), LastName: wire.Some("B"), Phone: wire.Some("2"),
		JobTitle: wire.Some("B"), Stage: wire.Some("sql"),
		Tag: wire.Some([]string{"x", "own"}), Segment: wire.Some([]string{"q"}),
		Attributes: wire.Some(map[string]any{"size": 2.0, "color": "b"}),
	})
	c := s.create(contacts.Patch{
		Email: wire.Some("c@x.example"), FirstName: wire.Some("C"), LastName: wire.Some("C"),
		JobTitle: wire.Some("C"), Source: wire.Some("C"),
		Attributes: wire.Some(map[string]any{"color": "c", "vip": true}),
	})
	m, err := s.merge(a.ID, b.ID, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := s.get(a.ID)
	if diff := cmp.Diff(m.Survivor, got); diff != "" {
		t.Error(diff)
	}
	want := events.Contact{
		Email: "a@x.example", FirstName: "A", Phone: new("1"), JobTitle: new("B"), Source: new("C"), Stage: "lead",
		LeadScore: 2, CreatedAt: a.CreatedAt, Tag: []string{"own", "x"}, Segment: []string{"q"},
		Attributes: map[string]any{"size": 1.0, "color": "b", "vip": true},
	}
	if diff := cmp.Diff(want, got.Contact, cmpopts.IgnoreFields(want, "ID", "LastName", "TimeZone", "CompanyID",
		"Score", "OwnerID", "UpdatedAt", "ArchivedAt")); diff != "" {
		t.Errorf("the survivor (-want +got):\n%s", diff)
	}
	var told []string
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT array_agg(type ORDER BY seq) FROM event`, nil, &told)
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []string{"contact.merged", "contact.updated", "contact.tagged"}) {
		t.Errorf("%v", told)
	}
}

func TestLaterEditsStayWhenAMergeIsUndone(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := s.create(contacts.Patch{
		Email: wire.Some("a@x.example"), FirstName: wire.Some("A"), LastName: wire.Some("A"),
		Tag: wire.Some([]string{"own", "old"}),
	})
	b := s.create(contacts.Patch{
		Email: wire.Some("b@x.example"), FirstName: wire.Some("B"), LastName: wire.Some("B"), Phone: wire.Some("2"),
		JobTitle: wire.Some("B"), Source: wire.Some("B"),
		Tag: wire.Some([]string{"x", "y"}), Segment: wire.Some([]string{"q", "r"}),
		Attributes: wire.Some(map[string]any{"size": 2.0, "color": "b"}),
	})
	m, err := s.merge(a.ID, b.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.update(a.ID,
		contacts.Patch{
			FirstName: wire.Some("Anna"), Phone: wire.Some("3"),
			Tag: wire.Some([]string{"x", "own", "new"}), Segment: wire.Some([]string{"r", "mine"}),
			Attributes: wire.Some(map[string]any{"size": 3.0}),
		})
	if _, err := s.undo(m.Merge.ID); err != nil {
		t.Fatal(err)
	}
	got := s.get(a.ID)
	want := events.Contact{
		FirstName: "Anna", Phone: new("3"), Tag: []string{"own", "new"}, Segment: []string{"mine"},
		Attributes: map[string]any{"size": 3.0},
	}
	if diff := cmp.Diff(want, got.Contact, cmpopts.IgnoreFields(want, "ID", "Email", "LastName", "TimeZone",
		"CompanyID", "Stage", "LeadScore", "Score", "OwnerID", "CreatedAt", "UpdatedAt", "ArchivedAt")); diff != "" {
		t.Errorf("the survivor (-want +got):\n%s", diff)
	}
	if !got.UpdatedAt.After(m.Survivor.UpdatedAt.Time) {
		t.Errorf("updated at %v, want later than %v", got.UpdatedAt, m.Survivor.UpdatedAt)
	}
	if back := s.get(b.ID); back.ArchivedAt != nil || !back.UpdatedAt.Equal(b.UpdatedAt.Time) {
		t.Errorf("%+v", back)
	}
}

func TestAMergeThatCannotBeUndoneSaysWhy(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, b, c, d := s.person("a@x.example"), s.person("b@x.example"), s.person("c@x.example"), s.person("d@x.example")
	m, err := s.merge(a.ID, b.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.update(a.ID, contacts.Patch{Email: wire.Some("B@X.example")})
	if _, err := s.undo(m.Merge.ID); !fault.Is(err, fault.ContactExists) || fault.Of(err).ExistingID != a.ID.String() {
		t.Errorf("the address is taken: %v", err)
	}
	later, err := s.merge(c.ID, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.undo(m.Merge.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("the survivor is folded into another one: %v", err)
	}
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		within, err := merge.Within(ctx, tx, c.ID)
		if len(within) != 2 || !slices.Contains(within, a.ID) || !slices.Contains(within, b.ID) {
			t.Errorf("within %s: %v, want %s and %s", c.ID, within, a.ID, b.ID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.undo(later.Merge.ID); err != nil {
		t.Fatal(err)
	}
	old, err := s.merge(c.ID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.tx(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`UPDATE contact_merge SET created_at = now() - interval '30 days 1 second' WHERE id = $1`,
			old.Merge.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.undo(old.Merge.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("after 30 days: %v", err)
	}
	if _, err := s.undo(id.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("no merge: %v", err)
	}
}

func TestOfMergesAtOnceThatShareAContactOneWins(t *testing.T) {
	t.Parallel()
	s := open(t)
	for round := range 6 {
		var ids []id.ID
		for i := range 5 {
			ids = append(ids, s.person(fmt.Sprintf("r%d-%d@x.example", round, i)).ID)
		}
		var (
			wg   sync.WaitGroup
			errs = make([]error, 8)
		)
		for n := range errs {
			wg.Go(func() {
				mine := slices.Clone(ids)
				rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				_, errs[n] = s.merge(mine[0], mine[1:4]...) // any two of them share a contact
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !fault.Is(err, fault.NotFound):
				t.Errorf("%v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d merges won", won)
		}
	}
}

func TestWrongMergesAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, b := s.person("a@x.example"), s.person("b@x.example")
	many := make([]id.ID, 51)
	for i := range many {
		many[i] = id.New()
	}
	for name, c := range map[string]struct {
		losers []id.ID
		code   string
	}{
		"none": {nil, "required"}, "too many": {many, "too_many"}, "itself": {[]id.ID{b.ID, a.ID}, "survivor"},
		"twice": {[]id.ID{b.ID, b.ID}, "repeated"}, "nobody": {[]id.ID{b.ID, id.New()}, "not_found"},
	} {
		_, err := s.merge(a.ID, c.losers...)
		f := fault.Of(err)
		if f == nil {
			t.Errorf("%s: %v, want a fault", name, err)
			continue
		}
		want := []fault.FieldError{{Code: c.code}}
		if diff := cmp.Diff(want, f.Fields, cmpopts.IgnoreFields(fault.FieldError{}, "Pointer", "Detail")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for n, i := range []id.ID{a.ID, b.ID} {
		var tags []string
		for k := range 26 {
			tags = append(tags, fmt.Sprintf("%d-%d", n, k))
		}
		s.update(i, contacts.Patch{Tag: wire.Some(tags)})
	}
	if _, err := s.merge(a.ID, b.ID); fault.Of(err) == nil || fault.Of(err).Fields[0].Code != "too_many_tags" {
		t.Errorf("52 tags: %v", err)
	}
}

func TestAnErasedContactIsInNoMerge(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, b, c := s.person("a@x.example"), s.person("b@x.example"), s.person("c@x.example")
	m, err := s.merge(a.ID, b.ID, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	gone := func(i id.ID) {
		if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			if err := contacts.Purge(ctx, tx, i); err != nil {
				return err
			}
			merge.Erase(tx, i)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	gone(b.ID)
	back, err := s.undo(m.Merge.ID)
	if err != nil {
		t.Fatal(err)
	}
	if losers := back.Merge.LoserIDs; len(losers) != 1 {
		t.Errorf("losers %v, want 1", losers)
	}
	if at := s.get(c.ID).ArchivedAt; at != nil {
		t.Errorf("the loser is still archived at %v", at)
	}
	gone(a.ID)
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := merge.Get(ctx, tx, m.Merge.ID)
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
