package contacts_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// TestAStepThroughTheSelectedContactsOfAnAgedOrgReadsItsStretchAlone walks through what filters of each kind select, as
// sequences and broadcasts do: it meets each contact once, in order, and no step reads more than its stretch.
func TestAStepThroughTheSelectedContactsOfAnAgedOrgReadsItsStretchAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	const stretch, limit = 700, 150
	for _, class := range []aged.Class{aged.Grown, aged.Huge} {
		for _, filter := range []string{
			`{"field":"tag","op":"eq","value":"newsletter"}`,
			`{"field":"tag","op":"eq","value":"nobody has it"}`,
			`{"field":"tag","op":"ne","value":"newsletter"}`,
			`{"field":"stage","op":"eq","value":"customer"}`,
			`{"field":"lead_score","op":"gte","value":70}`,
			`{"field":"attributes.plan","op":"eq","value":"pro"}`,
			`{"field":"attributes.seats","op":"gt","value":3}`,
			`{"field":"segment","op":"eq","value":"segment-0"}`,
			`{"all":[{"field":"tag","op":"eq","value":"newsletter"},{"field":"lead_score","op":"lt","value":30},
				{"field":"attributes.plan","op":"ne","value":"pro"}]}`,
			`{"any":[{"field":"tag","op":"eq","value":"vip"},{"field":"email","op":"contains","value":"q"}]}`,
		} {
			if err := d.App.ReadTx(t.Context(), d.World.Org(class).ID, func(tx *postgres.Tx) error {
				where, err := contacts.ParseFilter(t.Context(), tx, json.RawMessage(filter))
				if err != nil {
					return err
				}
				f := &contacts.Filter{Where: where}
				sql, args := contacts.Selecting(tx.Org(), f)
				rows, err := tx.Query(t.Context(), "SELECT created_at, id FROM ("+sql+") AS x ORDER BY 1, 2", args...)
				if err != nil {
					return err
				}
				want, err := pgx.CollectRows(rows, pgx.RowToStructByPos[contacts.CreatedPlace])
				if err != nil {
					return err
				}
				var (
					got  []contacts.CreatedPlace
					next *contacts.CreatedPlace
				)
				for more := true; more; more = next != nil {
					r.Take()
					var found []contacts.CreatedPlace
					found, next, err = contacts.NextSelected(t.Context(), tx, f, next, time.Now(), stretch, limit)
					if err != nil {
						return err
					}
					got = append(got, found...)
					read, worst := aged.Buffers(r.Take())
					if most := aged.Page(stretch); read > most || len(found) > limit {
						t.Errorf("%s, %s: a step to %d contacts reads %d buffers, at most %d%s", class, filter,
							len(found), read, most, worst)
					}
				}
				if len(want)+len(got) > 0 && !cmp.Equal(want, got) {
					t.Errorf("%s, %s: %d contacts, want %d", class, filter, len(got), len(want))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
