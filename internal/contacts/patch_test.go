package contacts_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

type rawJSON = json.RawMessage

func null[T any]() wire.Field[T] { return wire.Field[T]{Set: true, Null: true} }

// Examples of RFC 7396, appendix A, that apply to a flat object with scalars, arrays and one object.
func TestAPatchIsAMergePatch(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, c := range map[string]struct {
		before, patch func(*contacts.Patch)
		want          func(*contacts.Contact)
		changed       []string
	}{
		"a value replaces": {func(p *contacts.Patch) { p.Phone = some("1") }, func(p *contacts.Patch) {
			p.Phone = some("2")
		}, func(c *contacts.Contact) {
			two := "2"
			c.Phone = &two
		}, []string{"phone"}},
		"a value adds": {func(*contacts.Patch) {}, func(p *contacts.Patch) {
			p.Phone = some("2")
		}, func(c *contacts.Contact) {
			two := "2"
			c.Phone = &two
		}, []string{"phone"}},
		"null takes away": {func(p *contacts.Patch) { p.Phone = some("1") }, func(p *contacts.Patch) {
			p.Phone = null[string]()
		}, func(c *contacts.Contact) { c.Phone = nil }, []string{"phone"}},
		"null of what is not there": {func(*contacts.Patch) {}, func(p *contacts.Patch) {
			p.Phone = null[string]()
		}, func(*contacts.Contact) {}, nil},
		"an array is replaced": {func(p *contacts.Patch) {
			p.Tag = wire.Some([]string{"a", "b"})
		}, func(p *contacts.Patch) { p.Tag = wire.Some([]string{"c"}) }, func(c *contacts.Contact) {
			c.Tag = []string{"c"}
		}, []string{"tag", "lead_score", "score"}},
		"an array is cleared": {func(p *contacts.Patch) {
			p.Tag = wire.Some([]string{"a", "b"})
		}, func(p *contacts.Patch) { p.Tag = null[[]string]() }, func(c *contacts.Contact) {
			c.Tag = []string{}
		}, []string{"tag", "lead_score", "score"}},
		"segments are replaced": {func(p *contacts.Patch) {
			p.Segment = wire.Some([]string{"a", "b"})
		}, func(p *contacts.Patch) { p.Segment = wire.Some([]string{"b", "c"}) }, func(c *contacts.Contact) {
			c.Segment = []string{"b", "c"}
		}, []string{"segment"}},
		"an object is merged": {func(p *contacts.Patch) {
			p.Attributes = wire.Some(map[string]any{"a": "b", "c": "d"})
		}, func(p *contacts.Patch) {
			p.Attributes = wire.Some(map[string]any{"a": "z", "c": nil, "e": nil})
		}, func(c *contacts.Contact) { c.Attributes = map[string]any{"a": "z"} }, []string{"attributes"}},
		"an object is cleared": {func(p *contacts.Patch) {
			p.Attributes = wire.Some(map[string]any{"a": "b"})
		}, func(p *contacts.Patch) { p.Attributes = null[map[string]any]() }, func(c *contacts.Contact) {
			c.Attributes = map[string]any{}
		}, []string{"attributes"}},
		"an empty object is no value": {func(p *contacts.Patch) {
			p.Attributes = wire.Some(map[string]any{"a": "b"})
		}, func(p *contacts.Patch) { p.Attributes = wire.Some(map[string]any{}) }, func(*contacts.Contact) {}, nil},
		"nothing changes nothing": {func(p *contacts.Patch) {
			p.Phone = some("1")
		}, func(*contacts.Patch) {}, func(*contacts.Contact) {}, nil},
		"the same changes nothing": {func(p *contacts.Patch) {
			p.Tag = wire.Some([]string{"a"})
		}, func(p *contacts.Patch) {
			p.FirstName, p.Tag, p.Stage, p.Attributes = some("Ada"), wire.Some([]string{"a"}), some("lead"),
				wire.Some(map[string]any{})
		}, func(*contacts.Contact) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			made := s.must(with(func(p *contacts.Patch) {
				p.Email = some(wire.Now().Format("150405.000000") + "x@acme.example")
				c.before(p)
			}))
			var p contacts.Patch
			c.patch(&p)
			ch, err := s.update(made.ID, nil, &p)
			if err != nil {
				t.Fatal(err)
			}
			want := made
			c.want(&want.Contact)
			if len(c.changed) > 0 {
				want.Edit = 2
				want.LeadScore, want.Score = rate(&want.Contact)
				if !ch.UpdatedAt.After(made.UpdatedAt.Time) {
					t.Error("updated_at stood still")
				}
				want.UpdatedAt = ch.UpdatedAt
			}
			if diff := cmp.Diff(want, ch.Row); diff != "" {
				t.Error(diff)
			}
			for _, f := range c.changed {
				if _, ok := ch.Previous[f]; !ok &&
					(f != "lead_score" && f != "score" || want.LeadScore != made.LeadScore) {
					t.Errorf("previous lacks %s: %v", f, ch.Previous)
				}
			}
			read, err := s.get(made.ID, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ch.Row, read); diff != "" {
				t.Errorf("stored differs from answered:\n%s", diff)
			}
		})
	}
}

func TestAPatchThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	made, other := s.must(with(func(p *contacts.Patch) {
		p.Attributes = wire.Some(map[string]any{"seats": 3.0, "since": "2026-01-01", "note": "x"})
	})), s.must(person("b@acme.example"))
	for name, c := range map[string]struct {
		p    contacts.Patch
		want map[string]string
	}{
		"null name": {
			contacts.Patch{FirstName: null[string](), Stage: null[string]()},
			map[string]string{"#/first_name": "not_nullable", "#/stage": "not_nullable"},
		},
		"type": {
			contacts.Patch{Attributes: wire.Some(map[string]any{
				"seats": "three", "since": "soon",
				"note": "2026-01-01",
			})},
			map[string]string{"#/attributes/seats": "wrong_type", "#/attributes/since": "wrong_type"},
		},
		"type in a new": {
			contacts.Patch{
				Phone:      some("1"),
				Attributes: wire.Some(map[string]any{"seats": true, "brandnew": 1.0}),
			},
			map[string]string{"#/attributes/seats": "wrong_type"},
		},
		"unknown stage": {contacts.Patch{Stage: some("dream")}, map[string]string{"#/stage": "unknown_stage"}},
		"another id": {
			contacts.Patch{ReadOnly: map[string]rawJSON{"id": rawJSON(`"` + other.ID.String() + `"`)}},
			map[string]string{"#/id": "read_only"},
		},
		"another moment": {
			contacts.Patch{ReadOnly: map[string]rawJSON{"created_at": rawJSON(`"2020-01-01T00:00:00Z"`)}},
			map[string]string{"#/created_at": "read_only"},
		},
	} {
		_, err := s.update(made.ID, nil, &c.p)
		if diff := cmp.Diff(c.want, wrong(err)); diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	_, err := s.update(made.ID, nil, &contacts.Patch{Email: some("B@acme.example")})
	if f := fault.Of(err); f == nil || f.Code != fault.ContactExists {
		t.Errorf("another's address: %v, want %s", err, fault.ContactExists)
	} else if f.ExistingID != other.ID.String() {
		t.Errorf("another's address: existing id %s, want %s", f.ExistingID, other.ID)
	}
	if read, err := s.get(made.ID, false); err != nil || !cmp.Equal(read, made) {
		t.Errorf("it changed all the same: %v\n%s", err, cmp.Diff(made, read))
	}
	if n := s.count("contact_field"); n != 3 {
		t.Errorf("%d fields are defined, want 3", n)
	}
}

