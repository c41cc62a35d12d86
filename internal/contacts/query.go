package contacts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// query builds the FROM and WHERE clauses of a list, with their arguments.
type query struct {
	from, where strings.Builder
	args        []any
	sortKey     string // sort columns
	sortID      string
	shelf       string // the archived flag of side tables: "true" or "false"
	live        string // the same for contact.archived_at: IS NULL, IS NOT NULL
	byContact   bool   // side tables are read by the key of each contact
}

// newQuery returns a query with the org and the archived side, and no other conditions.
func newQuery(org id.ID, f *Filter) *query {
	q := &query{sortKey: "c.created_at", sortID: "c.id", shelf: "false", live: "IS NULL"}
	q.arg(org)
	if f.Archived {
		q.shelf = "true"
		q.live = "IS NOT NULL"
	}
	return q
}

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

func (q *query) and(cond string) { q.where.WriteString("\n AND " + cond) }

// beginAfter adds the condition for the start position.
func (q *query) beginAfter(s Sort, after *Position) error {
	if after == nil {
		return nil
	}
	key, err := s.parseKey(after.Key)
	if err != nil {
		return err
	}
	compare := ">"
	if s.direction() != "" {
		compare = "<"
	}
	q.and("(" + q.sortKey + ", " + q.sortID + ") " + compare + " (" + q.arg(key) + ", " + q.arg(after.ID) + ")")
	return nil
}

// wordRange returns the range condition for words that start with word. In byte order each of them is below word
// followed by the highest character, which occurs in no word.
func (q *query) wordRange(word string) string {
	return " >= " + q.arg(word) + " AND w.word < " + q.arg(word+"\U0010FFFF")
}

// companiesNamed selects the companies with a word that starts with word, including archived ones.
func (q *query) companiesNamed(word string) string {
	return "SELECT w.company_id FROM company_word w WHERE w.org_id = $1 AND w.word" + q.wordRange(word)
}

// contactsMatching selects the contact_id of contacts that match the word themselves or through their company. It may
// return duplicates and archived contacts.
func (q *query) contactsMatching(word string) string {
	return "SELECT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.wordRange(word) +
		" UNION ALL SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live +
		" AND o.company_id IN (" + q.companiesNamed(word) + ")"
}

// attributeColumn returns the column of contact_attribute for values of a type.
func attributeColumn(t filter.Type) filter.Column {
	switch t {
	case filter.Number:
		return filter.Column{Value: "a.number"}
	case filter.Boolean:
		return filter.Column{Value: "a.flag"}
	case filter.Date:
		return filter.Column{Value: "a.text"}
	default:
		return filter.Column{Value: "a.text", Whole: "a.text || COALESCE(a.rest, '')"}
	}
}

// fieldRows selects the rows of a tag or segment field that belong to contact c, see driveBySideTable.
func (q *query) fieldRows(field string) string {
	switch {
	case q.byContact && field == "tag":
		return "SELECT " + keyedRows("contact_tag", "t", "") + " WHERE t.archived = " + q.shelf
	case q.byContact:
		return "SELECT " + keyedRows("segment_member", "m", "") + " WHERE m.archived = " + q.shelf
	case field == "tag":
		return "SELECT FROM contact_tag t WHERE t.org_id = $1 AND t.archived = " + q.shelf + " AND t.contact_id = c.id"
	}
	return "SELECT FROM segment_member m WHERE m.org_id = $1 AND m.archived = " + q.shelf + " AND m.contact_id = c.id"
}

// fieldColumn returns the SQL of a field over the rows c and s of a query in which $1 is the org.
func (q *query) fieldColumn(field string, t filter.Type) filter.Column {
	if key, ok := strings.CutPrefix(field, attributePrefix); ok {
		c := attributeColumn(t)
		if q.byContact {
			c.Rows = "SELECT " + keyedRows("contact_attribute", "a", " AND key = "+q.arg(key)) +
				" WHERE a.archived = " + q.shelf
			return c
		}
		c.Rows = "SELECT FROM contact_attribute a WHERE a.org_id = $1 AND a.archived = " + q.shelf +
			" AND a.contact_id = c.id AND a.key = " + q.arg(key)
		return c
	}
	switch field {
	case "tag":
		return filter.Column{Rows: q.fieldRows(field), Value: "t.tag"}
	case "segment":
		return filter.Column{
			Rows: strings.Replace(q.fieldRows(field), " WHERE m.",
				" JOIN segment g ON g.org_id = $1 AND g.id = m.segment_id AND g.archived_at IS NULL WHERE m.", 1),
			Value: "g.key",
		}
	}

	return filter.Column{Value: filterFields[field].sql}
}

// listRows returns the contacts that sql selects with the arguments of q.
func (q *query) listRows(ctx context.Context, tx *postgres.Tx, sql string) ([]Row, error) {
	tx.Queue(planning)
	rows, err := tx.Query(ctx, sql, q.args...)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	return found, nil
}
