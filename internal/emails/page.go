package emails

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// gathered is the number of emails up to which a list by the time of sending reads them all before it sorts them.
const gathered = 200

// sentLate is more than by which an email's id can be later than the time when it was sent: ids have a process's clock.
const sentLate = time.Hour

// List returns at most limit emails, newest first, below an id, or from the newest if below is zero.
//
// The order is not that of sending, since an email may be scheduled. A list by the time of sending reads the ids of a
// short range by their index, and a long one, of which the newest emails have many, in the order of the list.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, below id.ID, limit int) ([]Row, error) {
	where, args := f.whereNotTimes(tx.Org())
	and := func(condition string, v any) {
		args = append(args, v)
		where += fmt.Sprintf(" AND "+condition, len(args))
	}
	few := false
	if f.hasTimeRange() {
		ids, err := f.inRange(ctx, tx)
		if err != nil {
			return nil, err
		}
		if few = len(ids) <= gathered; few {
			and("id = ANY ($%d::uuid[])", newestBelow(ids, below, limit, f.onlyTimes()))
		}
	}
	if !few {
		if !f.SentBefore.IsZero() {
			if top := id.Floor(f.SentBefore.Add(sentLate)); below.IsZero() || id.Compare(top, below) < 0 {
				below = top
			}
		}
		var times string
		if times, args = f.whereTimes(args); times != "" {
			where += " AND (true" + times + ") IS TRUE" // no index serves it: the walk is in the list's order
		}
	}
	if !below.IsZero() {
		and("id < $%d", below)
	}
	rows, err := tx.Query(ctx, fmt.Sprintf(`SELECT `+columns+` FROM email WHERE %s ORDER BY id DESC LIMIT %d`, where,
		limit), args...)
	if err != nil {
		return nil, fmt.Errorf("list emails: %w", err)
	}

	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("list emails: %w", err)
	}

	return found, nil
}

// hasTimeRange reports whether f bounds the time of sending of more than the emails of one contact or enrolment, which
// are few.
func (f *Filter) hasTimeRange() bool {
	return f.Contact == nil && f.Enrolment == nil && (!f.SentAfter.IsZero() || !f.SentBefore.IsZero())
}

// onlyTimes reports whether f has no other condition than the time of sending.
func (f *Filter) onlyTimes() bool {
	return len(f.Status) == 0 && f.Contact == nil && f.Enrolment == nil && f.Mailbox == nil && f.Broadcast == nil
}

// inRange returns the ids of the emails that were sent in f's range, newest first, or gathered+1 of them.
func (f *Filter) inRange(ctx context.Context, tx *postgres.Tx) ([]id.ID, error) {
	times, args := f.whereTimes([]any{tx.Org(), gathered + 1})
	rows, err := tx.Query(ctx, `SELECT id FROM (SELECT id FROM email WHERE org_id = $1 AND sent_at IS NOT NULL`+times+`
		ORDER BY sent_at DESC LIMIT $2) AS sent ORDER BY id DESC`, args...)
	if err != nil {
		return nil, fmt.Errorf("list emails: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("list emails: %w", err)
	}
	return ids, nil
}

// newestBelow returns those of ids that a page needs: all below an id, and limit of them if no other condition leaves
// any out. ids are in descending order.
func newestBelow(ids []id.ID, below id.ID, limit int, all bool) []id.ID {
	for !below.IsZero() && len(ids) > 0 && id.Compare(ids[0], below) >= 0 {
		ids = ids[1:]
	}
	if all {
		ids = ids[:min(len(ids), limit)]
	}
	return ids
}
