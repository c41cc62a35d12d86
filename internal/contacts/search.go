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
const (
	few     = 5000   // contacts that are gathered rather than walked to
	fewFrom = 200    // companies whose contacts are counted among them
	stretch = 10_000 // contacts that a walk looks at before it is given up
)

// term is one word of a search and what the org has of it.
type term struct {
	word      string
	contacts  int     // that have it themselves or work for one of companies; more than few where it was not counted on
	companies []id.ID // at most fewFrom + 1
}

// between are the bounds of the words that begin with word. In byte order each of them lies below word followed by the
// highest character, which is in no word.
func (q *query) between(word string) string {
	return " >= " + q.arg(word) + " AND w.word < " + q.arg(word+"\U0010FFFF")
}

// called selects the live companies of which a word begins with word.
func (q *query) called(word string) string {
	return "SELECT w.company_id FROM company_word w JOIN company k ON k.org_id = $1 AND k.id = w.company_id AND k.archived_at IS NULL WHERE w.org_id = $1 AND w.word" + q.between(word)
}

// found selects contact_id of those who have the word or whose company has it; some twice, some archived.
func (q *query) found(word string) string {
	return "SELECT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.between(word) +
		" UNION ALL SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live + " AND o.company_id IN (" + q.called(word) + ")"
}

// gathered is found for a rare term, whose companies are known.
func (q *query) gathered(t *term) string {
	sql := "SELECT w.contact_id FROM contact_word w WHERE w.org_id = $1 AND w.word" + q.between(t.word)
	if len(t.companies) > 0 {
		sql += " UNION SELECT o.id FROM contact o WHERE o.org_id = $1 AND o.archived_at " + q.live + " AND o.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql
}

// has is what a look at contact c says of the term.
func (q *query) has(t *term) string {
	sql := "(strpos(c.words, " + q.arg(" "+t.word) + ") > 0"
	switch n := len(t.companies); {
	case n > fewFrom:
		sql += " OR c.company_id IN (" + q.called(t.word) + ")"
	case n > 0:
		sql += " OR c.company_id = ANY (" + q.arg(t.companies) + "::uuid[])"
	}
	return sql + ")"
}

// terms asks what the org has of each word; contacts are counted to just above the bound. All of it is one statement.
func terms(ctx context.Context, tx *postgres.Tx, f *Filter, bound int) ([]term, error) {
	q := &query{live: "IS NULL"}
	if f.Archived {
		q.live = "IS NOT NULL"
	}
	q.arg(tx.Org())
	asked := make([]string, len(f.Words))
	for i, word := range f.Words {
		asked[i] = fmt.Sprintf(`SELECT %d, companies, (SELECT count(*) FROM (SELECT FROM contact_word w WHERE w.org_id = $1 AND w.word%s LIMIT %d) AS own)
			+ (SELECT count(*) FROM (SELECT FROM contact o WHERE o.org_id = $1 AND o.archived_at %s AND o.company_id = ANY (companies) LIMIT %d) AS theirs)
			FROM (SELECT ARRAY(%s LIMIT %d) AS companies OFFSET 0) AS called`, i, q.between(word), bound+1, q.live, bound+1, q.called(word), fewFrom+1)
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
		t.word = f.Words[i]
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
func search(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) ([]Row, error) {
	all, err := terms(ctx, tx, f, few)
	if err != nil {
		return nil, err
	}
	rest := *f
	rest.Words = nil
	if r := rarest(all, few); r >= 0 {
		return gather(ctx, tx, &rest, s, after, limit, func(q *query) string {
			for i := range all {
				if i != r {
					q.and(q.has(&all[i]))
				}
			}
			return q.gathered(&all[r])
		})
	}
	found, err := walk(ctx, tx, &rest, all, s, after, limit)
	if err != nil || len(found) == limit {
		return found, err
	}
	return gather(ctx, tx, &rest, s, after, limit, func(q *query) string {
		sets := make([]string, len(all))
		for i := range all {
			sets[i] = "(" + q.found(all[i].word) + ")"
		}
		if len(sets) == 1 {
			return "SELECT DISTINCT * FROM " + sets[0] + " AS one"
		}
		return strings.Join(sets, " INTERSECT ")
	})
}

// rarest is the place of the term that the fewest contacts have, -1 where more than the bound have each.
func rarest(all []term, bound int) int {
	at := -1
	for i := range all {
		if t := &all[i]; t.contacts <= bound && len(t.companies) <= fewFrom && (at < 0 || t.contacts < all[at].contacts) {
			at = i
		}
	}
	return at
}

// gather sorts all contacts of f that are in the set, which selects contact_id. OFFSET 0 keeps the planner from
// walking the order in the hope of meeting them.
func gather(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int, set func(*query) string) ([]Row, error) {
	q := build(tx.Org(), f, s, false)
	q.from.WriteString(" JOIN (" + set(q) + ") AS found (contact_id) ON found.contact_id = c.id")
	if err := q.begin(s, after); err != nil {
		return nil, err
	}
	return q.list(ctx, tx, q.late(s, "SELECT "+q.sortKey+" AS at, c.id\n"+q.from.String()+"\nWHERE "+q.where.String()+"\nOFFSET 0", "true", limit))
}

// walk looks at the next contacts of f in order for those that have every term.
func walk(ctx context.Context, tx *postgres.Tx, f *Filter, all []term, s Sort, after *Position, limit int) ([]Row, error) {
	q := build(tx.Org(), f, s, false)
	if err := q.begin(s, after); err != nil {
		return nil, err
	}
	has := make([]string, len(all))
	for i := range all {
		has[i] = q.has(&all[i])
	}
	d := s.direction()
	inner := "SELECT " + q.sortKey + " AS at, c.id, c.words, c.company_id\n" + q.from.String() + "\nWHERE " + q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(stretch)
	return q.list(ctx, tx, q.late(s, inner, strings.Join(has, " AND "), limit))
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
