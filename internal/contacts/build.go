package contacts

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
)

// buildQuery returns the query for f. $1 is the org.
//
// If no side table can drive the list, see driveBySideTable, the planner chooses between an index scan in list order
// and collecting and sorting the matches. Conditions that an index should serve use only leakproof operators, see the
// migration.
//
// The query joins the score rows s only if f or the order reads them.
func buildQuery(org id.ID, f *Filter, s Sort, args ...any) *query {
	q := newQuery(org, f)
	q.args = append(q.args, args...)
	q.from.WriteString("FROM contact c")
	q.where.WriteString("c.org_id = $1 AND c.archived_at " + q.live)
	if f.needsScores(s) {
		q.from.WriteString(" JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id")
		q.and("s.org_id = $1 AND s.archived = " + q.shelf)
	}
	byCreation := s == Newest || s == Oldest
	switch s {
	case Highest, Lowest:
		q.sortKey = "s.score"
		q.sortID = "s.contact_id"
	case LastName:
		q.sortKey = "c.last_name_folded"
	case Email:
		q.sortKey = "c.email_folded"
	case Newest, Oldest:
	}

	tags := f.Tags
	segments := f.Segments
	parts := f.neededConjuncts()
	if byCreation {
		tags, segments, parts = q.driveBySideTable(tags, segments, parts)
	}
	if len(tags) > 0 {
		q.and("EXISTS (" + q.fieldRows("tag") + " AND t.tag = ANY (" + q.arg(tags) + "::text[]))")
	}
	if len(segments) > 0 {
		q.and("EXISTS (" + q.fieldRows("segment") +
			" AND m.segment_id IN (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = ANY (" +
			q.arg(segments) + "::text[])))")
	}
	q.addConditions(f)
	for _, part := range parts {
		q.and(part.SQL(q.fieldColumn, q.arg))
	}

	return q
}

// driveBySideTable makes the rows of one tag, segment or custom field value drive the list, if f requires a single one:
// these rows are stored in the order of creation. It returns the remaining conditions.
//
// The join uses the contact id alone, although the rows also hold created_at: with two equality conditions the planner
// would multiply their selectivities and expect no rows at all.
func (q *query) driveBySideTable(tags, segments []string, parts []*filter.Filter) (restTags, restSegments []string,
	rest []*filter.Filter,
) {
	tag := func(v any) {
		q.from.WriteString(" JOIN contact_tag t ON t.contact_id = c.id")
		q.and("t.org_id = $1 AND t.archived = " + q.shelf + " AND t.tag = " + q.arg(v))
		q.sortKey = "t.created_at"
		q.sortID = "t.contact_id"
	}
	segment := func(v any) {
		q.from.WriteString(" JOIN segment_member m ON m.contact_id = c.id")
		q.and("m.org_id = $1 AND m.archived = " + q.shelf +
			" AND m.segment_id = (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = " +
			q.arg(v) + ")")
		q.sortKey = "m.created_at"
		q.sortID = "m.contact_id"
	}
	switch {
	case len(tags) == 1:
		tag(tags[0])
		return nil, segments, parts
	case len(segments) == 1:
		segment(segments[0])
		return tags, nil, parts
	}

	for i, part := range parts {
		field, op, value, ok := part.Term()
		if !ok || op != filter.Eq {
			continue
		}
		key, custom := strings.CutPrefix(field, attributePrefix)
		switch {
		case field == "tag":
			tag(value)
		case field == "segment":
			segment(value)
		case custom:
			q.from.WriteString(" JOIN contact_attribute a ON a.contact_id = c.id")
			q.and("a.org_id = $1 AND a.archived = " + q.shelf + " AND a.key = " + q.arg(key) + " AND " +
				part.SQL(func(_ string, t filter.Type) filter.Column { return attributeColumn(t) }, q.arg))
			q.sortKey = "a.created_at"
			q.sortID = "a.contact_id"
		default:
			continue
		}
		return tags, segments, slices.Concat(parts[:i], parts[i+1:])
	}

	return tags, segments, parts
}

func (q *query) addConditions(f *Filter) {
	switch len(f.Stages) {
	case 0:
	case 1:
		q.and("c.stage = " + q.arg(f.Stages[0]))
	default:
		q.and("c.stage = ANY (" + q.arg(f.Stages) + "::text[])")
	}

	if k := f.ExternalID; k != nil {
		q.and(externalid.AnySQL(externalid.Contact, "c.id", q.arg(k.System), q.arg(k.Value)))
	}
	if f.Company != nil {
		q.and("c.company_id = " + q.arg(*f.Company))
	}
	if f.Owner != nil {
		q.and("c.owner_id = " + q.arg(*f.Owner))
	}
	if f.MinScore != nil {
		q.and("s.score >= " + q.arg(*f.MinScore))
	}
	if f.CreatedAfter != nil {
		q.and("c.created_at > " + q.arg(*f.CreatedAfter))
	}
	if f.CreatedBefore != nil {
		q.and("c.created_at < " + q.arg(*f.CreatedBefore))
	}
	for _, w := range f.Words {
		q.and("c.id IN (" + q.contactsMatching(w) + ")")
	}
}
