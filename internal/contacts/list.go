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

// Filter says which contacts a list holds. The zero Filter holds every live one.
type Filter struct {
	Stages        []string // any of; so are Tags and Segments
	Tags          []string
	Segments      []string // keys
	Words         []string // folded, see Words: each is the beginning of a word of name, email or company
	Company       *id.ID
	Owner         *id.ID
	MinScore      *float64
	CreatedAfter  *time.Time     // exclusive
	CreatedBefore *time.Time     // exclusive
	Archived      bool           // the archived ones instead of the live ones
	Where         *filter.Filter // and what it says of fields, see ParseFilter; nil says nothing
	begun         Sort           // "" or the order of creation in which a page before has met the contacts up to some time
}

// Sort is an order of a list, as its parameter names it. Ties are broken by id.
type Sort string

// The orders.
const (
	Newest   Sort = "-created_at"
	Oldest   Sort = "created_at"
	Highest  Sort = "-lead_score"
	Lowest   Sort = "lead_score"
	LastName Sort = "last_name"
	Email    Sort = "email"
)

// Position is a place in a sorted list: just after the contact ID, whose sort key is Key. Its form is private to the
// list; a Position made for one Sort is an error under another.
type Position struct {
	Key string `json:"k"`
	ID  id.ID  `json:"i"`
}

// query is a list in the making: FROM and WHERE with their arguments.
type query struct {
	from, where strings.Builder
	args        []any
	sortKey     string // the columns of the order
	sortID      string
	shelf       string // "true" for archived contacts, as the rows that they are found by say it
	live        string // the same of contact.archived_at: IS NULL, IS NOT NULL
}

// arg adds an argument and answers its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

func (q *query) and(cond string) { q.where.WriteString("\n AND " + cond) }

// build writes the query of f. $1 is the org.
//
// Where rows of their own cannot drive the list, see drive, the planner chooses between walking the order and gathering
// the rows. Only leakproof operators appear where an index is to serve, see the migration.
//
// whole is for a query that answers contacts with their scores; else the rows s are there only where f or the order
// reads them.
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
		q.and("EXISTS (" + q.rows("segment") + " AND m.segment_id IN (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = ANY (" + q.arg(segments) + "::text[])))")
	}
	q.rest(f)
	for _, part := range parts {
		q.and(part.SQL(q.column, q.arg))
	}
	return q
}

// start is a query of which nothing is said yet but whose contacts it is about, and whether live ones.
func start(org id.ID, f *Filter) *query {
	q := &query{sortKey: "c.created_at", sortID: "c.id", shelf: "false", live: "IS NULL"}
	q.arg(org)
	if f.Archived {
		q.shelf, q.live = "true", "IS NOT NULL"
	}
	return q
}

// parts are what must hold of each contact beside the list's own parameters.
func (f *Filter) parts() []*filter.Filter {
	if f.Where == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.Where.Conjuncts()), func(part *filter.Filter) bool {
		field, op, _, ok := part.Term()
		return ok && field == "created_at" &&
			(f.begun == Newest && (op == filter.Lt || op == filter.Lte) || f.begun == Oldest && (op == filter.Gt || op == filter.Gte))
	})
}

// onward is f for a page after a position: a bound that every contact beyond the position keeps is not asked again. A
// scan of the index would begin at that bound, and not at the position.
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

// drive lets the rows of one tag, segment or custom field's value drive the list, if it asks for just one of any: they
// lie in the order of creation. It answers what is left to ask.
//
// The rows hang on the contact by its id alone, though they have its time as well: of two equations the planner would
// take each for as rare as the other, and expect no rows at all.
func (q *query) drive(tags, segments []string, parts []*filter.Filter) (restTags, restSegments []string, rest []*filter.Filter) {
	tag := func(v any) {
		q.from.WriteString(" JOIN contact_tag t ON t.contact_id = c.id")
		q.and("t.org_id = $1 AND t.archived = " + q.shelf + " AND t.tag = " + q.arg(v))
		q.sortKey, q.sortID = "t.created_at", "t.contact_id"
	}
	segment := func(v any) {
		q.from.WriteString(" JOIN segment_member m ON m.contact_id = c.id")
		q.and("m.org_id = $1 AND m.archived = " + q.shelf + " AND m.segment_id = (SELECT id FROM segment WHERE org_id = $1 AND archived_at IS NULL AND key = " + q.arg(v) + ")")
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

// page adds the place to begin at, the order and the limit.
func (q *query) page(s Sort, after *Position, limit int) (string, error) {
	if err := q.begin(s, after); err != nil {
		return "", err
	}
	d := s.direction()
	return "SELECT " + columns + "\n" + q.from.String() + "\nWHERE " + q.where.String() +
		"\nORDER BY " + q.sortKey + d + ", " + q.sortID + d + "\nLIMIT " + q.arg(limit), nil
}

// begin adds the place to begin at.
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

// scored tells whether the list needs the rows of contact_score to choose and to sort.
func (f *Filter) scored(s Sort) bool {
	return s == Highest || s == Lowest || f.MinScore != nil || f.Where != nil && slices.Contains(f.Where.Fields(), "lead_score")
}

// planning is set for the transaction of a list: contact holds every org's rows, so that reading a whole table is never
// right however cheap it looks beside one large org; pages are in memory more often than not; a plan made for no
// value in particular suits neither a tag that everybody has nor one that nobody has; and to start further processes
// takes longer than a page may.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('random_page_cost', '1.1', true),
	set_config('plan_cache_mode', 'force_custom_plan', true), set_config('max_parallel_workers_per_gather', '0', true)`

// List answers at most limit contacts of f in the order s, beginning after a position or, with nil, at the start. A
// position that does not fit s is an error.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, s Sort, after *Position, limit int) ([]Row, error) {
	f = f.onward(s, after)
	if len(f.Words) > 0 {
		return search(ctx, tx, f, s, after, limit, usual())
	}
	set, err := rare(ctx, tx, f, s, usual().few)
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

// list answers the contacts that sql selects with the arguments of q.
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

// Position is where r stands in the order.
func (s Sort) Position(r *Row) Position { return Position{Key: s.key(r), ID: r.ID} }

// key is the sort key of r as text.
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

// byKeys is for statements that name their rows by keys. One plan serves them all, whatever the org and however many rows:
// of an org that has just begun to grow the statistics say that it has next to none, so that a plan made for it reads the
// whole org for each statement instead of looking a thousand keys up.
const byKeys = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// ByKeys makes the statements that follow in tx look rows up by the keys that they name, until Planned.
func ByKeys(tx *postgres.Tx) { tx.Queue(byKeys) }

// Planned makes the statements that follow in tx plan as lists do. It belongs before what is made by Selecting.
func Planned(tx *postgres.Tx) { tx.Queue(planning) }
