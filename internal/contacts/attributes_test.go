package contacts_test

import (
	"context"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// attributeRows returns the rows of contact_attribute in key order.
func (s *shop) attributeRows() string {
	s.t.Helper()
	var all []string
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT COALESCE(array_agg(format('%s=%s%s%s%s', key, CASE
				WHEN length(text) > 20 THEN octet_length(text) || '+' || octet_length(rest) ELSE text END,
			number, flag, CASE WHEN archived THEN ' archived' END) ORDER BY key), '{}') FROM contact_attribute
			WHERE org_id = $1`, []any{s.org}, &all)
	})
	return strings.Join(all, ", ")
}

func TestTheRowsOfCustomFieldsFollowTheContact(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.must(person("plain@acme.example"))
	made := s.must(with(func(p *contacts.Patch) {
		p.Attributes = wire.Some(map[string]any{
			"plan": "PRO Ä", "size": 5.0, "vip": true, "since": "2026-02-28",
			"bio": strings.Repeat("Ä", 900),
		})
	}))
	is := func(want string) {
		t.Helper()
		if got := s.attributeRows(); got != want {
			t.Errorf("rows %s\nwant %s", got, want)
		}
	}
	is("bio=1700+100, plan=pro ä, since=2026-02-28, size=5, vip=t")
	if _, err := s.update(made.ID, nil,
		&contacts.Patch{Attributes: wire.Some(map[string]any{
			"plan": "free", "size": nil, "vip": false,
			"bio": "short", "new": -0.5,
		})}); err != nil {
		t.Fatal(err)
	}
	is("bio=short, new=-0.5, plan=free, since=2026-02-28, vip=f")
	if _, _, _, err := s.upsert([]contacts.Upsert{{
		ID:    some(made.ID.String()),
		Patch: contacts.Patch{Attributes: wire.Some(map[string]any{"bio": nil, "new": nil})},
	}}); err != nil {
		t.Fatal(err)
	}
	is("plan=free, since=2026-02-28, vip=f")
	if _, err := s.archive(made.ID); err != nil {
		t.Fatal(err)
	}
	is("plan=free archived, since=2026-02-28 archived, vip=f archived")
	undefine := func(key string) {
		t.Helper()
		if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			return contacts.Undefine(ctx, tx, key, nil)
		}); err != nil {
			t.Fatal(err)
		}
	}
	undefine("plan")
	is("since=2026-02-28 archived, vip=f archived")
	if _, err := s.restore(made.ID); err != nil {
		t.Fatal(err)
	}
	undefine("vip")
	is("since=2026-02-28")
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		return contacts.Purge(ctx, tx, made.ID)
	}); err != nil {
		t.Fatal(err)
	}
	is("")
}
