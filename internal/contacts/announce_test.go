package contacts_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestEachChangeIsToldOnceAndMovedTagsWithBothLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	tags := func(all ...string) *contacts.Patch { return &contacts.Patch{Tag: wire.Some(all)} }
	born := person("ada@acme.example")
	born.Tag = wire.Some([]string{"a", "b"})
	row := s.must(born)
	for _, c := range []struct {
		name           string
		do             func() (contacts.Change, error)
		told           []string
		added, removed []string
	}{
		{"made with tags", func() (contacts.Change, error) {
			return *row.AsCreated(), nil
		}, []string{"contact.created"}, nil, nil},
		{"nothing", func() (contacts.Change, error) { return s.update(row.ID, nil, &contacts.Patch{}) }, nil, nil, nil},
		{"a name", func() (contacts.Change, error) {
			return s.update(row.ID, nil, &contacts.Patch{FirstName: some("Grace")})
		}, []string{"contact.updated"}, nil, nil},
		{"another order", func() (contacts.Change, error) {
			return s.update(row.ID, nil, tags("b", "a"))
		}, []string{"contact.updated"}, nil, nil},
		{"both ways", func() (contacts.Change, error) {
			return s.update(row.ID, nil, tags("b", "c", "d"))
		}, []string{"contact.updated", "contact.tagged"}, []string{"c", "d"}, []string{"a"}},
		{"all gone", func() (contacts.Change, error) {
			return s.update(row.ID, nil, tags())
		}, []string{"contact.updated", "contact.tagged"}, []string{}, []string{"b", "c", "d"}},
		{"archived", func() (contacts.Change, error) {
			return s.archive(row.ID)
		}, []string{"contact.archived"}, nil, nil},
		{"archived again", func() (contacts.Change, error) { return s.archive(row.ID) }, nil, nil, nil},
		{"restored", func() (contacts.Change, error) {
			return s.restore(row.ID)
		}, []string{"contact.restored"}, nil, nil},
	} {
		ch, err := c.do()
		if err != nil {
			t.Fatal(c.name, err)
		}
		before := s.count("event")
		if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			return contacts.Announce(ctx, tx, &ch)
		}); err != nil {
			t.Fatal(c.name, err)
		}
		var types []string
		var last json.RawMessage
		if err := s.App.ReadTx(t.Context(), s.org, func(tx *postgres.Tx) error {
			return tx.QueryRow(t.Context(),
				`SELECT array_agg(type ORDER BY seq), (array_agg(data -> 'object' ORDER BY seq DESC))[1]
					FROM (SELECT * FROM event ORDER BY seq OFFSET $1) e`,
				[]any{before}, &types, &last)
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(types, c.told) {
			t.Errorf("%s: told %v, want %v", c.name, types, c.told)
		}
		var tagged events.Tagging
		if c.added != nil {
			if err := json.Unmarshal(last, &tagged); err != nil {
				t.Fatal(err)
			}
			if tagged.ContactID != row.ID {
				t.Errorf("%s: contact %s, want %s", c.name, tagged.ContactID, row.ID)
			}
			if !slices.Equal(tagged.Added, c.added) {
				t.Errorf("%s: added %q, want %q", c.name, tagged.Added, c.added)
			}
			if !slices.Equal(tagged.Removed, c.removed) {
				t.Errorf("%s: removed %q, want %q", c.name, tagged.Removed, c.removed)
			}
		}
	}
}
