package segments_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const customers = `{"field":"stage","op":"eq","value":"customer"}`

// read returns a contact with its ETag.
func (s *shop) read(i id.ID) (row contacts.Row) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Get(ctx, tx, i, true)
		return err
	})
	return row
}

// list returns the contacts of a list with segment=key.
func (s *shop) list(key string, archived bool) (out []id.ID) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		rows, err := contacts.List(ctx, tx, &contacts.Filter{Segments: []string{key}, Archived: archived},
			contacts.Newest, nil, 1000)
		for _, r := range rows {
			out = append(out, r.ID)
		}
		return err
	})
	return out
}

// stories returns the events, each as entered or left and the contact.
func (s *shop) stories(names map[id.ID]string) (out []string) {
	s.t.Helper()
	for _, e := range s.told() {
		out = append(out, strings.TrimPrefix(e.Type, "segment.")+" "+names[must(e.Contact)])
	}
	return out
}

func TestTheFirstMembersAreNotToldAndEveryLaterDifferenceIsToldOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	ada, bob, shelved := s.create(person(1, stage("customer"))), s.create(person(2)),
		s.create(person(3, stage("customer")))
	s.archive(shelved.ID)
	names := map[id.ID]string{ada.ID: "ada", bob.ID: "bob", shelved.ID: "shelved"}
	seg := s.segment("Customers", customers)
	type facts struct {
		Status, Key string
		Kind        segments.Kind
		Members     int64
		Edit        int
	}
	begun := facts{segments.Building, "customers", segments.Dynamic, 0, 1}
	if diff := cmp.Diff(begun, facts{seg.Status, seg.Key, seg.Kind, seg.ContactCount, seg.Edit}); diff != "" {
		t.Errorf("a new segment (-want +got):\n%s", diff)
	}
	s.drain()
	now := s.get(seg.ID)
	built := facts{segments.Ready, "customers", segments.Dynamic, 1, 1}
	if diff := cmp.Diff(built, facts{now.Status, now.Key, now.Kind, now.ContactCount, now.Edit}); diff != "" {
		t.Errorf("built (-want +got):\n%s", diff)
	}
	if now.Computed == seg.Computed || now.UpdatedAt != seg.UpdatedAt {
		t.Errorf("built: computed %d after %d, updated at %v after %v; want another count and the same time",
			now.Computed, seg.Computed, now.UpdatedAt, seg.UpdatedAt)
	}
	expect := func(what string, also ...string) {
		t.Helper()
		s.drain()
		s.drain()
		if all := s.stories(names); len(all) < len(also) || !slices.Equal(all[len(all)-len(also):], also) {
			t.Errorf("%s: %v, want %v at the end", what, all, also)
		}
		s.check()
	}
	total := 0
	step := func(what string, do func(), also ...string) {
		t.Helper()
		do()
		expect(what, also...)
		if total += len(also); len(s.told()) != total {
			t.Errorf("%s: %d events, want %d", what, len(s.told()), total)
		}
	}
	step("at first", func() {})
	step("bob matches", func() { s.patch(bob.ID, stage("customer")) }, "entered bob")
	step("bob matches as before", func() { s.patch(bob.ID, tags("x")) })
	step("there and back between two looks", func() {
		s.patch(bob.ID, stage("lead"))
		s.patch(bob.ID, stage("customer"))
	})
	step("ada is archived", func() { s.archive(ada.ID) }, "left ada")
	if !slices.Equal(s.list("customers", false), []id.ID{bob.ID}) ||
		!slices.Equal(s.list("customers", true), []id.ID{shelved.ID, ada.ID}) {
		t.Errorf("lists hold %v and %v", s.list("customers", false), s.list("customers", true))
	}
	step("ada is restored", func() { s.restore(ada.ID) }, "entered ada")
	step("another filter", func() { s.refilter(seg.ID, `{"field":"tag","op":"eq","value":"x"}`) }, "left ada")
	total-- // bob's events are deleted with him
	step("bob is purged", func() {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error { return contacts.Purge(ctx, tx, bob.ID) })
	})
	step("the segment is archived", func() {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, seg.ID, allow) })
		s.patch(ada.ID, tags("x"))
	})
	if row := s.read(ada.ID); len(row.Segment) != 0 || len(s.list("customers", false)) != 0 {
		t.Errorf("archived, it is shown: %v", row.Segment)
	}
	step("and restored", func() {
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			_, err := segments.Restore(ctx, tx, seg.ID)
			return err
		})
	}, "entered ada")
}

