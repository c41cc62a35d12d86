package scheduler

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Line is an entry of the printed timetable.
type Line struct {
	Entry, Plan, Missed string
	// Last is the latest tick that has happened, and Made the time when its job was added. Both are zero if there is
	// none.
	Last, Made time.Time
	Next       time.Time
}

// List returns the timetable (Timetable() if entries is nil) with the latest ticks from db, a pool of the System role.
// If db is nil, the ticks are left out. List is safe to call while schedulers run.
func List(ctx context.Context, db *postgres.DB, entries []Entry, now time.Time) ([]Line, error) {
	if entries == nil {
		entries = Timetable()
	}
	lines := make([]Line, len(entries))
	at := map[string]*Line{}
	names := make([]string, len(entries))

	for i, e := range entries {
		lines[i] = Line{
			Entry: e.Name, Plan: e.describePlan(), Missed: e.Missed.String(), Next: e.tickAt(now).Add(e.Every),
		}
		at[e.Name] = &lines[i]
		names[i] = e.Name
	}

	if db == nil {
		return lines, nil
	}

	err := db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT last.entry, last.tick, last.made_at FROM unnest($1::text[]) AS asked (entry),
			LATERAL (SELECT entry, tick, made_at FROM tick WHERE tick.entry = asked.entry ORDER BY tick DESC
			LIMIT 1) AS last`, names)
		if err != nil {
			return err
		}
		var name string
		var last, made time.Time
		_, err = pgx.ForEachRow(rows, []any{&name, &last, &made}, func() error {
			at[name].Last, at[name].Made = last.UTC(), made.UTC()
			return nil
		})
		return err
	})
	return lines, err
}

// Print writes lines as a table with times in UTC to the second. It prints "never" if no tick has happened, and leaves
// the columns of ticks out unless happened is true.
func Print(to io.Writer, lines []Line, happened bool) error {
	const stamp = "2006-01-02 15:04:05Z"
	t := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	head := "ENTRY\tPLAN\tMISSED\tNEXT"
	if happened {
		head += "\tLAST TICK\tMADE AT"
	}
	_, _ = fmt.Fprintln(t, head)
	for _, l := range lines {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s", l.Entry, l.Plan, l.Missed, l.Next.Format(stamp))
		switch {
		case happened && l.Last.IsZero():
			_, _ = fmt.Fprint(t, "\tnever\t-")
		case happened:
			_, _ = fmt.Fprintf(t, "\t%s\t%s", l.Last.Format(stamp), l.Made.Format(stamp))
		}
		_, _ = fmt.Fprintln(t)
	}

	return t.Flush()
}
