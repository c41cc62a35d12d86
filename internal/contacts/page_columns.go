package contacts

import (
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
)

// allConditions returns the conjuncts of f without its words, those of the list's own parameters first.
func (f *Filter) allConditions() []*filter.Filter {
	var all []*filter.Filter
	texts := func(field string, t filter.Type, values []string) {
		switch len(values) {
		case 0:
		case 1:
			all = append(all, filter.Leaf(field, t, filter.Eq, values[0]))
		default:
			all = append(all, filter.Leaf(field, t, filter.In, values))
		}
	}
	texts("tag", filter.Keys, f.Tags)
	texts("segment", filter.Keys, f.Segments)
	texts("stage", filter.Key, f.Stages)
	if f.Company != nil {
		all = append(all, filter.Leaf("company_id", filter.ID, filter.Eq, *f.Company))
	}
	if f.Owner != nil {
		all = append(all, filter.Leaf("owner_id", filter.ID, filter.Eq, *f.Owner))
	}
	if f.MinScore != nil {
		all = append(all, filter.Leaf("lead_score", filter.Number, filter.Gte, *f.MinScore))
	}
	if f.CreatedAfter != nil {
		all = append(all, filter.Leaf("created_at", filter.Time, filter.Gt, *f.CreatedAfter))
	}
	if f.CreatedBefore != nil {
		all = append(all, filter.Leaf("created_at", filter.Time, filter.Lt, *f.CreatedBefore))
	}

	return append(all, f.neededConjuncts()...)
}

// selectHolders selects the ids of the contacts that have a value of the field, whose column it returns, too.
// Conditions on the column can be appended.
func (q *query) selectHolders(field string, t filter.Type) (rows string, column filter.Column) {
	if key, ok := strings.CutPrefix(field, attributePrefix); ok {
		return "SELECT a.contact_id FROM contact_attribute a WHERE a.org_id = $1 AND a.archived = " + q.shelf +
			" AND a.key = " + q.arg(key), attributeColumn(t)
	}

	column = filter.Column{Value: filterFields[field].sql}
	switch field {
	case "tag":
		return "SELECT t.contact_id FROM contact_tag t WHERE t.org_id = $1 AND t.archived = " + q.shelf,
			filter.Column{Value: "t.tag"}
	case "segment":
		return "SELECT m.contact_id FROM segment g CROSS JOIN LATERAL (SELECT contact_id FROM segment_member" +
			" WHERE org_id = $1 AND segment_id = g.id AND archived = " + q.shelf +
			" OFFSET 0) AS m WHERE g.org_id = $1 AND g.archived_at IS NULL", filter.Column{Value: "g.key"}
	case "lead_score":
		return "SELECT s.contact_id FROM contact_score s WHERE s.org_id = $1 AND s.archived = " + q.shelf, column
	}

	return "SELECT c.id FROM contact c WHERE c.org_id = $1 AND c.archived_at " + q.live + " AND " + column.Value +
		" IS NOT NULL", column
}

// memberOf returns the SQL of fields over a row of which only the contact's id is known: each condition is a look-up of
// the id in a set, which a statement reads once. IS TRUE keeps the planner from a join.
func (q *query) memberOf(id string) func(field string, t filter.Type) filter.Column {
	return func(field string, t filter.Type) filter.Column {
		rows, column := q.selectHolders(field, t)
		column.Rows = rows
		column.Has = func(rows string) string { return "((" + id + " IN (" + rows + ")) IS TRUE)" }
		return column
	}
}

// selectSet selects the ids of the contacts that satisfy a condition on the values of one field, which is not ne,
// not_in or "exists": false. An id may occur several times.
func (q *query) selectSet(part *filter.Filter) string {
	return part.SQL(func(field string, t filter.Type) filter.Column {
		rows, column := q.selectHolders(field, t)
		column.Rows = rows
		column.Has = func(rows string) string { return rows }
		return column
	}, q.arg)
}

// columnOf returns the SQL of fields over the contact with an id, and its rows c and s. Rows of side tables are read by
// the id alone: an index by value would be read through for each contact, if the planner takes the org for a small one.
func (q *query) columnOf(id string) func(field string, t filter.Type) filter.Column {
	has := func(rows string) string { return "((" + rows + " LIMIT 1) IS TRUE)" }
	return func(field string, t filter.Type) filter.Column {
		if key, ok := strings.CutPrefix(field, attributePrefix); ok {
			column := attributeColumn(t)
			column.Rows = "SELECT TRUE FROM (SELECT * FROM contact_attribute WHERE org_id = $1 AND contact_id = " + id +
				" OFFSET 0) AS a WHERE a.key = " + q.arg(key)
			column.Has = has
			return column
		}
		switch field {
		case "tag":
			return filter.Column{
				Rows: "SELECT TRUE FROM (SELECT tag FROM contact_tag WHERE org_id = $1 AND contact_id = " + id +
					" OFFSET 0) AS t WHERE TRUE",
				Value: "t.tag", Has: has,
			}
		case "segment":
			return filter.Column{
				Rows: "SELECT TRUE FROM (SELECT segment_id FROM segment_member WHERE org_id = $1 AND contact_id = " +
					id + " OFFSET 0) AS m CROSS JOIN LATERAL (SELECT key FROM segment WHERE org_id = $1" +
					" AND id = m.segment_id AND archived_at IS NULL LIMIT 1) AS g WHERE TRUE",
				Value: "g.key", Has: has,
			}
		}
		return filter.Column{Value: filterFields[field].sql}
	}
}
