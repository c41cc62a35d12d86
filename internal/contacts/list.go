package contacts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Filter selects the contacts of a list. The zero Filter selects every live contact.
type Filter struct {
	Stages        []string // any of these; the same for Tags and Segments
	Tags          []string
	Segments      []string // keys
	Words         []string // folded, see Words: each is a prefix of a word of name, email or company
	Company       *id.ID
	Owner         *id.ID
	MinScore      *float64
	CreatedAfter  *time.Time     // exclusive
	CreatedBefore *time.Time     // exclusive
	Archived      bool           // select archived contacts instead of live ones
	Where         *filter.Filter // an additional filter, see ParseFilter; may be nil
	// begun is "", or the order of creation of a page after a position. Bounds that hold for every later contact are
	// omitted.
	begun Sort
}

// Sort is an order of a list, as the API parameter names it. Ties are broken by id.
type Sort string

// Orders of a list.
const (
	Newest   Sort = "-created_at"
	Oldest   Sort = "created_at"
	Highest  Sort = "-lead_score"
	Lowest   Sort = "lead_score"
	LastName Sort = "last_name"
	Email    Sort = "email"
)

// Position is a position in a sorted list: just after the contact ID, which has the sort key Key. Its form is private
// to the list. A Position of one Sort is an error with another.
type Position struct {
	Key string `json:"k"`
	ID  id.ID  `json:"i"`
}

// query builds the FROM and WHERE clauses of a list, with their arguments.
type query struct {
	from, where strings.Builder
	args        []any
	sortKey     string // sort columns
	sortID      string
	shelf       string // the archived flag of side tables: "true" or "false"
	live        string // the same for contact.archived_at: IS NULL, IS NOT NULL
}

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

func (q *query) and(cond string) { q.where.WriteString("\n AND " + cond) }

// build returns the query for f. $1 is the org.
//
// If no side table can drive the list, see drive, the planner chooses between an index scan in list order and
// collecting and sorting the matches. Conditions that an index should serve use only leakproof operators, see the
// migration.
//
// whole is set for a query that returns contacts with their scores. Otherwise the query joins the score rows s only if
// f or the order reads them.
func build(org id.ID, f *Filter, s Sort, whole bool, args ...any) *query {
	q := start(org, f)
	q.args = append(q.args, args...)
	q.from.WriteString("FROM contact c")
	q.where.WriteString("c.org_id = $1 AND c.archived_at " + q.live)
	if whole || f.scored(s) {
		q.from.WriteString(" JOIN contact_score s ON s.org_id = c.org_id AND s.contact_id = c.id")
		q.and("s.org_id = $1 AND s.archived = " + q.shelf)
	}
	byCreation := s == Newest || s == Oldest
	switch s {
	case Highest, Lowest:
		q.sortKey, q.sortID = "s.score", "s.contact_id"
	case LastName:
		q.sortKey = "c.last_name_folded"
	case Email:
		q.sortKey = "c.email_folded"
	case Newest, Oldest:
	}
	tags, segments, parts := f.Tags, f.Segments, f.parts()
	if byCreation {
		tags, segments, parts = q.drive(tags, segments, parts)
	}
	if len(tags) > 0 {
		q.and("EXISTS (" + q.rows("tag") + " AND t.tag = ANY (" + q.arg(tags) + "::text[]))")
	}
	if len(segments) > 0 {
		q.and("EXISTS (" + q.rows("segment") +
			" AND m.segment_id IN (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = ANY (" +
			q.arg(segments) + "::text[])))")
	}
	q.rest(f)
	for _, part := range parts {
		q.and(part.SQL(q.column, q.arg))
	}
	return q
}

// start returns a query with the org and the archived side, and no other conditions.
func start(org id.ID, f *Filter) *query {
	q := &query{sortKey: "c.created_at", sortID: "c.id", shelf: "false", live: "IS NULL"}
	q.arg(org)
	if f.Archived {
		q.shelf, q.live = "true", "IS NOT NULL"
	}
	return q
}

// parts returns the conjuncts of the filter, without those that the position makes redundant.
func (f *Filter) parts() []*filter.Filter {
	if f.Where == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Where.Conjuncts()), func(part *filter.Filter) bool {
		field, op, _, ok := part.Term()
		return ok && field == "created_at" &&
			(f.begun == Newest && (op == filter.Lt || op == filter.Lte) ||
				f.begun == Oldest && (op == filter.Gt || op == filter.Gte))
	})
}

// onward returns f for a page after a position, without the bounds on created_at that every later contact satisfies.
// Otherwise the index scan would start at that bound instead of the position.
func (f *Filter) onward(s Sort, after *Position) *Filter {
	if after == nil || s != Newest && s != Oldest {
		return f
	}
	on := *f
	on.begun = s
	if s == Newest {
		on.CreatedBefore = nil
	} else {
		on.CreatedAfter = nil
	}
	return &on
}