func TestReadOnlyFieldsMayBeSentAsTheyAre(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.must(person("ada@acme.example"))
	whole, err := json.Marshal(made.Contact)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]rawJSON
	if err := json.Unmarshal(whole, &members); err != nil {
		t.Fatal(err)
	}
	p := contacts.Patch{ReadOnly: map[string]rawJSON{}}
	for _, name := range []string{"id", "lead_score", "score", "created_at", "updated_at", "archived_at"} {
		p.ReadOnly[name] = members[name]
	}
	if ch, err := s.update(made.ID, nil, &p); err != nil || ch.Changed() {
		t.Errorf("%+v, %v", ch, err)
	}
}

func TestWhatFindsAContactFollowsItsChanges(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.must(with(func(p *contacts.Patch) {
		p.Tag, p.Segment = wire.Some([]string{"old", "both"}), wire.Some([]string{"was", "stays"})
	}))
	if _, err := s.update(made.ID, nil, &contacts.Patch{
		LastName: some("Byron"), Email: some("new@acme.example"), Tag: wire.Some([]string{"both", "new"}),
		Segment: wire.Some([]string{"stays", "is"}), Stage: some("sql"),
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    contacts.Filter
		want int
	}{
		{contacts.Filter{Tags: []string{"old"}}, 0},
		{contacts.Filter{Tags: []string{"both"}}, 1},
		{contacts.Filter{Tags: []string{"new", "old"}}, 1},
		{contacts.Filter{Segments: []string{"was"}}, 0},
		{contacts.Filter{Segments: []string{"stays"}}, 1},
		{contacts.Filter{Segments: []string{"is", "was"}}, 1},
		{contacts.Filter{Segments: []string{"nobody's"}}, 0},
		{contacts.Filter{Tags: []string{"new"}, Segments: []string{"is"}}, 1},
		{contacts.Filter{Tags: []string{"new"}, Segments: []string{"was"}}, 0},
		{contacts.Filter{Words: compare.Words("LOVE")}, 0},
		{contacts.Filter{Words: compare.Words("byr ada acm")}, 1},
		{contacts.Filter{Words: compare.Words("new@acme.example")}, 1},
		{contacts.Filter{Words: compare.Words("byr zzz")}, 0},
		{contacts.Filter{Stages: []string{"lead"}}, 0},
		{contacts.Filter{Stages: []string{"lead", "sql"}}, 1},
	} {
		if got := s.ids(c.f, contacts.Newest); len(got) != c.want {
			t.Errorf("%+v finds %d, want %d", c.f, len(got), c.want)
		}
	}
}

func TestTheCapOfFieldDefinitionsHolds(t *testing.T) {
	t.Parallel()
	s := open(t)
	values := map[string]any{}
	for i := range 200 {
		values["f"+string(rune('a'+i/26))+string(rune('a'+i%26))] = true
	}
	made := s.must(with(func(p *contacts.Patch) { p.Attributes = wire.Some(values) }))
	_, err := s.update(made.ID, nil,
		&contacts.Patch{Attributes: wire.Some(map[string]any{"faa": nil, "one more": 1.0})})
	if diff := cmp.Diff(map[string]string{"#/attributes": "too_many_fields"}, wrong(err)); diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTooManyEntriesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	distinct, blank := make([]string, 200_000), make([]string, 200_000)
	for i := range distinct {
		distinct[i] = strconv.Itoa(i)
	}
	for name, c := range map[string]struct {
		tags   []string
		code   string
		fields int
	}{
		"distinct": {distinct, "too_many", 1},
		"blank":    {blank, "required", 100},
	} {
		began := time.Now()
		_, err := s.create(with(func(p *contacts.Patch) { p.Tag = wire.Some(c.tags) }))
		f := fault.Of(err)
		if f == nil || f.Code != fault.ValidationFailed {
			t.Errorf("%s: %v, want %s", name, err, fault.ValidationFailed)
			continue
		}
		if len(f.Fields) != c.fields {
			t.Errorf("%s: %d fields, want %d", name, len(f.Fields), c.fields)
		}
		if len(f.Fields) > 0 && f.Fields[0].Code != c.code {
			t.Errorf("%s: code %s, want %s", name, f.Fields[0].Code, c.code)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: refused after %v", name, took)
		}
	}
}
