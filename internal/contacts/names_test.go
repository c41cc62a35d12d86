package contacts_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestANameInAnotherSpellingIsTheSameName(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := person("ada@acme.example")
	first.Tag = wire.Some([]string{"VIP", "Kunde  Süd"})
	first.Segment = wire.Some([]string{"Fair"})
	first.Attributes = wire.Some(map[string]any{"Team size": 7.0})
	ada := s.must(first)

	second := person("bob@acme.example")
	second.Tag = wire.Some([]string{"vip", "KUNDE SÜD", "v\u200bip"})
	second.Segment = wire.Some([]string{"FAIR"})
	second.Stage = wire.Some(" Customer")
	second.Attributes = wire.Some(map[string]any{"team  SIZE": 8.0})
	var bob contacts.Row
	s.mustTx(func(ctx context.Context, tx *postgres.Tx) error {
		if err := contacts.Respell(ctx, tx, second); err != nil {
			return err
		}
		var err error
		bob, err = contacts.Create(tx, second, rate)
		return err
	})
	bob = mustGet(s, bob.ID)
	if diff := cmp.Diff(ada.Tag, bob.Tag); diff != "" {
		t.Errorf("tags: %s", diff)
	}
	if diff := cmp.Diff([]any{[]string{"Fair"}, "customer", map[string]any{"Team size": 8.0}},
		[]any{bob.Segment, bob.Stage, bob.Attributes}); diff != "" {
		t.Error(diff)
	}
	for _, f := range []contacts.Filter{
		{Tags: []string{"vIp"}},
		{Tags: []string{"kunde süd"}},
		{Segments: []string{" fair "}},
		{Tags: []string{"VIP", "x"}},
	} {
		s.view(f.Resolve)
		if got := s.ids(f, contacts.Newest); len(got) != 2 {
			t.Errorf("%+v finds %d contacts, want 2", f, len(got))
		}
	}
	for raw, want := range map[string]int{
		`{"field":"tag","op":"eq","value":"Vip"}`:                  2,
		`{"field":"tag","op":"ne","value":"vip"}`:                  0,
		`{"field":"tag","op":"starts_with","value":"KUNDE"}`:       2,
		`{"field":"tag","op":"contains","value":"süd"}`:            2,
		`{"field":"stage","op":"in","value":["CUSTOMER"]}`:         1,
		`{"field":"segment","op":"eq","value":"fair"}`:             2,
		`{"field":"attributes.Team size","op":"gte","value":7}`:    2,
		`{"field":"email","op":"eq","value":"ADA@ACME.example. "}`: 1,
	} {
		var f contacts.Filter
		s.view(func(ctx context.Context, tx *postgres.Tx) (err error) {
			f.Where, err = contacts.ParseFilter(ctx, tx, []byte(raw))
			return err
		})
		if got := s.ids(f, contacts.Newest); len(got) != want {
			t.Errorf("%s finds %d contacts, want %d", raw, len(got), want)
		}
		for _, r := range []contacts.Row{ada, bob} {
			found := false
			for _, i := range s.ids(f, contacts.Newest) {
				found = found || i == r.ID
			}
			if mem := f.Where.Match(contacts.RecordOf(&r.Contact)); mem != found {
				t.Errorf("%s: memory %v, SQL %v of %s", raw, mem, found, r.Email)
			}
		}
	}
}

// mustGet returns the live contact i.
func mustGet(s *shop, i id.ID) contacts.Row {
	s.t.Helper()
	r, err := s.get(i, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// mustTx runs fn in a transaction that commits.
func (s *shop) mustTx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	s.t.Helper()
	if err := s.tx(fn); err != nil {
		s.t.Fatal(err)
	}
}

func TestARenamedTagIsFoundByBothNamesUntilItsContactsFollow(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := person("ada@acme.example")
	p.Tag = wire.Some([]string{"old"})
	ada := s.must(p)
	finds := func(tag string) int {
		var f contacts.Filter
		s.view(func(ctx context.Context, tx *postgres.Tx) (err error) {
			f.Where, err = contacts.ParseFilter(ctx, tx, []byte(`{"field":"tag","op":"eq","value":"`+tag+`"}`))
			return err
		})
		if n := len(s.ids(f, contacts.Newest)); f.Where.Match(contacts.RecordOf(&ada.Contact)) != (n > 0) {
			t.Errorf("%s: SQL finds %d, memory differs", tag, n)
		}
		return len(s.ids(f, contacts.Newest))
	}
	rename := func(from, to string) {
		s.mustTx(func(ctx context.Context, tx *postgres.Tx) error {
			got, err := contacts.RenameTag(ctx, tx, from, to)
			if got != to {
				t.Errorf("the tag is %q, want %q", got, to)
			}
			return err
		})
	}
	rename("old", "new")
	if finds("OLD") != 1 || finds("New") != 1 || finds("third") != 0 {
		t.Errorf("old finds %d, new %d, third %d", finds("old"), finds("new"), finds("third"))
	}
	rename("new", "third")
	for _, tag := range []string{"old", "new", "third"} {
		if finds(tag) != 1 {
			t.Errorf("%s finds %d contacts, want 1", tag, finds(tag))
		}
	}
	q := person("bob@acme.example")
	q.Tag = wire.Some([]string{"Old"})
	s.mustTx(func(ctx context.Context, tx *postgres.Tx) error { return contacts.Respell(ctx, tx, q) })
	if q.Tag.Value[0] != "third" {
		t.Errorf("a contact gets the tag %q, want third", q.Tag.Value[0])
	}
	s.mustTx(func(ctx context.Context, tx *postgres.Tx) error {
		left, err := contacts.SettleTag(ctx, tx, "third")
		if !left {
			t.Error("nothing is left, though a contact has the old name")
		}
		return err
	})
	s.mustTx(func(ctx context.Context, tx *postgres.Tx) error {
		_, _, err := contacts.BulkUpdate(ctx, tx, []id.ID{ada.ID}, contacts.Live,
			func(*contacts.Contact) contacts.Patch {
				return contacts.Patch{Tag: wire.Some([]string{"third"})}
			}, rate)
		if err != nil {
			return err
		}
		left, err := contacts.SettleTag(ctx, tx, "third")
		if left {
			t.Error("a spelling is left that no contact has")
		}
		return err
	})
	ada = mustGet(s, ada.ID)
	if finds("old") != 0 || finds("new") != 0 || finds("third") != 1 {
		t.Errorf("old finds %d, new %d, third %d", finds("old"), finds("new"), finds("third"))
	}
}

func TestTwoKeysOfOneBodyThatAreOneAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, keys := range [][2]string{{"Plan", "plan"}, {"Team size", "team  size"}, {"é", "E\u0301"}} {
		p := person("ada@acme.example")
		p.Attributes = wire.Some(map[string]any{keys[0]: "a", keys[1]: "b"})
		_, err := s.create(p)
		if f := fault.Of(err); f == nil || len(f.Fields) != 1 || f.Fields[0].Code != "duplicate_key" {
			t.Errorf("%q: %v", keys, err)
		}
	}
}