// drive makes the rows of one tag, segment or custom field value drive the list, if f requires a single one: these rows
// are stored in the order of creation. It returns the remaining conditions.
//
// The join uses the contact id alone, although the rows also hold created_at: with two equality conditions the planner
// would multiply their selectivities and expect no rows at all.
func (q *query) drive(tags, segments []string, parts []*filter.Filter) (restTags, restSegments []string,
	rest []*filter.Filter,
) {
	tag := func(v any) {
		q.from.WriteString(" JOIN contact_tag t ON t.contact_id = c.id")
		q.and("t.org_id = $1 AND t.archived = " + q.shelf + " AND t.tag = " + q.arg(v))
		q.sortKey, q.sortID = "t.created_at", "t.contact_id"
	}
	segment := func(v any) {
		q.from.WriteString(" JOIN segment_member m ON m.contact_id = c.id")
		q.and("m.org_id = $1 AND m.archived = " + q.shelf +
			" AND m.segment_id = (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = " +
			q.arg(v) + ")")
		q.sortKey, q.sortID = "m.created_at", "m.contact_id"
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
			q.sortKey, q.sortID = "a.created_at", "a.contact_id"
		default:
			continue
		}
		return tags, segments, slices.Concat(parts[:i], parts[i+1:])
	}
	return tags, segments, parts
}

func (q *query) rest(f *Filter) {
	switch len(f.Stages) {
	case 0:
	case 1:
		q.and("c.stage = " + q.arg(f.Stages[0]))
	default:
		q.and("c.stage = ANY (" + q.arg(f.Stages) + "::text[])")
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
		q.and("c.id IN (" + q.found(w) + ")")
	}
}

// page appends the start position, the order and the limit.
func (q *query) page(s Sort, after *Position, limit int) (string, error) {
	if err := q.begin(s, after); err != nil {
		return "", err
	}
	d := s.direction()
	return "SELECT " + columns + "\n" + q.from.String() + "\nWHERE " + q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(limit), nil
}

// begin adds the condition for the start position.
func (q *query) begin(s Sort, after *Position) error {
	if after == nil {
		return nil
	}
	key, err := s.parse(after.Key)
	if err != nil {
		return err
	}
	compare := ">"
	if s.direction() != "" {
		compare = "<"
	}
	q.and("(" + q.sortKey + ", " + q.sortID + ") " + compare + " (" + q.arg(key) + ", " + q.arg(after.ID) + ")")
	return nil
}

func (s Sort) direction() string {
	if s == Newest || s == Highest {
		return " DESC"
	}
	return ""
}

// scored reports whether the list needs contact_score rows for its conditions or its order.
func (f *Filter) scored(s Sort) bool {
	return s == Highest || s == Lowest || f.MinScore != nil ||
		f.Where != nil && slices.Contains(f.Where.Fields(), "lead_score")
}

// planning holds the planner settings for list transactions. contact holds the rows of all orgs, so a sequential scan
// is never right, even if it looks cheap next to one large org. Pages are usually cached. A generic plan suits neither
// a tag that every contact has nor one that no contact has. Starting parallel workers takes longer than a page may.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true),
	set_config('plan_cache_mode', 'force_custom_plan', true), set_config('max_parallel_workers_per_gather', '0', true)`

// List returns at most limit contacts selected by f in the order s, starting after a position, or at the beginning if
// after is nil. A position that does not fit s is an error.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) ([]Row, error) {
	f = f.onward(s, after)
	if len(f.Words) > 0 {
		return search(ctx, tx, f, s, after, limit, usual())
	}
	set, err := findSelectiveSet(ctx, tx, f, s, usual().few)
	if err != nil {
		return nil, err
	}
	if set != nil {
		q, sql, err := gather(tx.Org(), f, s, after, limit, set.once)
		if err != nil {
			return nil, err
		}
		return q.list(ctx, tx, sql)
	}
	q := build(tx.Org(), f, s, true)
	sql, err := q.page(s, after, limit)
	if err != nil {
		return nil, err
	}
	return q.list(ctx, tx, sql)
}

// list returns the contacts that sql selects with the arguments of q.
func (q *query) list(ctx context.Context, tx *postgres.Tx, sql string) ([]Row, error) {
	tx.Queue(planning)
	rows, err := tx.Query(ctx, sql, q.args...)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("list contacts: %w", err)
	}
	return found, nil
}

// Position returns the position of r in the order.
func (s Sort) Position(r *Row) Position { return Position{Key: s.key(r), ID: r.ID} }

// key returns the sort key of r as text.
func (s Sort) key(r *Row) string {
	switch s {
	case Highest, Lowest:
		return strconv.FormatFloat(r.LeadScore, 'g', -1, 64)
	case LastName:
		return Fold(r.LastName)
	case Email:
		return Fold(r.Contact.Email)
	case Newest, Oldest:
	}
	return strconv.FormatInt(r.CreatedAt.UnixMicro(), 10)
}

func (s Sort) parse(key string) (any, error) {
	switch s {
	case Highest, Lowest:
		return strconv.ParseFloat(key, 64)
	case LastName, Email:
		return key, nil
	case Newest, Oldest:
	}
	us, err := strconv.ParseInt(key, 10, 64)
	return time.UnixMicro(us).UTC(), err
}

// byKeys holds the planner settings for statements that address rows by key. They use one generic plan, whatever the
// org and the number of rows: if an org has just begun to grow, the statistics say that it has almost no rows, and a
// custom plan would read the whole org in each statement instead of looking up a thousand keys.
const byKeys = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// ByKeys makes the following statements in tx look up rows by key, until Planned is called.
func ByKeys(tx *postgres.Tx) { tx.Queue(byKeys) }

// Planned applies the planner settings of lists to the following statements in tx. Call it before a statement made by
// Selecting.
func Planned(tx *postgres.Tx) { tx.Queue(planning) }
