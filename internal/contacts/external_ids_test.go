package contacts_test

import (
	"context"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestAListByExternalIDReadsTheContactByItsID(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.others(3, 500)
	s.fill(s.org, 12_000)
	conn := testkit.Pgx(t, s.URL)
	if _, err := conn.Exec(t.Context(), `UPDATE contact SET external_ids = jsonb_build_object('hubspot', email, 'old',
		md5(email))`); err != nil {
		t.Fatal(err)
	}
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			if _, err := conn.Exec(t.Context(), `ANALYZE external_id`); err != nil {
				t.Fatal(err)
			}
		}
		for name, f := range map[string]contacts.Filter{
			"alone": {}, "archived": {Archived: true}, "with a tag": {Tags: []string{"t3"}},
			"with a segment": {Segments: []string{"seg7"}}, "with a stage": {Stages: []string{"lead"}},
		} {
			f.ExternalID = &externalid.Key{System: "hubspot", Value: "p8@acme8.example"}
			for _, order := range []contacts.Sort{
				contacts.Newest, contacts.Oldest, contacts.Highest, contacts.LastName, contacts.Email,
			} {
				sql, args, err := contacts.Statement(s.org, &f, order, nil, 51)
				if err != nil {
					t.Fatal(err)
				}
				if bad := s.troubles(sql, args, true); len(bad) > 0 {
					t.Errorf("%s by %s (analyzed: %v): %s", name, order, analyzed, strings.Join(bad, ", "))
				}
			}
		}
	}

	f := contacts.Filter{ExternalID: &externalid.Key{System: "hubspot", Value: "p8@acme8.example"}}
	if found := s.list(f, contacts.LastName); len(found) != 1 || found[0].Email != "p8@acme8.example" {
		t.Errorf("found %d contacts", len(found))
	}
	s.view(func(ctx context.Context, tx *postgres.Tx) error {
		n, err := contacts.Estimate(ctx, tx, &f)
		if n != 1 {
			t.Errorf("an estimate of %d", n)
		}
		return err
	})
}
