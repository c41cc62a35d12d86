package contacts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Custom field values share columns, and tags and scores share tables with all orgs, so the planner does not know how
// selective a condition is within one org. Where that matters, the matches are counted first, up to a bound.

// indexedSets returns, for each conjunct of f that an index serves, a function that builds its SELECT of contact_id.
func (f *Filter) indexedSets(s Sort) []func(q *query) string {
	var out []func(q *query) string
	add := func(table string, condition func(q *query) string) {
		out = append(out, func(q *query) string {
			return "SELECT x.contact_id FROM " + table + " x WHERE x.org_id = $1 AND x.archived = " + q.shelf +
				" AND " + condition(q)
		})
	}
	byCreation := s == Newest || s == Oldest
	if len(f.Tags) > 1 || len(f.Tags) == 1 && !byCreation {
		add("contact_tag", func(q *query) string { return "x.tag = ANY (" + q.arg(f.Tags) + "::text[])" })
	}
	if f.MinScore != nil {
		add("contact_score", func(q *query) string { return "x.score >= " + q.arg(*f.MinScore) })
	}
	for _, part := range f.neededConjuncts() {
		field, op, _, ok := part.Term()
		if !ok || op == filter.Ne || op == filter.NotIn || op == filter.Exists || op == filter.Contains ||
			op == filter.Eq && byCreation && field != "lead_score" {
			continue
		}
		column := func(value string) func(q *query) string {
			return func(q *query) string {
				return part.SQL(func(string, filter.Type) filter.Column { return filter.Column{Value: value} }, q.arg)
			}
		}
		key, custom := strings.CutPrefix(field, attributePrefix)
		switch {
		case field == "tag":
			add("contact_tag", column("x.tag"))
		case field == "lead_score":
			add("contact_score", column("x.score"))
		case custom:
			add("contact_attribute", func(q *query) string {
				return "x.key = " + q.arg(key) + " AND " + part.SQL(func(_ string, t filter.Type) filter.Column {
					return filter.Column{Value: "x" + strings.TrimPrefix(attributeColumn(t).Value, "a")}
				}, q.arg)
			})
		}
	}

	return out
}

// selectiveSet is a set with a known number of rows.
type selectiveSet struct {
	rows int
	once func(q *query) string // selects contact_id, each once
}

// findSelectiveSet returns the smallest of f's sets, or nil if each has more than few rows.
func findSelectiveSet(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, few int) (*selectiveSet, error) {
	sets := f.indexedSets(s)
	if len(sets) == 0 {
		return nil, nil //nolint:nilnil // nothing to count
	}

	q := newQuery(tx.Org(), f)
	counts := make([]string, len(sets))
	found := make([]int, len(sets))
	for i, set := range sets {
		counts[i] = fmt.Sprintf("(SELECT count(*) FROM (%s LIMIT %d) AS first)", set(q), few+1)
	}

	tx.Queue(planning)
	if err := tx.QueryRow(ctx, "SELECT ARRAY["+strings.Join(counts, ", ")+"]", q.args, &found); err != nil {
		return nil, fmt.Errorf("count matches: %w", err)
	}

	at := 0
	for i := range found {
		if found[i] < found[at] {
			at = i
		}
	}

	if found[at] > few {
		return nil, nil //nolint:nilnil // nothing is rare
	}
	// The limit informs the planner, which would otherwise prefer to read everything after the position over so many
	// look-ups. The result would be incomplete only if thousands of rows were added since the count.
	return &selectiveSet{rows: found[at], once: func(q *query) string {
		return "SELECT DISTINCT * FROM (" + sets[at](q) + " LIMIT " + strconv.Itoa(2*few) + ") AS rare"
	}}, nil
}
