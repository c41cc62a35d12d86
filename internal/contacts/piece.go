package contacts

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
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
	q := start(org, f)
	q.args = append(q.args, args...)
	q.byContact = true
	parts := f.parts()
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
	if f.scored(Newest) {
		q.from.WriteString("\nCROSS JOIN LATERAL (SELECT * FROM contact_score " +
			"WHERE org_id = $1 AND contact_id = c.id LIMIT 1) AS s")
		q.and("s.archived = " + q.shelf)
	}
	for _, part := range parts {
		q.and(part.SQL(q.column, q.arg))
	}
	return "SELECT c.id, c.created_at\n" + q.from.String() + "\nWHERE " + q.where.String(), q.args
}

// pieceOfSide returns a SELECT of the piece's rows of a tag or a value of a custom field that one of parts requires, and
// the other parts. sql is "" if none does.
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

// keyed is a FROM clause with the rows of contact c in a side table, found by the key of the contact.
func keyed(table, alias, condition string) string {
	return "FROM (SELECT * FROM " + table + " WHERE org_id = $1 AND contact_id = c.id" + condition + " OFFSET 0) AS " + alias
}
