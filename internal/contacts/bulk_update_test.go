package contacts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// kept lists the tables that hold a contact's rows.
var kept = []string{"contact", "contact_score", "contact_tag", "contact_word", "contact_attribute", "segment_member"}

// dump returns every row of the tables, without the times of changes.
func dump(ctx context.Context, tx *postgres.Tx) (string, error) {
	var out strings.Builder
	for _, table := range kept {
		rows, err := tx.Query(ctx,
			`SELECT (CASE WHEN row ? 'archived_at' THEN jsonb_set(row, '{archived_at}', to_jsonb(row ->>
				'archived_at' IS NOT NULL)) ELSE row END)::text
			FROM (SELECT to_jsonb(t) - 'updated_at' - 'scored_at' AS row FROM `+table+` t) r ORDER BY 1`)
		if err != nil {
			return "", err
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\n%s\n", table, strings.Join(all, "\n"))
	}
	return out.String(), nil
}

var errUndone = errors.New("as if it had not been")

// after returns the dump after fn, and rolls back.
func (s *shop) after(fn func(ctx context.Context, tx *postgres.Tx) error) (text string) {
	s.t.Helper()
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		if err = fn(ctx, tx); err != nil {
			return err
		}
		if text, err = dump(ctx, tx); err != nil {
			return err
		}
		return errUndone
	}); !errors.Is(err, errUndone) {
		s.t.Fatal(err)
	}
	return text
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func some3(r *rand.Rand, prefix string) []string {
	out := []string{}
	for range r.IntN(4) {
		if k := fmt.Sprintf("%s%d", prefix, r.IntN(6)); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// anyPatch sets some random fields, but never an address.
func anyPatch(r *rand.Rand) contacts.Patch {
	var p contacts.Patch
	maybe := func(f *wire.Field[string], values ...string) {
		switch v := pick(r, values...); {
		case r.IntN(3) > 0:
		case v == "":
			*f = wire.Field[string]{Set: true, Null: true}
		default:
			*f = some(v)
		}
	}
	maybe(&p.FirstName, "Ada", "Grace", "Émile")
	maybe(&p.LastName, "Lovelace", "Hopper", "O'Neil-Öz")
	maybe(&p.Phone, "", "+44 1", "030")
	maybe(&p.JobTitle, "", "Boss \"x\"", "CTO")
	maybe(&p.Source, "", "web", "fair")
	maybe(&p.TimeZone, "", "Europe/Berlin")
	maybe(&p.CompanyID, "", "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002")
	maybe(&p.OwnerID, "", "00000000-0000-0000-0000-000000000003")
	maybe(&p.Stage, "lead", "sql", "customer")
	if r.IntN(2) == 0 {
		p.Tag = wire.Some(some3(r, "t"))
	}
	if r.IntN(2) == 0 {
		p.Segment = wire.Some(some3(r, "s"))
	}
	if r.IntN(2) == 0 {
		p.Attributes = wire.Some(map[string]any{
			"size": pick[any](r, nil, 1.5, 7.0),
			"plan": pick[any](r, nil, "<pro>", "x"), "ok": pick[any](r, nil, true),
		})
	}
	return p
}

func (s *shop) people(r *rand.Rand, n int) []id.ID {
	s.t.Helper()
	all := person("all@acme.example")
	all.Segment = wire.Some([]string{"s0", "s1", "s2", "s3", "s4", "s5"}) // so that the segments keep their ids
	s.must(all)
	ids := make([]id.ID, n)
	for i := range ids {
		p := anyPatch(r)
		p.Email, p.FirstName, p.LastName = some(fmt.Sprintf("P%d@acme.example", i)), some("First"), some("Last")
		p.Stage = wire.Field[string]{}
		ids[i] = s.must(&p).ID
	}
	return ids
}

func TestManyAreChangedToTheSameRowsAsEachByItself(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := rand.New(rand.NewPCG(1, 2))
	ids := s.people(r, 12)
	for range 15 {
		patches := map[id.ID]contacts.Patch{}
		for _, i := range ids {
			patches[i] = anyPatch(r)
		}
		single := s.after(func(ctx context.Context, tx *postgres.Tx) error {
			for _, i := range ids {
				p := patches[i]
				if _, err := contacts.Update(ctx, tx, i, nil, &p, rate); err != nil {
					return err
				}
			}
			return nil
		})
		var changed []contacts.Change
		together := s.after(func(ctx context.Context, tx *postgres.Tx) error {
			var refused []contacts.Refused
			var err error
			changed, refused, err = contacts.BulkUpdate(ctx, tx, ids, contacts.Live,
				func(c *contacts.Contact) contacts.Patch { return patches[c.ID] }, rate)
			if len(refused) > 0 {
				t.Errorf("refused: %v", refused[0].Fault)
			}
			return err
		})
		if single != together {
			t.Fatal(cmp.Diff(single, together))
		}
		for i := range changed {
			if changed[i].Edit != 2 {
				t.Errorf("%s: edit %d, want 2", changed[i].ID, changed[i].Edit)
			}
			if len(changed[i].Previous) == 0 {
				t.Errorf("%s: no previous values", changed[i].ID)
			}
			if before := changed[i].Before().ID; before != changed[i].ID {
				t.Errorf("%s: before the change its id is %s", changed[i].ID, before)
			}
		}
		away := s.after(func(ctx context.Context, tx *postgres.Tx) error {
			for _, i := range ids[:6] {
				if _, err := contacts.Archive(ctx, tx, i, nil); err != nil {
					return err
				}
			}
			for _, i := range ids[:3] {
				if _, err := contacts.Restore(ctx, tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if allAway := s.after(func(ctx context.Context, tx *postgres.Tx) error {
			gone, err := contacts.ArchiveAll(ctx, tx, ids[:6])
			if err != nil || len(gone) != 6 {
				return fmt.Errorf("%d archived, %w", len(gone), err)
			}
			if gone, err = contacts.ArchiveAll(ctx, tx, ids[:6]); err != nil || len(gone) != 0 {
				return fmt.Errorf("%d archived again, %w", len(gone), err)
			}
			back, refused, err := contacts.RestoreAll(ctx, tx, ids[:3], nil)
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			if len(back) != 3 || len(refused) != 0 {
				return fmt.Errorf("%d restored, refused %v; want 3 and none", len(back), refused)
			}
			return nil
		}); away != allAway {
			t.Fatal(cmp.Diff(away, allAway))
		}
	}
}

func TestWhatDoesNotFitOneContactIsRefusedForThatOneAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	full := person("full@acme.example")
	for i := range 50 {
		full.Tag.Value = append(full.Tag.Value, fmt.Sprintf("x%d", i))
	}
	full.Tag.Set = true
	ids := []id.ID{s.must(full).ID, s.must(person("a@acme.example")).ID}
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		changed, refused, err := contacts.BulkUpdate(ctx, tx, ids, contacts.Live,
			func(c *contacts.Contact) contacts.Patch {
				return contacts.Patch{Tag: wire.Some(append(slices.Clone(c.Tag), "one more"))}
			}, rate)
		if len(changed) != 1 || changed[0].ID != ids[1] {
			t.Errorf("changed %+v, want %s alone", changed, ids[1])
		}
		if len(refused) != 1 || refused[0].ID != ids[0] {
			t.Fatalf("refused %+v, want %s alone", refused, ids[0])
		}
		if code := refused[0].Fault.Fields[0].Code; code != "too_many" {
			t.Errorf("refused as %s, want too_many", code)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if s.count("contact_tag") != 51 {
		t.Errorf("%d tags", s.count("contact_tag"))
	}
}

func TestOfThoseThatShareAnAddressOneIsRestored(t *testing.T) {
	t.Parallel()
	s := open(t)
	var ids []id.ID
	for range 3 {
		row := s.must(person("Ada@acme.example"))
		ids = append(ids, row.ID)
		if _, err := s.archive(row.ID); err != nil {
			t.Fatal(err)
		}
	}
	alone := s.must(person("b@acme.example"))
	if _, err := s.archive(alone.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
		restored, refused, err := contacts.RestoreAll(ctx, tx, append(ids, alone.ID),
			&contacts.Room{Left: 1, Full: contacts.Exists(id.ID{})})
		if len(restored) != 1 || restored[0].ID != ids[0] {
			t.Errorf("restored %+v, want %s alone", restored, ids[0])
		}
		if len(refused) != 3 {
			t.Fatalf("%d refused, want 3: %+v", len(refused), refused)
		}
		if got, want := refused[0].Fault.ExistingID, ids[0].String(); got != want {
			t.Errorf("the first is refused because of %s, want %s", got, want)
		}
		if refused[2].ID != alone.ID {
			t.Errorf("the last refused is %s, want %s", refused[2].ID, alone.ID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
