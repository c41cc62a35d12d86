package contacts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// inPiece is the condition that a row is of the piece after ($2, $3) and up to ($4, $5).
func inPiece(at, contact string) string {
	row := "(" + at + ", " + contact + ")"
	return row + " > ($2::timestamptz, $3::uuid) AND " + row + " <= ($4::timestamptz, $5::uuid)"
}

// SelectingPiece is Selecting for the contacts of one piece, in the order of creation: those after the time and id that
// are the first two of args, up to the time and id that are the next two. It reads the piece's contacts, or, if the
// filter requires one tag or one value of a custom field, the piece's rows of that, and everything else of each contact
// by its key. OFFSET and LIMIT keep the planner from other ways, which look cheap where it expects few rows: then each
// piece would read the rows of the whole org.
func SelectingPiece(org id.ID, f *Filter, args ...any) (sql string, allArgs []any) {
	q := newQuery(org, f)
	q.args = append(q.args, args...)
	q.byContact = true
	parts := f.neededConjuncts()
	side, rest := q.pieceOfSide(parts)
	if side == "" {
		q.from.WriteString("FROM contact c")
		q.where.WriteString("c.org_id = $1 AND " + inPiece("c.created_at", "c.id"))
	} else {
		parts = rest
		q.from.WriteString("FROM (" + side + " OFFSET 0) AS side\nCROSS JOIN LATERAL (SELECT * FROM contact " +
			"WHERE org_id = $1 AND id = side.contact_id LIMIT 1) AS c")
		q.where.WriteString("true")
	}
	q.and("c.archived_at " + q.live)
	if f.needsScores(Newest) {
		q.from.WriteString("\nCROSS JOIN LATERAL (SELECT * FROM contact_score " +
			"WHERE org_id = $1 AND contact_id = c.id LIMIT 1) AS s")
		q.and("s.archived = " + q.shelf)
	}
	for _, part := range parts {
		q.and(part.SQL(q.fieldColumn, q.arg))
	}

	return "SELECT c.id, c.created_at\n" + q.from.String() + "\nWHERE " + q.where.String(), q.args
}

// pieceOfSide returns a SELECT of the piece's rows of a tag or a value of a custom field that one of parts requires,
// and the other parts. sql is "" if none does.
func (q *query) pieceOfSide(parts []*filter.Filter) (sql string, rest []*filter.Filter) {
	for i, part := range parts {
		field, op, value, ok := part.Term()
		if !ok || op != filter.Eq {
			continue
		}
		rest = append(append(rest, parts[:i]...), parts[i+1:]...)
		key, custom := strings.CutPrefix(field, attributePrefix)
		switch {
		case field == "tag":
			return "SELECT t.contact_id FROM contact_tag t WHERE t.org_id = $1 AND t.archived = " + q.shelf +
				" AND t.tag = " + q.arg(value) + " AND " + inPiece("t.created_at", "t.contact_id"), rest
		case custom:
			return "SELECT a.contact_id FROM contact_attribute a WHERE a.org_id = $1 AND a.archived = " + q.shelf +
				" AND a.key = " + q.arg(key) + " AND " +
				part.SQL(func(_ string, t filter.Type) filter.Column { return attributeColumn(t) }, q.arg) + " AND " +
				inPiece("a.created_at", "a.contact_id"), rest
		}
		rest = nil
	}

	return "", nil
}

// keyedRows is a FROM clause with the rows of contact c in a side table, found by the key of the contact.
func keyedRows(table, alias, condition string) string {
	return "FROM (SELECT * FROM " + table + " WHERE org_id = $1 AND contact_id = c.id" + condition +
		" OFFSET 0) AS " + alias
}

// CreatedPlace is a place in the order in which contacts were created.
type CreatedPlace struct {
	At time.Time
	ID id.ID
}

// atFirst returns a place, the one before all contacts for nil.
func atFirst(after *CreatedPlace) CreatedPlace {
	if after == nil {
		return CreatedPlace{At: time.Unix(0, 0).AddDate(-1000, 0, 0)}
	}
	return *after
}

// afterAllAt is a place after those of all contacts created at a time.
func afterAllAt(at time.Time) CreatedPlace {
	c := CreatedPlace{At: at}
	for i := range c.ID {
		c.ID[i] = 0xff
	}
	return c
}

// NextSelected returns the next contacts that f selects, after a place, or from the first one for nil, and created
// until a time: at most limit of the next stretch contacts of the org. It also returns the place that it has come to,
// nil after the last contact. So a step of a job reads as much for a filter that selects nobody as for any other.
func NextSelected(ctx context.Context, tx *postgres.Tx, f *Filter, after *CreatedPlace, until time.Time,
	stretch, limit int,
) (found []CreatedPlace, next *CreatedPlace, err error) {
	from := atFirst(after)
	Planned(tx)
	var to CreatedPlace
	err = tx.QueryRow(ctx, `SELECT created_at, id FROM contact
		WHERE org_id = $1 AND archived_at `+newQuery(tx.Org(), f).live+`
			AND (created_at, id) > ($2, $3) AND created_at <= $4 ORDER BY created_at, id OFFSET $5 LIMIT 1`,
		[]any{tx.Org(), from.At, from.ID, until, stretch - 1}, &to.At, &to.ID)
	last := postgres.None(err)
	switch {
	case last:
		to = afterAllAt(until)
	case err != nil:
		return nil, nil, fmt.Errorf("find the next contacts: %w", err)
	}

	sql, args := SelectingPiece(tx.Org(), f, from.At, from.ID, to.At, to.ID, limit)
	rows, err := tx.Query(ctx, sql+"\nORDER BY c.created_at, c.id LIMIT $6", args...)
	if err != nil {
		return nil, nil, fmt.Errorf("select contacts: %w", err)
	}

	found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c CreatedPlace, err error) {
		return c, row.Scan(&c.ID, &c.At)
	})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("select contacts: %w", err)
	case len(found) == limit:
		return found, &found[limit-1], nil
	case last:
		return found, nil, nil
	}

	return found, &to, nil
}

// NextMembers is NextSelected for the live members of a segment, whose rows are in that order.
func NextMembers(ctx context.Context, tx *postgres.Tx, segment id.ID, after *CreatedPlace, until time.Time, limit int) (
	found []CreatedPlace, next *CreatedPlace, err error,
) {
	from := atFirst(after)
	to := afterAllAt(until)
	Planned(tx)
	rows, err := tx.Query(ctx, `SELECT created_at, contact_id FROM segment_member
		WHERE org_id = $1 AND segment_id = $2 AND NOT archived AND (created_at, contact_id) > ($3, $4)
			AND (created_at, contact_id) <= ($5, $6) ORDER BY created_at, contact_id LIMIT $7`,
		tx.Org(), segment, from.At, from.ID, to.At, to.ID, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("read members: %w", err)
	}
	if found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[CreatedPlace]); err != nil {
		return nil, nil, fmt.Errorf("read members: %w", err)
	}
	if len(found) == limit {
		next = &found[limit-1]
	}

	return found, next, nil
}
