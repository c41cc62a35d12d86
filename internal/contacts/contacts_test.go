package contacts_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// shop is one org in its own database.
type shop struct {
	*testkit.Database
	t   testing.TB
	org id.ID
}

func open(t testing.TB) *shop {
	t.Helper()
	s := &shop{Database: testkit.DB(t), t: t, org: id.New()}
	s.newOrg(s.org)
	return s
}

func (s *shop) newOrg(org id.ID) {
	s.t.Helper()
	if err := s.System.Tx(s.t.Context(), org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org)
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
}

// rate is a predictable scorer: 10 points per tag, 5 for a company.
func rate(c *contacts.Contact) (float64, events.ContactScore) {
	lead := 10 * float64(len(c.Tag))
	if c.CompanyID != nil {
		lead += 5
	}
	lead = math.Min(lead, 100)
	return lead, events.ContactScore{Probability: lead / 100, Confidence: "prior", ModelVersion: "test-1"}
}

func some(v string) wire.Field[string] { return wire.Some(v) }

func person(email string) *contacts.Patch {
	return &contacts.Patch{Email: some(email), FirstName: some("Ada"), LastName: some("Lovelace")}
}

func (s *shop) tx(fn func(ctx context.Context, tx *postgres.Tx) error) error {
	return s.App.Tx(s.t.Context(), s.org, func(tx *postgres.Tx) error { return fn(s.t.Context(), tx) })
}

func (s *shop) create(p *contacts.Patch) (row contacts.Row, err error) {
	err = s.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx, p, rate)
		return err
	})
	return row, contacts.Resolve(s.t.Context(), s.App, s.org, err)
}

func (s *shop) must(p *contacts.Patch) contacts.Row {
	s.t.Helper()
	row, err := s.create(p)
	if err != nil {
		s.t.Fatal(err)
	}
	return row
}

func (s *shop) update(i id.ID, match contacts.Match, p *contacts.Patch) (ch contacts.Change, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		ch, err = contacts.Update(ctx, tx, i, match, p, rate)
		return err
	})
	return ch, contacts.Resolve(s.t.Context(), s.App, s.org, err)
}

func (s *shop) get(i id.ID, archivedToo bool) (row contacts.Row, err error) {
	err = s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
		row, err = contacts.Get(s.t.Context(), tx, i, archivedToo)
		return err
	})
	return row, err
}

func (s *shop) archive(i id.ID) (ch contacts.Change, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		ch, err = contacts.Archive(ctx, tx, i, nil)
		return err
	})
	return ch, err
}

func (s *shop) restore(i id.ID) (ch contacts.Change, err error) {
	err = s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		ch, err = contacts.Restore(ctx, tx, i)
		return err
	})
	return ch, contacts.Resolve(s.t.Context(), s.App, s.org, err)
}

func (s *shop) list(f contacts.Filter, order contacts.Sort) []contacts.Row {
	s.t.Helper()
	var rows []contacts.Row
	if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) (err error) {
		rows, err = contacts.List(s.t.Context(), tx, &f, order, nil, 1000)
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return rows
}

func (s *shop) ids(f contacts.Filter, order contacts.Sort) []id.ID {
	s.t.Helper()
	out := []id.ID{}
	for _, r := range s.list(f, order) {
		out = append(out, r.ID)
	}
	return out
}