func TestAMembershipMovesTheSecondPartOfTheETagAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	ada := s.create(person(1))
	seen := map[string][]string{}
	look := func() contacts.Row {
		t.Helper()
		r := s.read(ada.ID)
		tag := fmt.Sprint(r.Edit, ".", r.Computed)
		if shown, ok := seen[tag]; ok && !slices.Equal(shown, r.Segment) {
			t.Errorf("%s stood for %v and stands for %v", tag, shown, r.Segment)
		}
		seen[tag] = r.Segment
		if r.Edit != 1 || r.UpdatedAt != ada.UpdatedAt {
			t.Errorf("an edit: %d at %s", r.Edit, r.UpdatedAt)
		}
		return r
	}
	look()
	seg := s.segment("Everybody", `{"field":"stage","op":"exists","value":true}`)
	s.drain()
	if r := look(); !slices.Equal(r.Segment, []string{"everybody"}) {
		t.Errorf("in %v", r.Segment)
	}
	s.refilter(seg.ID, customers)
	s.drain()
	if r := look(); len(r.Segment) != 0 {
		t.Errorf("in %v", r.Segment)
	}
	s.refilter(seg.ID, `{"field":"stage","op":"eq","value":"lead"}`)
	s.drain()
	look()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, seg.ID, allow) })
	look()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Restore(ctx, tx, seg.ID)
		return err
	})
	look()
}

func TestAContactsOwnWriteLeavesDynamicSegmentsAndThoseOfTheArchiveAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	in := func(keys ...string) func(*contacts.Patch) {
		return func(p *contacts.Patch) { p.Segment = some(keys) }
	}
	ada := s.create(person(1, in("hand", "made")))
	s.segment("Leads", `{"field":"stage","op":"eq","value":"lead"}`)
	s.drain()
	shows := func(what string, want ...string) {
		t.Helper()
		if got := s.read(ada.ID).Segment; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		for _, key := range want {
			if !slices.Contains(s.list(key, false), ada.ID) {
				t.Errorf("%s: the list of %s has it not", what, key)
			}
		}
	}
	shows("at first", "hand", "made", "leads")
	s.patch(ada.ID, in("made", "new"))
	shows("static ones are replaced", "made", "new", "leads")
	s.patch(ada.ID, in("leads", "new"))
	shows("what is shown may be sent back", "new", "leads")
	s.patch(ada.ID, func(p *contacts.Patch) { p.Segment.Set, p.Segment.Null = true, true })
	shows("null clears the static ones", "leads")
	s.patch(ada.ID, in("old", "new"))
	var old id.ID
	for i, key := range s.table(`SELECT id, key FROM segment WHERE org_id = $1`) {
		if key == "old" {
			old = i
		}
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, old, allow) })
	shows("an archived one is not shown", "new", "leads")
	s.patch(ada.ID, in("newer"))
	shows("nor touched", "newer", "leads")
	s.archive(ada.ID)
	s.restore(ada.ID)
	s.drain()
	s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Restore(ctx, tx, old)
		return err
	})
	shows("and comes back", "newer", "old", "leads")
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, old, allow) })

	other := s.create(person(2, stage("customer")))
	for key, code := range map[string]string{"leads": "dynamic_segment", "old": "archived_segment"} {
		err := s.try(func(ctx context.Context, tx *postgres.Tx) error {
			var p contacts.Patch
			in(key)(&p)
			_, err := contacts.Update(ctx, tx, other.ID, nil, &p, rate)
			return err
		})
		if f := fault.Of(err); f == nil || len(f.Fields) != 1 {
			t.Errorf("naming %s: %v, want a fault with one field", key, err)
		} else if f.Fields[0].Code != code {
			t.Errorf("naming %s: %s, want %s", key, f.Fields[0].Code, code)
		}
		s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			row := contacts.Upsert{Patch: *person(2, in(key))}
			out, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, []contacts.Upsert{row})
			if err == nil && (out[0].Fault == nil || out[0].Fault.Fields[0].Code != code) {
				t.Errorf("naming %s in a batch: %+v", key, out[0])
			}
			return err
		})
	}
	s.check()
}

func TestWhatASegmentMayNotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.create(person(1, func(p *contacts.Patch) { p.Attributes = some(map[string]any{"size": 1.0}) }))
	make1 := func(n segments.New) (segments.Row, error) {
		var r segments.Row
		err := s.try(func(ctx context.Context, tx *postgres.Tx) (err error) {
			r, err = segments.Create(ctx, tx, n)
			return err
		})
		return r, err
	}
	first, err := make1(segments.New{
		Name:   "Big ones, in the UK",
		Filter: []byte(`{"field":"attributes.size","op":"gt","value":10}`),
	})
	if err != nil || first.Key != "big-ones-in-the-uk" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := make1(segments.New{Name: "Big ones, in the UK"})
	if err != nil {
		t.Fatal(err)
	}
	static := segments.Segment{Key: "big-ones-in-the-uk-2", Kind: segments.Static, Status: segments.Ready}
	if diff := cmp.Diff(static, again.Segment, cmpopts.IgnoreFields(static, "ID", "Name", "Filter", "ContactCount",
		"CreatedAt", "UpdatedAt", "ArchivedAt")); diff != "" {
		t.Errorf("a second segment of that name (-want +got):\n%s", diff)
	}
	long := strings.Repeat("é", 201)
	for name, c := range map[string]struct {
		n    segments.New
		code fault.Code
		at   string // pointer and code of the first error
	}{
		"no name":   {segments.New{Name: " "}, fault.ValidationFailed, "#/name required"},
		"long":      {segments.New{Name: long, Key: long}, fault.ValidationFailed, "#/name too_long"},
		"comma":     {segments.New{Name: "x", Key: "a,b"}, fault.ValidationFailed, "#/key invalid_characters"},
		"blank end": {segments.New{Name: "x", Key: "a "}, fault.ValidationFailed, "#/key invalid_key"},
		"no filter": {
			segments.New{Name: "x", Kind: segments.Dynamic},
			fault.ValidationFailed,
			"#/filter required",
		},
		"static filter": {
			segments.New{Name: "x", Kind: segments.Static, Filter: []byte(customers)},
			fault.ValidationFailed, "#/filter not_allowed",
		},
		"taken": {segments.New{Name: "x", Key: first.Key}, fault.Conflict, ""},
		"unknown field": {
			segments.New{
				Name:   "x",
				Filter: []byte(`{"all":[{"field":"nose","op":"eq","value":"x"}]}`),
			},
			fault.InvalidFilter,
			"#/filter/all/0/field unknown_field",
		},
		"undefined field": {
			segments.New{
				Name:   "x",
				Filter: []byte(`{"field":"attributes.nose","op":"eq","value":"x"}`),
			},
			fault.InvalidFilter,
			"#/filter/field unknown_field",
		},
		"nested": {
			segments.New{
				Name:   "x",
				Filter: []byte(`{"any":[` + customers + `,{"not":{"field":"segment","op":"eq","value":"x"}}]}`),
			},
			fault.InvalidFilter, "#/filter/any/1/not/field nested_segment",
		},
	} {
		_, err := make1(c.n)
		f, at := fault.Of(err), ""
		if f != nil && len(f.Fields) > 0 {
			at = f.Fields[0].Pointer + " " + f.Fields[0].Code
		}
		if f == nil || f.Code != c.code || at != c.at {
			t.Errorf("%s: %v at %q, want %s at %q", name, err, at, c.code, c.at)
		}
		if name == "taken" && f.ExistingID != first.ID.String() {
			t.Errorf("the holder is %q", f.ExistingID)
		}
	}
	undefine := func() error {
		return s.try(func(ctx context.Context, tx *postgres.Tx) error {
			if err := contacts.Undefine(ctx, tx, "size", nil); err != nil {
				return err
			}
			return definitions.CheckUnused(ctx, tx, definitions.Name{Kind: definitions.Field, Name: "size"})
		})
	}
	if err := undefine(); !fault.Is(err, fault.InUse) {
		t.Errorf("a field that is read was archived: %v", err)
	}
	s.tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Archive(ctx, tx, first.ID, allow) })
	if err := undefine(); err != nil {
		t.Error(err)
	}
	if err := s.try(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Restore(ctx, tx, first.ID)
		return err
	}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a filter whose field is gone came back: %v", err)
	}
}
