package contacts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// limit sets a contact limit for the org, counted from now on.
func (s *shop) limit(conn *pgx.Conn, most int) {
	s.t.Helper()
	if _, err := conn.Exec(s.t.Context(), `INSERT INTO quota (org_id, feature, cap, used) VALUES ($1, 'contacts', $2, 0)
		ON CONFLICT (org_id, feature) DO UPDATE SET cap = $2, overage = false, used = 0, told = 0`, s.org,
		most); err != nil {
		s.t.Fatal(err)
	}
}

// TestWhatIsUsedIsWhatIsThere creates, archives and restores contacts one by one and in bulk, in transactions that roll
// back parts, count in the middle, or fail. After each it compares the counter with the rows.
func TestWhatIsUsedIsWhatIsThere(t *testing.T) {
	t.Parallel()
	s := open(t)
	conn := testkit.Pgx(t, s.URL)
	s.limit(conn, 1_000_000)
	r := rand.New(rand.NewPCG(3, 5))
	n := 0
	address := func() string {
		n++
		return fmt.Sprintf("p%d@example.test", n)
	}
	pick := func(ctx context.Context, tx *postgres.Tx, archived bool) (ids []id.ID, err error) {
		rows, err := tx.Query(ctx,
			`SELECT id FROM contact WHERE org_id = $1 AND (archived_at IS NOT NULL) = $2
				ORDER BY md5(id::text || $3::int) LIMIT $4`, tx.Org(), archived, r.IntN(1000), r.IntN(12))
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[id.ID])
	}
	undone := errors.New("undone")
	act := func(ctx context.Context, tx *postgres.Tx) error {
		switch r.IntN(6) {
		case 0:
			_, err := contacts.Create(tx, person(address()), rate)
			return err
		case 1:
			rows := make([]contacts.Upsert, 1+r.IntN(12))
			for i := range rows {
				rows[i].Patch = *person(address())
			}
			_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			return err
		case 2:
			tx.Queue(`SET CONSTRAINTS ALL ` + []string{"IMMEDIATE", "DEFERRED"}[r.IntN(2)])
			return nil
		}
		archived := r.IntN(2) == 0
		ids, err := pick(ctx, tx, archived)
		switch {
		case err != nil:
			return err
		case archived:
			_, _, err = contacts.RestoreAll(ctx, tx, ids, nil)
		case len(ids) == 1:
			_, err = contacts.Archive(ctx, tx, ids[0], nil)
		default:
			_, err = contacts.ArchiveAll(ctx, tx, ids)
		}
		return err
	}
	for turn := range 300 {
		err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			for range 1 + r.IntN(6) {
				if r.IntN(3) > 0 {
					if err := act(ctx, tx); err != nil {
						return err
					}
					continue
				}
				back := r.IntN(2) == 0
				if err := tx.Savepoint(ctx, func() error {
					for range 1 + r.IntN(3) {
						if err := act(ctx, tx); err != nil {
							return err
						}
					}
					if back {
						return errors.Join(tx.Flush(ctx), undone)
					}
					return nil
				}); err != nil && !errors.Is(err, undone) {
					return err
				}
			}
			if r.IntN(10) == 0 {
				return undone
			}
			return nil
		})
		if err != nil && !errors.Is(err, undone) {
			t.Fatal(err)
		}
		var used, there int
		if err := conn.QueryRow(t.Context(),
			`SELECT (SELECT used FROM quota WHERE org_id = $1 AND feature = 'contacts'), (SELECT count(*)
				FROM contact WHERE org_id = $1 AND archived_at IS NULL)`, s.org).Scan(&used, &there); err != nil {
			t.Fatal(err)
		}
		if used != there {
			t.Fatalf("after transaction %d %d are counted and %d are there", turn, used, there)
		}
	}
}

// TestABatchThatDoesNotFitIsRefusedWhole also checks that a batch that passes both thresholds at once announces both.
func TestABatchThatDoesNotFitIsRefusedWhole(t *testing.T) {
	t.Parallel()
	s := open(t)
	conn := testkit.Pgx(t, s.URL)
	s.limit(conn, 10)
	add := func(from, to int) error {
		return s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			rows := make([]contacts.Upsert, to-from)
			for i := range rows {
				rows[i].Patch = *person(fmt.Sprintf("p%d@example.test", from+i))
			}
			_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			return err
		})
	}
	if err := add(0, 11); err == nil || !strings.Contains(err.Error(), "plan_limit_reached") {
		t.Fatalf("eleven into room for ten: %v", err)
	}
	if err := add(0, 10); err != nil {
		t.Fatal(err)
	}
	var told string
	if err := conn.QueryRow(t.Context(),
		`SELECT string_agg(args ->> 'percent', ' ' ORDER BY (args ->> 'percent')::int) FROM job WHERE org_id = $1
			AND kind = 'quota.announce'`, s.org).Scan(&told); err != nil || told != "80 100" {
		t.Fatalf("told of %q: %v", told, err)
	}
	if err := add(10, 11); err == nil {
		t.Fatal("one more was let in")
	}
}
