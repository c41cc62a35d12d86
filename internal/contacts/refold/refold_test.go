package refold_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/contacts/refold"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func rate(*contacts.Contact) (float64, events.ContactScore) {
	return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
}

func TestRowsOfAnOlderVersionAreRefolded(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	in := func(fn func(ctx context.Context, tx *postgres.Tx) error) {
		t.Helper()
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error { return fn(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	in(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, org)
		return nil
	})
	create := func(email, first, last string, tags ...string) (r contacts.Row) {
		t.Helper()
		in(func(_ context.Context, tx *postgres.Tx) (err error) {
			r, err = contacts.Create(tx, &contacts.Patch{
				Email: wire.Some(email), FirstName: wire.Some(first), LastName: wire.Some(last), Tag: wire.Some(tags),
				Attributes: wire.Some(map[string]any{"Straße": "Große Gasse"}),
			}, rate)
			return err
		})
		return r
	}
	jose := create("jose@acme.example", "José", "Öztürk", "VIP")
	older := create("info@bücher.example", "Ada", "Lovelace", "Kunde")
	newer := create("other@acme.example", "Bob", "山田太郎", "x")

	// as the version before has written them
	in(func(_ context.Context, tx *postgres.Tx) error {
		tx.Queue(`UPDATE contact SET first_name_folded = 'josé', last_name_folded = 'öztürk', words = ' josé öztürk'
			WHERE id = $1`, jose.ID)
		tx.Queue(`DELETE FROM contact_word WHERE contact_id = $1`, jose.ID)
		tx.Queue(`INSERT INTO contact_word SELECT $1, w, $2 FROM unnest('{josé,öztürk}'::text[]) w`, org, jose.ID)
		tx.Queue(`UPDATE contact SET email_folded = 'info@bücher.example' WHERE id = $1`, older.ID)
		tx.Queue(`UPDATE contact SET email = 'Info@xn--bcher-kva.example', email_folded = 'info@xn--bcher-kva.example',
			tags = '{vip,Vip}' WHERE id = $1`, newer.ID)
		tx.Queue(`DELETE FROM contact_tag WHERE contact_id = $1`, newer.ID)
		tx.Queue(`INSERT INTO contact_tag SELECT $1, w, false, $3, $2 FROM unnest('{vip,Vip}'::text[]) w`, org,
			newer.ID,
			newer.CreatedAt)
		tx.Queue(`DELETE FROM vocabulary`)
		tx.Queue(`UPDATE contact_attribute SET text = 'große gasse'`)
		tx.Queue(`UPDATE contact_field SET folded = NULL`)
		tx.Queue(`INSERT INTO company (org_id, id, name, name_folded, created_at, updated_at)
			VALUES ($1, $1, 'Société  Générale', 'société  générale', now(), now())`, org)
		tx.Queue(`INSERT INTO company_word SELECT $1, w, $1 FROM unnest('{société,générale}'::text[]) w`, org)
		return nil
	})

	retagged := 0
	r := refold.Refolder{
		System: db.System, App: db.App, Log: slog.New(slog.DiscardHandler), Piece: 1,
		Retag: func(context.Context, *postgres.Tx, id.ID) error { retagged++; return nil },
	}
	for range 2 { // the second changes nothing
		if err := r.Sweep(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	if retagged != 2 {
		t.Errorf("%d bulk changes, want 2", retagged)
	}

	found := func(f contacts.Filter) (names []string) {
		t.Helper()
		in(func(ctx context.Context, tx *postgres.Tx) error {
			if err := f.Resolve(ctx, tx); err != nil {
				return err
			}
			rows, err := contacts.List(ctx, tx, &f, contacts.Oldest, nil, 10)
			names = []string{}
			for _, r := range rows {
				names = append(names, r.FirstName)
			}
			return err
		})
		return names
	}
	for name, want := range map[string][]string{
		"jose": {"José"}, "ozturk": {"José"}, "JOSÉ": {"José"}, "太郎": {"Bob"}, "山": {"Bob"}, "lovelace": {"Ada"},
	} {
		if diff := cmp.Diff(want, found(contacts.Filter{Words: compare.Words(name)})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, tag := range []string{"vip", "VIP", "vIP"} {
		if diff := cmp.Diff([]string{"José", "Bob"}, found(contacts.Filter{Tags: []string{tag}})); diff != "" {
			t.Errorf("%s: %s", tag, diff)
		}
	}

	in(func(ctx context.Context, tx *postgres.Tx) error {
		holder, err := contacts.Holder(ctx, tx, "info@xn--bcher-kva.example")
		if holder != older.ID {
			t.Errorf("the address is of %v, want the older contact %v", holder, older.ID)
		}
		return err
	})
	var groups duplicates.Found
	if err := db.App.ReadTx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		groups, err = duplicates.Search(t.Context(), tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(groups["email"]); got != fmt.Sprint([][]id.ID{{older.ID, newer.ID}}) {
		t.Errorf("duplicates are %s", got)
	}
	in(func(ctx context.Context, tx *postgres.Tx) error { // the contact without the key can be edited
		_, err := contacts.Update(ctx, tx, newer.ID, nil, &contacts.Patch{LastName: wire.Some("Suzuki")}, rate)
		return err
	})

	var collisions, merged, stale int
	sql := testkit.Pgx(t, db.URL)
	if err := sql.QueryRow(t.Context(), `SELECT collisions, merged, (SELECT count(*) FROM contact_field WHERE
		folded IS NULL)
		+ (SELECT count(*) FROM contact_attribute WHERE text <> 'grosse gasse')
		+ (SELECT count(*) FROM company WHERE name_folded <> 'société générale')
		+ (SELECT count(*) FROM company_word WHERE word NOT IN ('societe', 'generale')) FROM refolding`).
		Scan(&collisions, &merged, &stale); err != nil {
		t.Fatal(err)
	}
	if collisions != 1 || merged != 2 || stale != 0 {
		t.Errorf("%d collisions, %d merged, %d stale forms", collisions, merged, stale)
	}
}
