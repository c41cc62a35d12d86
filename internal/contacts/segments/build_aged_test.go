package segments_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit/aged"
)

// filtersToBuild are filters of each kind of field and operator, alone and together.
var filtersToBuild = map[string]string{
	"a tag":           `{"field":"tag","op":"eq","value":"newsletter"}`,
	"a rare tag":      `{"field":"tag","op":"eq","value":"partner"}`,
	"without a tag":   `{"field":"tag","op":"ne","value":"newsletter"}`,
	"tags":            `{"field":"tag","op":"in","value":["vip","webinar"]}`,
	"a stage":         `{"field":"stage","op":"eq","value":"lead"}`,
	"a score":         `{"field":"lead_score","op":"gte","value":50}`,
	"a custom field":  `{"field":"attributes.plan","op":"eq","value":"pro"}`,
	"not such a one":  `{"field":"attributes.plan","op":"ne","value":"pro"}`,
	"a custom number": `{"field":"attributes.seats","op":"gte","value":2}`,
	"one that is set": `{"field":"attributes.seats","op":"exists","value":true}`,
	"a text":          `{"field":"email","op":"contains","value":"ann"}`,
	"both": `{"all":[{"field":"tag","op":"eq","value":"newsletter"},
		{"field":"lead_score","op":"gte","value":10}]}`,
	"three": `{"all":[{"field":"tag","op":"eq","value":"newsletter"},{"field":"stage","op":"eq","value":"lead"},
		{"field":"attributes.plan","op":"eq","value":"free"}]}`,
	"either": `{"any":[{"field":"tag","op":"eq","value":"vip"},{"field":"attributes.plan","op":"eq","value":"pro"}]}`,
}

// TestAPieceOfABuildReadsItsContactsAlone builds segments in a huge org and in one of which the statistics do not know
// that it has grown. Pieces double in size. A statement of a piece reads 200 buffers and 20 a contact at most, and the
// members are those that the filter selects.
func TestAPieceOfABuildReadsItsContactsAlone(t *testing.T) {
	aged.SkipShort(t)
	d := aged.Write(t, aged.Test, aged.Grew)
	r := aged.Record(t, d)
	const smallest = 100
	for _, class := range []aged.Class{aged.Grown, aged.Huge} {
		org := d.World.Org(class).ID
		tx := func(fn func(ctx context.Context, tx *postgres.Tx) error) {
			t.Helper()
			if err := d.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
				return fn(t.Context(), tx)
			}); err != nil {
				t.Fatal(err)
			}
		}
		ids := func(sql string, args ...any) (all []id.ID) {
			t.Helper()
			tx(func(ctx context.Context, tx *postgres.Tx) error {
				rows, err := tx.Query(ctx, sql+" ORDER BY 1", args...)
				if err == nil {
					all, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
				}
				return err
			})
			return all
		}
		tx(func(_ context.Context, tx *postgres.Tx) error {
			tx.Queue(`DELETE FROM segment_mark WHERE org_id = $1`, org)
			tx.Queue(`UPDATE segment SET status = 'ready' WHERE org_id = $1`, org)
			return nil
		})
		for name, filter := range filtersToBuild {
			var seg segments.Row
			tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
				raw := json.RawMessage(filter)
				seg, err = segments.Create(ctx, tx, segments.New{Name: name, Filter: raw})
				return err
			})
			pace := segments.Pace{Marks: 100, Changes: 1_000_000, Piece: smallest, For: time.Hour}
			r.Take()
			for range 3 { // the first ones wait for writers
				tx(func(ctx context.Context, tx *postgres.Tx) error { return segments.Sync(ctx, tx, pace) })
			}
			piece := smallest
			for _, p := range r.Take() {
				if !strings.Contains(p.SQL, "INSERT INTO segment_member") {
					continue
				}
				if read, most := p.Root.Buffers(), aged.Page(piece); read > most {
					t.Errorf("%s, %s: a piece of %d contacts reads %d buffers, at most %d: %s", class, name, piece,
						read, most, p.Root.Worst())
				}
				piece = min(2*piece, 64*smallest)
			}
			members := ids(`SELECT contact_id FROM segment_member
				WHERE org_id = $1 AND segment_id = $2 AND NOT archived`, org, seg.ID)
			var want []id.ID
			tx(func(ctx context.Context, tx *postgres.Tx) error {
				where, err := contacts.ParseFilter(ctx, tx, json.RawMessage(filter))
				if err != nil {
					return err
				}
				sql, args := contacts.Selecting(org, &contacts.Filter{Where: where})
				rows, err := tx.Query(ctx, "SELECT id FROM ("+sql+") AS x ORDER BY 1", args...)
				if err == nil {
					want, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
				}
				return err
			})
			if diff := cmp.Diff(want, members); diff != "" || len(members) == 0 && class == aged.Huge {
				t.Errorf("%s, %s: %d members (-want +got): %s", class, name, len(members), diff)
			}
			tx(func(_ context.Context, tx *postgres.Tx) error {
				tx.Queue(`UPDATE segment SET archived_at = now() WHERE org_id = $1 AND id = $2`, org, seg.ID)
				return nil
			})
		}
	}
}