func (s *shop) count(table string) (n int) {
	s.t.Helper()
	if err := s.App.ReadTx(s.t.Context(), s.org, func(tx *postgres.Tx) error {
		return tx.QueryRow(s.t.Context(), `SELECT count(*) FROM `+table, nil, &n)
	}); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// wrong returns the pointers and codes of a validation fault.
func wrong(err error) map[string]string {
	out := map[string]string{}
	if f := fault.Of(err); f != nil {
		for _, x := range f.Fields {
			out[x.Pointer] = x.Code
		}
	}
	return out
}

func TestWhatIsCreatedIsWhatIsRead(t *testing.T) {
	t.Parallel()
	s := open(t)
	company, owner := id.New(), id.New()
	p := &contacts.Patch{
		Email: some("Ada.Lovelace@Acme.Example"), FirstName: some("Ada"), LastName: some("Łovelace"),
		Phone:    some(" +44  20 7946 0018 "),
		JobTitle: some("Head of Engines"), Source: some("referral"), TimeZone: some("Europe/London"),
		CompanyID: some(company.String()),
		OwnerID:   some(owner.String()), Stage: some("mql"), Tag: wire.Some([]string{" vip ", "hot", "vip"}),
		Segment: wire.Some([]string{"q3", "beta"}),
		Attributes: wire.Some(map[string]any{
			"plan": "gold", "seats": 12.5, "active": true, "renewal": "2027-01-31",
			"gone": nil,
		}),
	}
	made := s.must(p)
	phone, title, source, zone := "+44 20 7946 0018", "Head of Engines", "referral", "Europe/London"
	want := contacts.Contact{
		ID: made.ID, Email: "Ada.Lovelace@Acme.Example", FirstName: "Ada", LastName: "Łovelace", Phone: &phone,
		JobTitle: &title, Source: &source,
		TimeZone: &zone, CompanyID: &company, OwnerID: &owner, Stage: "mql", Tag: []string{"vip", "hot"},
		Segment:    []string{"q3", "beta"},
		Attributes: map[string]any{"plan": "gold", "seats": 12.5, "active": true, "renewal": "2027-01-31"},
		LeadScore:  25, Score: events.ContactScore{Probability: 0.25, Confidence: "prior", ModelVersion: "test-1"},
		CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt,
	}
	if diff := cmp.Diff(want, made.Contact); diff != "" {
		t.Error(diff)
	}
	read, err := s.get(made.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("stored differs from answered:\n%s", diff)
	}
	plain, err := s.get(s.must(person("b@acme.example")).ID, false)
	if err != nil {
		t.Fatalf("a bare contact: %v", err)
	}
	type facts struct {
		Tag, Segment   []string
		Attributes     map[string]any
		Stage          string
		Edit, Computed int
	}
	bare := facts{plain.Tag, plain.Segment, plain.Attributes, plain.Stage, plain.Edit, plain.Computed}
	if diff := cmp.Diff(facts{[]string{}, []string{}, map[string]any{}, "lead", 1, 0}, bare); diff != "" {
		t.Errorf("a bare contact (-want +got):\n%s", diff)
	}
}

func TestAWrongBodyIsToldWholeAndWritesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	long := fmt.Sprintf("%0201d", 0)
	for name, c := range map[string]struct {
		p    *contacts.Patch
		want map[string]string
	}{
		"nothing": {
			&contacts.Patch{},
			map[string]string{"#/email": "required", "#/first_name": "required", "#/last_name": "required"},
		},
		"null": {
			&contacts.Patch{
				Email: wire.Field[string]{Set: true, Null: true}, FirstName: some("  "),
				LastName: some(long),
			},
			map[string]string{"#/email": "not_nullable", "#/first_name": "required", "#/last_name": "too_long"},
		},
		"address": {person("ada@acme"), map[string]string{"#/email": "invalid_email"}},
		"ids": {with(func(p *contacts.Patch) {
			p.CompanyID, p.OwnerID = some("7"), some("")
		}), map[string]string{"#/company_id": "invalid_uuid", "#/owner_id": "invalid_uuid"}},
		"zone": {with(func(p *contacts.Patch) {
			p.TimeZone = some("Mars/Olympus")
		}), map[string]string{"#/time_zone": "invalid_time_zone"}},
		"stage": {with(func(p *contacts.Patch) {
			p.Stage = some("of our own")
		}), map[string]string{"#/stage": "unknown_stage"}},
		"tags": {with(func(p *contacts.Patch) {
			p.Tag = wire.Some([]string{"a,b", " ", "ok"})
		}), map[string]string{"#/tag/0": "invalid_characters", "#/tag/1": "required"}},
		"attribute": {
			with(func(p *contacts.Patch) {
				p.Attributes = wire.Some(map[string]any{"a/b": "x", "n": map[string]any{}, "big": 1e300})
			}),
			map[string]string{
				"#/attributes/a~1b": "invalid_key", "#/attributes/n": "invalid_type",
				"#/attributes/big": "out_of_range",
			},
		},
		"newline": {with(func(p *contacts.Patch) {
			p.JobTitle = some("a\nb")
		}), map[string]string{"#/job_title": "invalid_characters"}},
		"read-only": {with(func(p *contacts.Patch) {
			p.ReadOnly = map[string]rawJSON{
				"lead_score": rawJSON("50"), "archived_at": rawJSON("null"),
				"id": rawJSON(`"` + id.New().String() + `"`),
			}
		}), map[string]string{"#/lead_score": "read_only", "#/id": "read_only"}},
	} {
		_, err := s.create(c.p)
		if diff := cmp.Diff(c.want, wrong(err)); diff != "" || !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for _, table := range []string{"contact", "contact_score", "contact_word", "contact_tag", "contact_field"} {
		if n := s.count(table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

func with(change func(*contacts.Patch)) *contacts.Patch {
	p := person("ada@acme.example")
	change(p)
	return p
}

func TestAnAddressIsOneContactsInAnySpelling(t *testing.T) {
	t.Parallel()
	s := open(t)
	for first, again := range map[string]string{
		"Ada@Acme.Example": "aDA@acme.EXAMPLE", "zoë@acme.example": "ZOE\u0308@acme.example",
		"straße@münchen.example": "Straße@MÜNCHEN.example",
	} {
		made := s.must(person(first))
		_, err := s.create(person(again))
		if f := fault.Of(err); f == nil || f.Code != fault.ContactExists {
			t.Errorf("%q after %q: %v, want %s", again, first, err, fault.ContactExists)
		} else if f.ExistingID != made.ID.String() {
			t.Errorf("%q after %q: existing id %s, want %s", again, first, f.ExistingID, made.ID)
		}
	}
	s2 := *s
	s2.org = id.New()
	s2.newOrg(s2.org)
	s2.must(person("Ada@Acme.Example"))
}

func TestOfAHundredCreationsOfOneAddressOneWins(t *testing.T) {
	t.Parallel()
	s := open(t)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		made []contacts.Row
		refs = map[string]int{}
	)
	for i := range 100 {
		wg.Go(func() {
			email := "ada@acme.example"
			if i%2 == 0 {
				email = "ADA@Acme.example"
			}
			row, err := s.create(person(email))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made = append(made, row)
				return
			}
			if f := fault.Of(err); f != nil && f.Code == fault.ContactExists {
				refs[f.ExistingID]++
				return
			}
			t.Error(err)
		})
	}
	wg.Wait()
	if len(made) != 1 || refs[made[0].ID.String()] != 99 {
		t.Errorf("%d made; existing_id of the others: %v", len(made), refs)
	}
	if n := s.count("contact"); n != 1 {
		t.Errorf("%d rows", n)
	}
}

func TestOfAHundredPatchesOnOneETagOneWins(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.must(person("ada@acme.example"))
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		ok, bad int
	)
	onFirst := func(edit int64) error {
		if edit != 1 {
			return fault.New(fault.PreconditionFailed, "stale")
		}
		return nil
	}
	for i := range 100 {
		wg.Go(func() {
			_, err := s.update(made.ID, onFirst, &contacts.Patch{JobTitle: some(fmt.Sprint("title ", i))})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				ok++
			case fault.Is(err, fault.PreconditionFailed):
				bad++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ok != 1 || bad != 99 {
		t.Errorf("%d passed, %d refused; want 1 and 99", ok, bad)
	}
}

func TestArchivingHidesAndRestoringShows(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.must(with(func(p *contacts.Patch) {
		p.Tag, p.Segment = wire.Some([]string{"hot"}), wire.Some([]string{"q3"})
	}))
	first, err := s.archive(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Changed() {
		t.Fatal("archiving changed nothing")
	}
	if first.Edit != 2 || first.ArchivedAt == nil {
		t.Fatalf("archived: edit %d at %v, want edit 2 and a time", first.Edit, first.ArchivedAt)
	}
	if again, err := s.archive(made.ID); err != nil || again.Changed() {
		t.Errorf("archived twice: %+v, %v", again, err)
	}
	if _, err := s.get(made.ID, false); !fault.Is(err, fault.NotFound) {
		t.Errorf("reading it: %v", err)
	}
	if row, err := s.get(made.ID, true); err != nil {
		t.Errorf("reading it as archived: %v", err)
	} else if row.Edit != 2 || !row.ArchivedAt.Equal(first.ArchivedAt.Time) {
		t.Errorf("archived: edit %d at %v, want edit 2 at %v", row.Edit, row.ArchivedAt, first.ArchivedAt)
	}
	if _, err := s.update(made.ID, nil, &contacts.Patch{Phone: some("1")}); !fault.Is(err, fault.NotFound) {
		t.Errorf("patching it: %v", err)
	}
	lists := func(archived bool) (n int) {
		for _, order := range []contacts.Sort{contacts.Newest, contacts.Highest, contacts.LastName, contacts.Email} {
			n += len(s.list(contacts.Filter{Archived: archived}, order))
		}
		for _, f := range []contacts.Filter{
			{Tags: []string{"hot"}},
			{Segments: []string{"q3"}},
			{Tags: []string{"hot", "x"}},
			{Segments: []string{"q3", "x"}},
			{Words: []string{"lov"}},
			{Stages: []string{"lead"}},
		} {
			f.Archived = archived
			n += len(s.list(f, contacts.Newest))
		}
		return n
	}
	if live, shelved := lists(false), lists(true); live != 0 || shelved != 10 {
		t.Errorf("archived: in %d live lists and %d archived ones, want 0 and 10", live, shelved)
	}
	if ch, err := s.restore(made.ID); err != nil {
		t.Errorf("restore: %v", err)
	} else if ch.Edit != 3 || ch.ArchivedAt != nil {
		t.Errorf("restored: edit %d, archived at %v; want edit 3 and no time", ch.Edit, ch.ArchivedAt)
	}
	if live, shelved := lists(false), lists(true); live != 10 || shelved != 0 {
		t.Errorf("restored: in %d live lists and %d archived ones, want 10 and 0", live, shelved)
	}
	if _, err := s.archive(made.ID); err != nil {
		t.Fatal(err)
	}
	heir := s.must(person("ADA@acme.example"))
	_, err = s.restore(made.ID)
	if f := fault.Of(err); f == nil || f.Code != fault.ContactExists {
		t.Errorf("restore over a taken address: %v, want %s", err, fault.ContactExists)
	} else if f.ExistingID != heir.ID.String() {
		t.Errorf("restore over a taken address: existing id %s, want %s", f.ExistingID, heir.ID)
	}
}

func TestAnotherOrgsContactIsLikeNone(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.must(person("ada@acme.example"))
	other := *s
	other.org = id.New()
	other.newOrg(other.org)
	for _, i := range []id.ID{made.ID, id.New()} {
		_, get := other.get(i, true)
		_, patch := other.update(i, nil, &contacts.Patch{Phone: some("1")})
		_, archive := other.archive(i)
		_, restore := other.restore(i)
		purge := other.tx(func(ctx context.Context, tx *postgres.Tx) error { return contacts.Purge(ctx, tx, i) })
		for _, err := range []error{get, patch, archive, restore, purge} {
			if err == nil || err.Error() != "not_found: There is no such contact." {
				t.Errorf("answered %v", err)
			}
		}
	}
	if got := other.ids(contacts.Filter{}, contacts.Newest); len(got) != 0 {
		t.Errorf("lists %v", got)
	}
}
