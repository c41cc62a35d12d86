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

// selectTerm is found for a selective term with known companies. It returns each contact once: two words of one contact
// may start with the term. The contacts of each company are looked up: for a list of companies, the planner would read
// all contacts of an org that it takes for a small one.
func (q *query) selectTerm(t *term) string {
	sql := "SELECT DISTINCT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.wordRange(t.word)
	if len(t.companies) > 0 {
		sql += " UNION SELECT o.id FROM unnest(" + q.arg(t.companies) + "::uuid[]) AS y (id) CROSS JOIN LATERAL (" +
			"SELECT id FROM contact WHERE org_id = $1 AND archived_at " + q.live +
			" AND company_id = y.id OFFSET 0) AS o"
	}
	return sql
}

// matchesTerm returns the condition that contact c matches the term.
func (q *query) matchesTerm(t *term) string {
	sql := "(strpos(c.words, " + q.arg(" "+t.word) + ") > 0"
	switch {
	case t.many:
		// Most who have no company are known before the companies are read.
		sql += " OR c.company_id IS NOT NULL AND c.company_id IN (" + q.companiesNamed(t.word) + ")"
	case len(t.companies) > 0:
		sql += " OR c.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql + ")"
}

// onlyTerm returns the set of contacts that match the selective term, and adds the other terms as conditions on c.
func (q *query) onlyTerm(all []term, rare int) string {
	for i := range all {
		if i != rare {
			q.and(q.matchesTerm(&all[i]))
		}
	}
	return q.selectTerm(&all[rare])
}

// selectEveryTerm returns the set of contacts that match every term.
func (q *query) selectEveryTerm(all []term) string {
	sets := make([]string, len(all))
	for i := range all {
		sets[i] = "(" + q.contactsMatching(all[i].word) + ")"
	}
	if len(sets) == 1 {
		return "SELECT DISTINCT * FROM " + sets[0] + " AS one"
	}
	return strings.Join(sets, " INTERSECT ")
}

// gatherQuery sorts the contacts in set, which selects their ids, that f selects without its words. Each is looked up
// by its key: as a join, the planner would read the rows of an org that it takes for a small one for each of them.
func gatherQuery(org id.ID, f *Filter, s Sort, after *Position, limit int, set func(*query) string) (*query, string,
	error,
) {
	q := newQuery(org, f)
	q.where.WriteString("c.archived_at " + q.live)
	ids := set(q)
	rows, err := q.lookUp(f.withoutWords(), s, after)
	if err != nil {
		return nil, "", err
	}
	return q, q.rowsOf(s, "SELECT "+q.sortKey+" AS at, k.id\nFROM ("+ids+") AS k (id)"+rows+"\nWHERE "+
		q.where.String()+q.orderLimit(s, limit)), nil
}

// lookUp returns the joins with the rows of the contacts k.id that the conditions of f and the order need, and adds
// these conditions and the position.
func (q *query) lookUp(f *Filter, s Sort, after *Position) (joins string, err error) {
	all := f.allConditions()
	_, score := rowsNeeded(all)
	for _, part := range all {
		q.and(part.SQL(q.columnOf("k.id"), q.arg))
	}
	q.sortKey = filterFields[sortFields[s]].sql
	q.sortID = "k.id"
	return joinRows("k.id", true, score || s == Highest || s == Lowest), q.beginAfter(s, after)
}

// walkQuery scans at most stretch contacts of f in list order for those that match every term.
func walkQuery(org id.ID, f *Filter, all []term, s Sort, after *Position, limit, stretch int) (*query, string, error) {
	if p := newPage(org, f.withoutWords(), s, after, limit); len(p.rest) == 0 && (s == Highest || s == Lowest) {
		return p.walkPage(all, stretch)
	}
	q := buildQuery(org, f.withoutWords(), s)
	if err := q.beginAfter(s, after); err != nil {
		return nil, "", err
	}
	d := s.direction()
	inner := "SELECT " + q.sortKey + " AS at, c.id, c.words, c.company_id\n" + q.from.String() + "\nWHERE " +
		q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(stretch)
	return q, q.lateRows(s, inner, q.hasEveryTerm(all), limit), nil
}

// walkPage is walk in an order that another table has than that with the words.
func (p *page) walkPage(all []term, stretch int) (*query, string, error) {
	q := newQuery(p.org, p.f)
	keys, err := p.sourceKeys(q, nil, stretch)
	if err != nil {
		return nil, "", err
	}
	return q, q.lateRows(p.sort, "SELECT k.at, k.id, c.words, c.company_id FROM ("+keys+") AS k"+contactRow("k.id"),
		q.hasEveryTerm(all), p.limit), nil
}

// hasEveryTerm returns the condition that contact c matches every term.
func (q *query) hasEveryTerm(all []term) string {
	has := make([]string, len(all))
	for i := range all {
		has[i] = q.matchesTerm(&all[i])
	}
	return strings.Join(has, " AND ")
}

// verifyQuery selects the contacts with these ids that f selects and that match every term. The terms are outside the
// join: inside it, the planner would count the companies of a term for each contact, and prefer to read the whole org.
func verifyQuery(org id.ID, f *Filter, all []term, s Sort, after *Position, limit int, ids []id.ID) (*query, string,
	error,
) {
	q := newQuery(org, f)
	q.where.WriteString("c.archived_at " + q.live)
	found := "unnest(" + q.arg(ids) + "::uuid[])"
	rows, err := q.lookUp(f.withoutWords(), s, after)
	if err != nil {
		return nil, "", err
	}
	inner := "SELECT " + q.sortKey + " AS at, k.id, c.words, c.company_id\nFROM " + found + " AS k (id)" + rows +
		"\nWHERE " + q.where.String() + "\nOFFSET 0"
	return q, q.lateRows(s, inner, q.hasEveryTerm(all), limit), nil
}

// lateRows reads the first contacts of inner, which selects at and id, that satisfy condition on its rows, aliased c.
// The wide rows are looked up last, only for the returned contacts.
func (q *query) lateRows(s Sort, inner, condition string, limit int) string {
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
