package contacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// A search has three strategies. If a word is selective, all contacts with that word are collected and sorted. If every
// word is common, the list is scanned in its order until the page is full. If that does not fill the page soon, the
// word index returns candidates for several common words, which are collected and sorted. A query counts the matches
// first to choose, because the planner's statistics know neither the words of one org nor the correlation between
// words.

// effort holds the thresholds between the strategies.
type effort struct {
	few       int // maximum number of contacts to collect
	companies int // maximum number of companies included in that count
	near      int // contacts that a scan before collecting reads, for each contact of the page
	stretch   int // maximum number of contacts that a scan reads
	first     int // the same for the scan before the word index is read
	marks     int // maximum number of contacts missing in the word index; with more it is not read
	most      int // maximum number of candidates from the word index
}

// usualEffort returns thresholds that bound each strategy to tens of milliseconds, at a few microseconds per contact.
func usualEffort() effort {
	return effort{few: 5000, companies: 200, near: 2, stretch: 10_000, first: 2000, marks: 20_000, most: 100_000}
}

// countTerms returns the matches of each word in the org, counted to just above few, and reports whether the org has a
// word index. It sends one statement.
func countTerms(ctx context.Context, tx *postgres.Tx, f *Filter, e effort) (all []term, indexed bool, err error) {
	q := &query{live: "IS NULL"}
	if f.Archived {
		q.live = "IS NOT NULL"
	}
	q.arg(tx.Org())
	asked := make([]string, len(f.Words), len(f.Words)+1)
	for i, word := range f.Words {
		asked[i] = fmt.Sprintf(`SELECT %d, companies, (SELECT count(*) FROM (SELECT FROM contact_word w
			WHERE w.org_id = $1 AND w.word%s LIMIT %d) AS own)
			+ (SELECT count(*) FROM (SELECT FROM contact o WHERE o.org_id = $1 AND o.archived_at %s
			AND o.company_id = ANY (companies) LIMIT %d) AS theirs)
			FROM (SELECT ARRAY(%s LIMIT %d) AS companies OFFSET 0) AS called`, i, q.wordRange(word), e.few+1, q.live,
			e.few+1, q.companiesNamed(word), e.companies+1)
	}

	asked = append(asked, "SELECT -1, '{}'::uuid[], 0 FROM word_index WHERE org_id = $1 AND ready")
	tx.Queue(planning)
	rows, err := tx.Query(ctx, strings.Join(asked, "\nUNION ALL "), q.args...)
	if err != nil {
		return nil, false, fmt.Errorf("count words: %w", err)
	}

	all = make([]term, len(f.Words))
	var (
		i int
		t term
	)
	_, err = pgx.ForEachRow(rows, []any{&i, &t.companies, &t.contacts}, func() error {
		if i < 0 {
			indexed = true
			return nil
		}
		t.word = f.Words[i]
		t.many = len(t.companies) > e.companies
		all[i] = t
		t = term{}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("count words: %w", err)
	}

	return all, indexed, nil
}

// searchWords implements List for filters with words.
func searchWords(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int, e effort) ([]Row,
	error,
) {
	all, indexed, err := countTerms(ctx, tx, f, e)
	if err != nil {
		return nil, err
	}

	list := func(q *query, sql string, err error) ([]Row, error) {
		if err != nil {
			return nil, err
		}
		return q.listRows(ctx, tx, sql)
	}
	if r := rarestTerm(all, e.few); r >= 0 {
		if found, err := nearPage(all[r].contacts, e, limit, func(n int) ([]Row, error) {
			return list(walkQuery(tx.Org(), f, all, s, after, limit, n))
		}); found != nil || err != nil {
			return found, err
		}
		return list(gatherQuery(tx.Org(), f, s, after, limit, func(q *query) string { return q.onlyTerm(all, r) }))
	}

	var candidates *wordindex.Candidates
	if indexed && len(all) > 1 && len(all) <= wordindex.MaxTerms {
		found, err := list(walkQuery(tx.Org(), f, all, s, after, limit, e.first))
		if err != nil || len(found) == limit {
			return found, err
		}
		if len(found)*e.stretch < limit*e.first { // a longer walk would not fill the page
			limits := wordindex.Limits{Marks: e.marks, Few: e.few, Most: e.most}
			if candidates, err = wordindex.Find(ctx, tx, indexTerms(all), limits); err != nil {
				return nil, err
			}
		}
	}
	if candidates == nil || candidates.Len() > e.few {
		found, err := list(walkQuery(tx.Org(), f, all, s, after, limit, e.stretch))
		if err != nil || len(found) == limit {
			return found, err
		}
	}
	if candidates != nil && candidates.Len() <= e.most {
		ids, ok, err := candidates.IDs(ctx, tx)
		if err != nil {
			return nil, err
		}
		if ok && len(ids) == 0 {
			return []Row{}, nil
		}
		if ok {
			return list(verifyQuery(tx.Org(), f, all, s, after, limit, ids))
		}
	}

	return list(gatherQuery(tx.Org(), f, s, after, limit, func(q *query) string { return q.selectEveryTerm(all) }))
}

// nearPage returns the page if the first contacts of the order fill it, or nil. It is for a word with so many contacts
// that a walk over a few pages costs little beside collecting them. The next walk is twice as long as the one before
// says that the page needs, unless that costs half as much as collecting.
func nearPage(contacts int, e effort, limit int, walk func(n int) ([]Row, error)) ([]Row, error) {
	n := e.near * limit
	for range 3 {
		if n > contacts/2 {
			break
		}
		found, err := walk(n)
		if err != nil || len(found) == limit {
			return found, err
		}
		if len(found) == 0 {
			break
		}
		n = 2 * n * limit / len(found)
	}

	return nil, nil //nolint:nilnil // the page is elsewhere
}

// rarestTerm returns the index of the term with the fewest contacts, or -1 if every term exceeds the bound.
func rarestTerm(all []term, bound int) int {
	at := -1
	for i := range all {
		if t := &all[i]; t.contacts <= bound && !t.many && (at < 0 || t.contacts < all[at].contacts) {
			at = i
		}
	}
	return at
}

// indexTerms returns the terms in the form of the word index.
func indexTerms(all []term) []wordindex.Term {
	out := make([]wordindex.Term, len(all))
	for i, t := range all {
		out[i] = wordindex.Term{Word: t.word, Companies: t.companies, More: t.many}
	}
	return out
}
