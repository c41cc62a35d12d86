package contacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// A search has two ways to a page. Of a word that few contacts have, all of them are gathered and sorted; of one that
// many have, the list is walked in its order until the page is full. Which it is, is asked first: the planner's
// statistics know neither one org's words nor how rare two of them are together.

// effort says where one way ends and the other begins.
type effort struct {
	few       int // contacts that are gathered rather than walked to
	companies int // companies whose contacts are counted among them
	stretch   int // contacts that a walk looks at before it is given up
}

// usual is what a look at one contact costs in either way, a few microseconds, made into tens of milliseconds.
func usual() effort { return effort{few: 5000, companies: 200, stretch: 10_000} }

// term is one word of a search and what the org has of it.
type term struct {
	word      string
	contacts  int     // that have it themselves or work for one of companies; counted to just above the bound
	companies []id.ID // that it begins a word of
	many      bool    // there are more such companies
}

// between are the bounds of the words that begin with word. In byte order each of them lies below word followed by the
// highest character, which is in no word.
func (q *query) between(word string) string {
	return " >= " + q.arg(word) + " AND w.word < " + q.arg(word+"\U0010FFFF")
}

// called selects the companies of which a word begins with word, archived ones too.
func (q *query) called(word string) string {
	return "SELECT w.company_id FROM company_word w WHERE w.org_id = $1 AND w.word" + q.between(word)
}

// found selects contact_id of those who have the word or whose company has it; some twice, some archived.
func (q *query) found(word string) string {
	return "SELECT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.between(word) +
		" UNION ALL SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live + " AND o.company_id IN (" + q.called(word) + ")"
}

// gathered is found for a rare term, whose companies are known, and has each contact once: of two words of one contact
// each may begin with it.
func (q *query) gathered(t *term) string {
	sql := "SELECT DISTINCT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.between(t.word)
	if len(t.companies) > 0 {
		sql += " UNION SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live + " AND o.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql
}

// has is what a look at contact c says of the term.
func (q *query) has(t *term) string {
	sql := "(strpos(c.words, " + q.arg(" "+t.word) + ") > 0"
	switch {
	case t.many:
		sql += " OR c.company_id IN (" + q.called(t.word) + ")"
	case len(t.companies) > 0:
		sql += " OR c.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql + ")"
}

// terms asks what the org has of each word, contacts counted to just above few. All of it is one statement.
func terms(ctx context.Context, tx *postgres.Tx, f *Filter, e effort) ([]term, error) {
	q := &query{live: "IS NULL"}
	if f.Archived {
		q.live = "IS NOT NULL"
	}
	q.arg(tx.Org())
	asked := make([]string, len(f.Words))
	for i, word := range f.Words {
		asked[i] = fmt.Sprintf(`SELECT %d, companies, (SELECT count(*) FROM (SELECT FROM contact_word w WHERE w.org_id = $1 AND w.word%s LIMIT %d) AS own)
			+ (SELECT count(*) FROM (SELECT FROM contact o WHERE o.org_id = $1 AND o.archived_at %s AND o.company_id = ANY (companies) LIMIT %d) AS theirs)
			FROM (SELECT ARRAY(%s LIMIT %d) AS companies OFFSET 0) AS called`, i, q.between(word), e.few+1, q.live, e.few+1, q.called(word), e.companies+1)
	}
	tx.Queue(planning)
	rows, err := tx.Query(ctx, strings.Join(asked, "\nUNION ALL "), q.args...)
	if err != nil {
		return nil, fmt.Errorf("ask for words: %w", err)
	}
	out := make([]term, len(f.Words))
	var (
		i int
		t term
	)
	_, err = pgx.ForEachRow(rows, []any{&i, &t.companies, &t.contacts}, func() error {
		t.word, t.many = f.Words[i], len(t.companies) > e.companies
		out[i] = t
		t = term{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask for words: %w", err)
	}
	return out, nil
}

// search is List where there are words to look for.
func search(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int, e effort) ([]Row, error) {
	all, err := terms(ctx, tx, f, e)
	if err != nil {
		return nil, err
	}
	list := func(q *query, sql string, err error) ([]Row, error) {
		if err != nil {
			return nil, err
		}
		return q.list(ctx, tx, sql)
	}
	if r := rarest(all, e.few); r >= 0 {
		return list(gather(tx.Org(), f, s, after, limit, func(q *query) string { return q.only(all, r) }))
	}
	found, err := list(walk(tx.Org(), f, all, s, after, limit, e.stretch))
	if err != nil || len(found) == limit {
		return found, err
	}
	return list(gather(tx.Org(), f, s, after, limit, func(q *query) string { return q.together(all) }))
}

// rarest is the place of the term that the fewest contacts have, -1 where more than the bound have each.
func rarest(all []term, bound int) int {
	at := -1
	for i := range all {
		if t := &all[i]; t.contacts <= bound && !t.many && (at < 0 || t.contacts < all[at].contacts) {
			at = i
		}
	}
	return at
}

// only is the set of those who have the rare term, and leaves the others to a look at each.
func (q *query) only(all []term, rare int) string {
	for i := range all {
		if i != rare {
			q.and(q.has(&all[i]))
		}
	}
	return q.gathered(&all[rare])
}

// together is the set of those who have every term.
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

// gather sorts all contacts of f, its words aside, that are in the set, which selects contact_id. OFFSET 0 keeps the
// planner from walking the order in the hope of meeting them.
func gather(org id.ID, f *Filter, s Sort, after *Position, limit int, set func(*query) string) (*query, string, error) {
	q := build(org, f.wordless(), s, false)
	q.from.WriteString(" JOIN (" + set(q) + ") AS found (contact_id) ON found.contact_id = c.id")
	if err := q.begin(s, after); err != nil {
		return nil, "", err
	}
	return q, q.late(s, "SELECT "+q.sortKey+" AS at, c.id\n"+q.from.String()+"\nWHERE "+q.where.String()+"\nOFFSET 0", "true", limit), nil
}

// walk looks at the next contacts of f in order for those that have every term, as far as the stretch goes.
func walk(org id.ID, f *Filter, all []term, s Sort, after *Position, limit, stretch int) (*query, string, error) {
	q := build(org, f.wordless(), s, false)
	if err := q.begin(s, after); err != nil {
		return nil, "", err
	}
	has := make([]string, len(all))
	for i := range all {
		has[i] = q.has(&all[i])
	}
	d := s.direction()
	inner := "SELECT " + q.sortKey + " AS at, c.id, c.words, c.company_id\n" + q.from.String() + "\nWHERE " + q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(stretch)
	return q, q.late(s, inner, strings.Join(has, " AND "), limit), nil
}

func (f *Filter) wordless() *Filter {
	rest := *f
	rest.Words = nil
	return &rest
}

// late reads the contacts whose at and id inner selects: the first ones of which the condition on its rows, called c,
// holds. The wide rows are looked up last, for those alone that are answered.
func (q *query) late(s Sort, inner, condition string, limit int) string {
	d := s.direction()
	return "SELECT " + columns + "\nFROM (SELECT c.at, c.id FROM (" + inner + ") AS c WHERE " + condition +
		" ORDER BY c.at" + d + ", c.id" + d + " LIMIT " + q.arg(limit) + ") AS page" +
		"\nJOIN contact c ON c.org_id = $1 AND c.id = page.id JOIN contact_score s ON s.org_id = $1 AND s.contact_id = page.id" +
		"\nORDER BY page.at" + d + ", page.id" + d
}
