package contacts

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
)

// The statements of a search.

// term is a word of a search, with the number of matches in the org.
type term struct {
	word      string
	contacts  int     // contacts with the word or at one of companies, counted to just above few
	companies []id.ID // companies with a word that starts with it
	many      bool    // there are more companies than listed
}

// gathered is found for a selective term with known companies. It returns each contact once: two words of one contact
// may start with the term.
func (q *query) gathered(t *term) string {
	sql := "SELECT DISTINCT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.between(t.word)
	if len(t.companies) > 0 {
		sql += " UNION SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live +
			" AND o.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql
}

// has returns the condition that contact c matches the term.
func (q *query) has(t *term) string {
	sql := "(strpos(c.words, " + q.arg(" "+t.word) + ") > 0"
	switch {
	case t.many:
		// Most who have no company are known before the companies are read.
		sql += " OR c.company_id IS NOT NULL AND c.company_id IN (" + q.called(t.word) + ")"
	case len(t.companies) > 0:
		sql += " OR c.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql + ")"
}

// only returns the set of contacts that match the selective term, and adds the other terms as conditions on c.
func (q *query) only(all []term, rare int) string {
	for i := range all {
		if i != rare {
			q.and(q.has(&all[i]))
		}
	}
	return q.gathered(&all[rare])
}

// together returns the set of contacts that match every term.
func (q *query) together(all []term) string {
	sets := make([]string, len(all))
	for i := range all {
		sets[i] = "(" + q.found(all[i].word) + ")"
	}
	if len(sets) == 1 {
		return "SELECT DISTINCT * FROM " + sets[0] + " AS one"
	}
	return strings.Join(sets, " INTERSECT ")
}

// gather sorts all contacts selected by f, without its words, that are in set, which selects contact_id. OFFSET 0 keeps
// the planner from scanning in list order in search of the matches.
func gather(org id.ID, f *Filter, s Sort, after *Position, limit int, set func(*query) string) (*query, string, error) {
	q := build(org, f.wordless(), s)
	q.from.WriteString(" JOIN (" + set(q) + ") AS found (contact_id) ON found.contact_id = c.id")
	if err := q.begin(s, after); err != nil {
		return nil, "", err
	}
	return q,
		q.late(s, "SELECT "+q.sortKey+" AS at, c.id\n"+q.from.String()+"\nWHERE "+q.where.String()+"\nOFFSET 0",
			"true", limit), nil
}

// walk scans at most stretch contacts of f in list order for those that match every term.
func walk(org id.ID, f *Filter, all []term, s Sort, after *Position, limit, stretch int) (*query, string, error) {
	q := build(org, f.wordless(), s)
	if err := q.begin(s, after); err != nil {
		return nil, "", err
	}
	has := make([]string, len(all))
	for i := range all {
		has[i] = q.has(&all[i])
	}
	d := s.direction()
	inner := "SELECT " + q.sortKey + " AS at, c.id, c.words, c.company_id\n" + q.from.String() + "\nWHERE " +
		q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(stretch)
	return q, q.late(s, inner, strings.Join(has, " AND "), limit), nil
}

// verify selects the contacts with these ids that f selects and that match every term. The terms are outside the join:
// inside it, the planner would count the companies of a term for each contact, and prefer to read the whole org.
func verify(org id.ID, f *Filter, all []term, s Sort, after *Position, limit int, ids []id.ID) (*query, string, error) {
	q := build(org, f.wordless(), s)
	q.from.WriteString(" JOIN unnest(" + q.arg(ids) + "::uuid[]) AS found (contact_id) ON found.contact_id = c.id")
	if err := q.begin(s, after); err != nil {
		return nil, "", err
	}
	has := make([]string, len(all))
	for i := range all {
		has[i] = q.has(&all[i])
	}
	inner := "SELECT " + q.sortKey + " AS at, c.id, c.words, c.company_id\n" + q.from.String() +
		"\nWHERE " + q.where.String() + "\nOFFSET 0"
	return q, q.late(s, inner, strings.Join(has, " AND "), limit), nil
}

// late reads the first contacts of inner, which selects at and id, that satisfy condition on its rows, aliased c. The
// wide rows are looked up last, only for the returned contacts.
func (q *query) late(s Sort, inner, condition string, limit int) string {
	d := s.direction()
	return "SELECT " + rowColumns + "\nFROM (SELECT c.at, c.id FROM (" + inner + ") AS c WHERE " + condition +
		" ORDER BY c.at" + d + ", c.id" + d + " LIMIT " + q.arg(limit) + ") AS page" +
		wholeRows("page.id") +
		"\nORDER BY page.at" + d + ", page.id" + d
}

// wholeRows joins contact c and its score s, by the id of a row. LIMIT keeps the planner from a join with all contacts
// of an org that it takes for a small one.
func wholeRows(id string) string { return contactRow(id) + scoreRow(id) }

func contactRow(id string) string {
	return "\nCROSS JOIN LATERAL (SELECT * FROM contact WHERE org_id = $1 AND id = " + id + " LIMIT 1) AS c"
}

func scoreRow(id string) string {
	return "\nCROSS JOIN LATERAL (SELECT * FROM contact_score WHERE org_id = $1 AND contact_id = " + id +
		" LIMIT 1) AS s"
}
