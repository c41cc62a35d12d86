package contacts

import (
	"context"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ways holds the thresholds between the ways to a page.
type ways struct {
	few     int // the most contacts of a condition that are counted: with fewer, the walk always looks ids up in sets
	some    int // the most contacts of a condition that are gathered in any org
	share   int // the same in a large org, as a share of its contacts
	small   int // an org with fewer contacts is small: no stretch of it is tried
	longer  int // the most contacts of a second stretch in any org
	far     int // the same in a large org, as a share of its contacts
	hashed  int // the most contacts with a text that are looked up in list order
	leaves  int // the most conditions that are looked up in sets
	perPage int // contacts of the first stretch, for each contact of the page
}

// usualWays bounds a page to about a thousand buffers in an org of 20,000 contacts. A set or an order has a hundred
// contacts in each of its index pages, and a contact that is looked up costs four buffers.
func usualWays() ways {
	return ways{
		few: 1000, some: 20, share: 400, small: 2000, longer: 500, far: 100, hashed: 30_000, leaves: 12,
		perPage: 2,
	}
}

// List returns at most limit contacts selected by f in the order s, starting after a position, or at the beginning if
// after is nil. A position that does not fit s is an error.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) ([]Row, error) {
	f = f.afterPosition(s, after)
	if f.ExternalID != nil { // at most one live contact
		p := newPage(tx.Org(), f, s, after, limit)
		return p.listBy(ctx, tx, p.plannedQuery)
	}
	if len(f.Words) > 0 {
		return searchWords(ctx, tx, f, s, after, limit, usualEffort())
	}
	return newPage(tx.Org(), f, s, after, limit).readCheapest(ctx, tx, usualWays())
}

// readCheapest reads the page by the cheapest way.
func (p *page) readCheapest(ctx context.Context, tx *postgres.Tx, w ways) ([]Row, error) {
	stages, err := p.holdStages(ctx, tx)
	if err != nil {
		return nil, err
	}
	if stages != nil {
		return p.listBy(ctx, tx, func() (*query, string, error) { return p.byStages(stages) })
	}
	if len(p.rest) == 0 {
		return p.listBy(ctx, tx, p.lookUpInSets)
	}

	set, rows, err := p.smallestSet(ctx, tx, w.few)
	if err != nil {
		return nil, err
	}
	if rows <= w.some {
		return p.listBy(ctx, tx, func() (*query, string, error) { return p.gatherSet(set, 2*w.few) })
	}

	contacts, err := p.countContacts(ctx, tx)
	if err != nil {
		return nil, err
	}
	if rows <= contacts/w.share || p.ofContacts() && rows <= w.few && 4*rows*rows < contacts*p.limit {
		return p.listBy(ctx, tx, func() (*query, string, error) { return p.gatherSet(set, 2*w.few) })
	}

	common := set != nil && 2*rows > contacts // at least: the planner may not know that the org has grown
	if common || rows > w.few && contacts >= w.small {
		if found, err := p.readStretches(ctx, tx, w, contacts); found != nil || err != nil {
			return found, err
		}
	}
	if text := p.textSearch(); text != nil && rows > w.few {
		if found, err := p.ofText(ctx, tx, text, contacts/w.share, w.hashed); found != nil || err != nil {
			return found, err
		}
	}
	if p.countConditions() > w.leaves {
		return p.listBy(ctx, tx, p.plannedQuery)
	}

	return p.listBy(ctx, tx, p.lookUpInSets)
}

// ofContacts reports whether the walk in list order may read each contact's own row: its table is written all the time,
// and an index alone answers only for pages that were vacuumed since. A walk over one of n contacts that match then
// costs their distance for each contact of the page, and gathering them costs four buffers each.
func (p *page) ofContacts() bool { return p.sort == LastName || p.sort == Email }

// readStretches returns the page if the first contacts of the order fill it, or nil. A second stretch is as long as the
// first one says that the page needs, unless that is too far.
func (p *page) readStretches(ctx context.Context, tx *postgres.Tx, w ways, contacts int) ([]Row, error) {
	n := w.perPage * p.limit
	for range 2 {
		found, err := p.listBy(ctx, tx, func() (*query, string, error) { return p.stretchQuery(n) })
		if err != nil || len(found) == p.limit {
			return found, err
		}
		if len(found) == 0 {
			break
		}
		if n = n * p.limit * 3 / (2 * len(found)); n > max(w.longer, contacts/w.far) {
			break
		}
	}
	return nil, nil //nolint:nilnil // the page is elsewhere
}

// listBy returns the rows that a way's statement selects.
func (p *page) listBy(ctx context.Context, tx *postgres.Tx, way func() (*query, string, error)) ([]Row, error) {
	q, sql, err := way()
	if err != nil {
		return nil, err
	}
	tx.Queue(hashing)
	return q.listRows(ctx, tx, sql)
}

// countConditions returns the number of single conditions.
func (p *page) countConditions() (n int) {
	for _, part := range p.rest {
		n += part.Leaves()
	}
	return n
}

// smallestSet returns the condition that an index serves with the fewest contacts, and their number counted to few + 1.
// If no index serves a condition, the number is few + 1.
func (p *page) smallestSet(ctx context.Context, tx *postgres.Tx, few int) (set *filter.Filter, rows int, err error) {
	var sets []*filter.Filter
	for _, part := range p.rest {
		if hasIndex(part) {
			sets = append(sets, part)
		}
	}

	if len(sets) == 0 {
		return nil, few + 1, nil
	}

	q := newQuery(p.org, p.f)
	counts := make([]string, len(sets))
	found := make([]int, len(sets))
	for i, part := range sets {
		counts[i] = fmt.Sprintf("(SELECT count(*) FROM (%s LIMIT %d) AS first)", q.selectSet(part), few+1)
	}

	tx.Queue(planning)
	if err := tx.QueryRow(ctx, "SELECT ARRAY["+strings.Join(counts, ", ")+"]", q.args, &found); err != nil {
		return nil, 0, fmt.Errorf("count matches: %w", err)
	}

	at := 0
	for i := range found {
		if found[i] < found[at] {
			at = i
		}
	}

	return sets[at], found[at], nil
}

// hasIndex reports whether an index has the contacts that satisfy a condition.
func hasIndex(part *filter.Filter) bool {
	field, op, value, ok := part.Term()
	if !ok || field == "consent_basis" || field == "consent_confirmed_at" {
		return false
	}
	return op != filter.Ne && op != filter.NotIn && op != filter.Contains && (op != filter.Exists || value == true)
}

// countContacts returns how many live contacts the planner expects in the org.
func (p *page) countContacts(ctx context.Context, tx *postgres.Tx) (int, error) {
	_, rows, err := explainCost(ctx, tx, "SELECT FROM contact WHERE org_id = $1 AND archived_at IS NULL", []any{p.org})
	return int(rows), err
}

// Selecting returns a statement that selects id and created_at of the contacts that f selects. It can be embedded in an
// INSERT ... SELECT, or read in pieces ordered by both columns. $1 is the org; args are the caller's own arguments, $2
// and on, for the surrounding statement. The caller must send allArgs.
func Selecting(org id.ID, f *Filter, args ...any) (sql string, allArgs []any) {
	q := buildQuery(org, f, Newest, args...)
	return "SELECT c.id, c.created_at\n" + q.from.String() + "\nWHERE " + q.where.String(), q.args
}
