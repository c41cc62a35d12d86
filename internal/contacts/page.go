package contacts

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
)

// A page of a list without words is read in two steps: the sort keys and ids of its contacts, then their rows by id.
// The keys come from the index of the order, which may also hold a condition, see source. The other conditions are
// decided in one of three ways, see List:
//
//   - members: the contacts that satisfy a condition are read from the condition's own index into a hash table, and the
//     walk in list order looks ids up in it. It reads index pages alone, a hundred contacts each, so its cost hardly
//     depends on where in the order the matches are.
//   - stretch: a walk over the first contacts of the order looks up each contact.
//   - gather: the few contacts of a selective condition are looked up and sorted.

// page is a page of a list to read.
type page struct {
	org    id.ID
	f      *Filter
	sort   Sort
	after  *Position
	limit  int
	source source
	rest   []*filter.Filter // the conditions that the source does not hold
}

// source is where the keys of a list come from in its order.
type source struct {
	table   string // with its alias, o
	key, id string // its columns
	shelf   string // condition for the archived side
	// held are the conditions that the index holds, on o; one of them decides the table.
	held  []*filter.Filter
	where func(q *query) string // condition of a side table, may be nil
}

// creationIndexes are the fields of contact with an index by value and creation.
var creationIndexes = func() []string {
	all := []string{"stage", "company_id", "owner_id", "first_name"}
	for _, t := range optionalTexts {
		all = append(all, t.Name)
	}
	return all
}()

// newPage plans the page of f in the order s.
func newPage(org id.ID, f *Filter, s Sort, after *Position, limit int) *page {
	p := &page{org: org, f: f, sort: s, after: after, limit: limit, rest: f.allConditions()}
	switch s {
	case Highest, Lowest:
		p.source = source{table: "contact_score o", key: "o.score", id: "o.contact_id", shelf: "o.archived = "}
	case LastName:
		p.source = source{table: "contact o", key: "o.last_name_folded", id: "o.id", shelf: "o.archived_at "}
	case Email:
		p.source = source{table: "contact o", key: "o.email_folded", id: "o.id", shelf: "o.archived_at "}
	case Newest, Oldest:
		p.source = source{table: "contact o", key: "o.created_at", id: "o.id", shelf: "o.archived_at "}
		p.chooseSource()
	}
	p.moveToSource()
	return p
}

// sortFields are the fields that the orders sort by.
var sortFields = map[Sort]string{
	Newest: "created_at", Oldest: "created_at", Highest: "lead_score", Lowest: "lead_score", LastName: "last_name",
	Email: "email",
}

// chooseSource makes the rows of one tag, segment or custom field value the source, if f requires a single one: these
// rows are stored in the order of creation.
func (p *page) chooseSource() {
	for i, part := range p.rest {
		field, op, value, ok := part.Term()
		if !ok || op != filter.Eq {
			continue
		}
		side := source{key: "o.created_at", id: "o.contact_id", shelf: "o.archived = "}
		key, custom := strings.CutPrefix(field, attributePrefix)
		switch {
		case field == "tag":
			side.table = "contact_tag o"
			side.where = func(q *query) string { return "o.tag = " + q.arg(value) }
		case field == "segment":
			side.table = "segment_member o"
			side.where = func(q *query) string {
				return "o.segment_id = (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = " +
					q.arg(value) + ")"
			}
		case custom:
			side.table = "contact_attribute o"
			side.where = func(q *query) string {
				return "o.key = " + q.arg(key) + " AND " + part.SQL(func(_ string, t filter.Type) filter.Column {
					return filter.Column{Value: "o" + strings.TrimPrefix(attributeColumn(t).Value, "a")}
				}, q.arg)
			}
		default:
			continue
		}
		p.source, p.rest = side, slices.Concat(p.rest[:i], p.rest[i+1:])
		return
	}
}

// moveToSource moves the conditions that the source's index holds from rest to the source: bounds of the sort key, and
// in the order of creation one value of a field that has an index with it.
func (p *page) moveToSource() {
	one := p.source.table != "contact o" || p.sort != Newest && p.sort != Oldest || p.f.Archived
	p.rest = slices.DeleteFunc(slices.Clone(p.rest), func(part *filter.Filter) bool {
		field, op, _, ok := part.Term()
		held := false
		switch {
		case !ok || op == filter.Ne || op == filter.NotIn:
		case field == sortFields[p.sort]:
			held = true
		case !one && op == filter.Eq && slices.Contains(creationIndexes, field):
			held = true
			one = true
		}
		if held {
			p.source.held = append(p.source.held, part)
		}
		return held
	})
}

