package contacts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// TestWorkOnManyReadsTheirRowsAlone counts the rows read for a hundred contacts of an org that the statistics do not
// know: a plan based on them would read the whole org, once per table. The statistics are as autovacuum leaves them:
// absent, sizes of tables alone (between its two steps), and of a time when the org had no contacts.
func TestWorkOnManyReadsTheirRowsAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plans are the same under the race detector")
	}
	s := open(t)
	conn := testkit.Pgx(t, s.URL)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("ALTER TABLE contact SET (autovacuum_enabled = off)")
	s.others(20, 300)
	s.others(1, 1000)
	ids := s.addPeople(8000)

	s.readRowsOfHundred(t, "without statistics", ids)
	exec("VACUUM")
	s.readRowsOfHundred(t, "with sizes alone", ids)
	exec("ANALYZE")
	s.org = id.New()
	s.newOrg(s.org)
	s.readRowsOfHundred(t, "with statistics of other orgs", s.addPeople(8000))
}

// personNumber is a contact with tags and an attribute; the same number gives the same contact.
func personNumber(i int) contacts.Upsert {
	p := person(fmt.Sprintf("p%d@example.test", i))
	p.Tag = wire.Some([]string{"a", fmt.Sprint("t", i%7)})
	p.Attributes = wire.Some(map[string]any{"size": float64(i)})
	return contacts.Upsert{Patch: *p}
}

// addPeople adds the first n contacts of personNumber.
func (s *shop) addPeople(n int) (ids []id.ID) {
	s.t.Helper()
	for from := 0; from < n; from += 1000 {
		if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
			rows := make([]contacts.Upsert, 1000)
			for i := range rows {
				rows[i] = personNumber(from + i)
			}
			out, _, _, err := contacts.Batch{Rate: rate}.Upsert(ctx, tx, rows)
			for i := range out {
				ids = append(ids, out[i].ID)
			}
			return err
		}); err != nil {
			s.t.Fatal(err)
		}
	}
	return ids
}

// readRowsOfHundred fails if work on a hundred of the contacts reads more than 2,000 rows of a table. It leaves the
// contacts as they were.
func (s *shop) readRowsOfHundred(t *testing.T, statistics string, ids []id.ID) {
	hundred := ids[4000:4100]
	for what, work := range map[string]func(context.Context, *postgres.Tx) error{
		"a batch of new and known ones": func(ctx context.Context, tx *postgres.Tx) error {
			rows := make([]contacts.Upsert, 100)
			for i := range rows {
				rows[i] = personNumber(len(ids) - 50 + i)
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
		t.Run(what+" "+statistics, func(t *testing.T) {
			if err := s.tx(func(ctx context.Context, tx *postgres.Tx) error {
				if err := work(ctx, tx); err != nil {
					return err
				}
				if err := failOfManyRead(ctx, t, tx); err != nil {
					return err
				}
				return errUndo
			}); !errors.Is(err, errUndo) {
				t.Fatal(err)
			}
		})
	}
}

var errUndo = errors.New("the test undoes its work")

func failOfManyRead(ctx context.Context, t *testing.T, tx *postgres.Tx) error {
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
}
