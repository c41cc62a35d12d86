package contacts

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// textSearch returns a condition that a text contains another one, or nil. An index has these texts of the org's
// contacts, but not in an order that helps: it is read whole.
func (p *page) textSearch() *filter.Filter {
	for _, part := range p.rest {
		if field, op, _, ok := part.Term(); ok && op == filter.Contains && field != "consent_basis" {
			return part
		}
	}
	return nil
}

// ofText returns the page by way of the contacts with a text, or nil if there are more than most. At most few are
// gathered; more are looked up in list order, if the page has no other condition.
func (p *page) ofText(ctx context.Context, tx *postgres.Tx, text *filter.Filter, few, most int) ([]Row, error) {
	var ids []id.ID
	q := newQuery(p.org, p.f)
	tx.Queue(planning)
	err := tx.QueryRow(ctx, "SELECT ARRAY("+q.selectSet(text)+" LIMIT "+q.arg(most+1)+")", q.args, &ids)
	if err != nil {
		return nil, fmt.Errorf("find texts: %w", err)
	}
	switch {
	case len(ids) > most, len(ids) > few && len(p.rest) > 1:
		return nil, nil //nolint:nilnil // another way reads the page
	case len(ids) <= few:
		return p.listBy(ctx, tx, func() (*query, string, error) { return p.gatherIDs(ids) })
	}

	found, err := p.listBy(ctx, tx, func() (*query, string, error) { return p.walkAmong(ids) })
	if err != nil || !allMatch(found, text) {
		return nil, err
	}

	return found, nil
}

// allMatch reports whether the contacts still satisfy the condition: another statement has found them.
func allMatch(found []Row, condition *filter.Filter) bool {
	for i := range found {
		if !condition.Match(RecordOf(&found[i].Contact)) {
			return false
		}
	}
	return true
}

// walkAmong returns the statement that walks in list order, and looks ids up in those given, which satisfy the
// conditions.
func (p *page) walkAmong(ids []id.ID) (*query, string, error) {
	q := newQuery(p.org, p.f)
	page := *p
	page.source.where = func(q *query) string {
		condition := p.source.id + " = ANY (" + q.arg(ids) + "::uuid[])"
		if p.source.where != nil {
			condition += " AND " + p.source.where(q)
		}
		return condition
	}
	keys, err := page.sourceKeys(q, nil, p.limit)
	return q, q.rowsOf(p.sort, keys), err
}