// sourceKeys selects the first n keys at and ids of the source after the position, that satisfy the conditions.
func (p *page) sourceKeys(q *query, conditions []*filter.Filter, n int) (string, error) {
	src := &p.source
	q.sortKey = src.key
	q.sortID = src.id
	q.where.Reset()
	q.where.WriteString("o.org_id = $1 AND " + src.shelf)
	if strings.HasSuffix(src.shelf, "= ") {
		q.where.WriteString(q.shelf)
	} else {
		q.where.WriteString(q.live)
	}
	if src.where != nil {
		q.and(src.where(q))
	}
	for _, part := range src.held {
		q.and(part.SQL(func(field string, _ filter.Type) filter.Column {
			if field == sortFields[p.sort] {
				return filter.Column{Value: src.key}
			}
			return filter.Column{Value: "o." + strings.TrimPrefix(filterFields[field].sql, "c.")}
		}, q.arg))
	}

	for _, part := range conditions {
		q.and(part.SQL(q.memberOf(src.id), q.arg))
	}

	if err := q.beginAfter(p.sort, p.after); err != nil {
		return "", err
	}

	return "SELECT " + src.key + " AS at, " + src.id + " AS id\nFROM " + src.table + "\nWHERE " + q.where.String() +
		q.orderLimit(p.sort, n), nil
}

// lookUpInSets returns the statement that looks ids up in the sets of the conditions.
func (p *page) lookUpInSets() (*query, string, error) {
	q := newQuery(p.org, p.f)
	keys, err := p.sourceKeys(q, p.rest, p.limit)
	return q, q.rowsOf(p.sort, keys), err
}

// stretchQuery returns the statement that looks up each of the first n contacts of the order.
func (p *page) stretchQuery(n int) (*query, string, error) {
	q := newQuery(p.org, p.f)
	keys, err := p.sourceKeys(q, nil, n)
	if err != nil {
		return nil, "", err
	}
	contact, score := rowsNeeded(p.rest)
	conditions := make([]string, len(p.rest))
	for i, part := range p.rest {
		conditions[i] = part.SQL(q.columnOf("k.id"), q.arg)
	}
	q.sortKey = "k.at"
	q.sortID = "k.id"
	return q, q.rowsOf(p.sort, "SELECT k.at, k.id FROM ("+keys+") AS k"+joinRows("k.id", contact, score)+
		"\nWHERE "+strings.Join(conditions, "\n AND ")+q.orderLimit(p.sort, p.limit)), nil
}

// gatherSet returns the statement that looks up the contacts of a set, and sorts them. Most is a limit for the planner.
func (p *page) gatherSet(set *filter.Filter, most int) (*query, string, error) {
	q := newQuery(p.org, p.f)
	return p.sortFound(q, "SELECT DISTINCT f.id FROM ("+q.selectSet(set)+" LIMIT "+q.arg(most)+") AS f (id)")
}

// gatherIDs is gather for the contacts with ids.
func (p *page) gatherIDs(ids []id.ID) (*query, string, error) {
	q := newQuery(p.org, p.f)
	return p.sortFound(q, "SELECT f.id FROM unnest("+q.arg(SortIDs(ids))+"::uuid[]) AS f (id)")
}

// sortFound returns the statement that looks up the contacts with the ids that found selects, and sorts them.
func (p *page) sortFound(q *query, found string) (*query, string, error) {
	all := p.f.allConditions()
	contact, score := rowsNeeded(all)
	byScore := p.sort == Highest || p.sort == Lowest
	from := joinRows("k.id", contact || !byScore, score || byScore)
	q.sortKey = filterFields[sortFields[p.sort]].sql
	q.sortID = "k.id"
	q.where.WriteString("TRUE")
	for _, part := range all {
		q.and(part.SQL(q.columnOf("k.id"), q.arg))
	}

	if err := q.beginAfter(p.sort, p.after); err != nil {
		return nil, "", err
	}

	return q, q.rowsOf(p.sort, "SELECT "+q.sortKey+" AS at, k.id FROM ("+found+") AS k"+from+"\nWHERE "+
		q.where.String()+q.orderLimit(p.sort, p.limit)), nil
}

// plannedQuery returns the statement in which the planner chooses the way.
func (p *page) plannedQuery() (*query, string, error) {
	q := buildQuery(p.org, p.f, p.sort)
	if err := q.beginAfter(p.sort, p.after); err != nil {
		return nil, "", err
	}
	return q, q.rowsOf(p.sort, "SELECT "+q.sortKey+" AS at, c.id\n"+q.from.String()+"\nWHERE "+q.where.String()+
		q.orderLimit(p.sort, p.limit)), nil
}

// orderLimit returns the order of s and the limit.
func (q *query) orderLimit(s Sort, limit int) string {
	d := s.direction()
	return "\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(limit)
}

// rowsNeeded reports which rows of a contact the conditions read.
func rowsNeeded(conditions []*filter.Filter) (contact, score bool) {
	for _, part := range conditions {
		for _, field := range part.Fields() {
			_, own := filterFields[field]
			score = score || field == "lead_score"
			contact = contact || own && field != "lead_score" && field != "tag" && field != "segment"
		}
	}
	return contact, score
}

// joinRows joins rows of the contact with an id.
func joinRows(id string, contact, score bool) (from string) {
	if contact {
		from += contactRow(id)
	}
	if score {
		from += scoreRow(id)
	}
	return from
}

// rowsOf reads the rows of the keys at and id that a statement selects.
func (q *query) rowsOf(s Sort, keys string) string {
	d := s.direction()
	return "SELECT " + rowColumns + "\nFROM (" + keys + ") AS page" + wholeRows("page.id") +
		"\nORDER BY page.at" + d + ", page.id" + d
}
