package contacts_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// textValue returns a value that differs between texts. It is a time zone, because one of the texts accepts no other
// value; but a country is a code.
func textValue(t *testing.T, name string, n int) string {
	t.Helper()
	if name == "country" {
		return []string{"DE", "FR", "IT"}[n%3]
	}
	zones := []string{
		"Europe/Berlin", "Asia/Tokyo", "America/Lima", "Africa/Cairo", "Asia/Dubai", "Europe/Oslo", "Asia/Seoul",
		"Europe/Rome", "Europe/Paris", "Asia/Kolkata",
	}
	if n >= len(zones) {
		t.Fatalf("there are %d texts; add a time zone to the test", n+1)
	}
	return zones[n]
}

// setTexts sets every optional text of p to a value of its own. The offset chooses between two sets of values.
func setTexts(t *testing.T, p *contacts.Patch, offset int) {
	t.Helper()
	for i, text := range contacts.Texts() {
		*text.In(p) = wire.Some(textValue(t, text.Name, i+offset))
	}
}

func TestEveryWayToWriteAContactStoresEveryText(t *testing.T) {
	t.Parallel()
	other := len(contacts.Texts())
	for name, write := range map[string]func(s *shop) (id.ID, error){
		"create": func(s *shop) (id.ID, error) {
			p := person("ada@example.test")
			setTexts(t, p, other)
			row, err := s.create(p)
			return row.ID, err
		},
		"update": func(s *shop) (id.ID, error) {
			p := contacts.Patch{}
			setTexts(t, &p, other)
			i := s.must(person("ada@example.test")).ID
			_, err := s.update(i, nil, &p)
			return i, err
		},
		"batch with a new contact": func(s *shop) (id.ID, error) {
			p := person("ada@example.test")
			setTexts(t, p, other)
			out, _, _, err := s.upsert([]contacts.Upsert{{Patch: *p}})
			return out[0].ID, err
		},
		"batch with a known contact": func(s *shop) (id.ID, error) {
			p := person("ada@example.test")
			setTexts(t, p, 0)
			s.must(p)
			setTexts(t, p, other)
			out, _, _, err := s.upsert([]contacts.Upsert{{Patch: *p}})
			return out[0].ID, err
		},
		"bulk update": func(s *shop) (id.ID, error) {
			p := contacts.Patch{}
			setTexts(t, &p, other)
			i := s.must(person("ada@example.test")).ID
			return i, s.tx(func(ctx context.Context, tx *postgres.Tx) error {
				_, _, err := contacts.BulkUpdate(ctx, tx, []id.ID{i}, contacts.Live,
					func(*contacts.Contact) contacts.Patch { return p }, rate)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			i, err := write(s)
			if err != nil {
				t.Fatal(err)
			}
			row, err := s.get(i, false)
			if err != nil {
				t.Fatal(err)
			}
			for n, text := range contacts.Texts() {
				want := textValue(t, text.Name, n+other)
				if got := *text.Of(&row.Contact); got == nil || *got != want {
					t.Errorf("%s = %v, want %q", text.Name, contacts.RecordOf(&row.Contact).Value(text.Name), want)
				}
				if got := contacts.RecordOf(&row.Contact).Value(text.Name); got != want {
					t.Errorf("a filter in memory reads %v of %s, want %q", got, text.Name, want)
				}
				f := contacts.Filter{Where: s.where(`{"field":"` + text.Name + `","op":"eq","value":"` + want + `"}`)}
				if found := s.ids(f, contacts.Newest); len(found) != 1 {
					t.Errorf("a filter by %s finds %d contacts, want 1", text.Name, len(found))
				}
			}
		})
	}
}
