package contacts_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// TestWorkOnManyReadsTheirRowsAlone counts the rows read for a hundred contacts of an org that the statistics do not
// know yet: a plan based on them would read the whole org, once per table.
func TestWorkOnManyReadsTheirRowsAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plans are the same under the race detector")
	}
	s := open(t)
	s.others(20, 300)
	s.others(1, 1000) // the statistics are not updated from here on
	row := func(i int) contacts.Upsert {
		p := person(fmt.Sprintf("p%d@example.test", i))
		p.Tag = wire.Some([]string{"a", fmt.Sprint("t", i%7)})
		p.Attributes = wire.Some(map[string]any{"size": float64(i)})
		return contacts.Upsert{Patch: *p}
	}
	var ids []id.ID
	for from := 0; from < 8000; from += 1000 {
		if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			rows := make([]contacts.Upsert, 1000)
			for i := range rows {
				rows[i] = row(from + i)
			}
			out, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			for i := range out {
				ids = append(ids, out[i].ID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	hundred := ids[4000:4100]
	for what, work := range map[string]func(context.Context, *postgres.Tx) error{
		"a batch of new and known ones": func(ctx context.Context, tx *postgres.Tx) error {
			rows := make([]contacts.Upsert, 100)
			for i := range rows {
				rows[i] = row(7950 + i)
				rows[i].JobTitle = wire.Some("CTO")
			}
			_, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			return err
		},
		"a change": func(ctx context.Context, tx *postgres.Tx) error {
			_, _, err := contacts.BulkUpdate(ctx, tx, hundred, contacts.Live, func(*contacts.Contact) contacts.Patch {
				return contacts.Patch{Tag: wire.Some([]string{"b"})}
			}, rate)
			return err
		},
		"archiving and restoring": func(ctx context.Context, tx *postgres.Tx) error {
			if _, err := contacts.ArchiveAll(ctx, tx, hundred); err != nil {
				return err
			}
			_, _, err := contacts.RestoreAll(ctx, tx, hundred, nil)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
				if err := work(ctx, tx); err != nil {
					return err
				}
				rows, err := tx.Query(ctx,
					`SELECT relname::text, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
						WHERE seq_tup_read + coalesce(idx_tup_fetch, 0) > 2000`)
				if err != nil {
					return err
				}
				var (
					table string
					read  int
				)
				_, err = pgx.ForEachRow(rows, []any{&table, &read}, func() error {
					t.Errorf("%d rows of %s were read", read, table)
					return nil
				})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
