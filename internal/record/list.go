package record

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Query builds the conditions of a list.
type Query struct {
	where strings.Builder
	args  []any
}

// Where returns a query for an org's live records, or for its archived ones. $1 is the org.
func Where(org id.ID, archived bool) *Query {
	q := &Query{args: []any{org}}
	q.where.WriteString("org_id = $1 AND archived_at IS ")
	if archived {
		q.where.WriteString("NOT ")
	}
	q.where.WriteString("NULL")
	return q
}

// Arg adds an argument and returns its placeholder.
func (q *Query) Arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// And adds a condition. Under row-level security an index serves only leakproof operators: = < > of uuid, text, times,
// numbers and booleans.
func (q *Query) And(condition string) { q.where.WriteString(" AND " + condition) }

// Is adds the condition that the column equals the value, if value is not nil.
func (q *Query) Is(column string, value *id.ID) {
	if value != nil {
		q.And(column + " = " + q.Arg(*value))
	}
}

// Order is an order of a list. Ties are broken by id.
type Order[T any] struct {
	Column string // never null
	Type   string // the column's SQL type
	Down   bool
	Key    func(*T) string // returns the column's value in a record, as Postgres parses it
}

// Position is a position in a sorted list: just after the record ID, which has the sort key Key.
type Position struct {
	Key string `json:"k"`
	ID  id.ID  `json:"i"`
}

// Position returns the position of a record in the order.
func (o *Order[T]) Position(r *T, i id.ID) Position { return Position{Key: o.Key(r), ID: i} }

// Planning holds the planner settings for list transactions. A table holds the rows of all orgs, so a sequential scan
// is never right, even if it looks cheap next to one large org. Pages are usually cached. Plans are made for the actual
// argument values.
const Planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true)`

// List returns at most limit records of q in the order o, starting after a position, or at the beginning if after is
// nil.
func (t *Table[T]) List(ctx context.Context, tx *postgres.Tx, q *Query, o Order[T], after *Position,
	limit int,
) ([]Row[T], error) {
	sql, args := t.Page(q, o, after, limit)
	tx.Queue(Planning)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", t.Name, err)
	}
	found, err := pgx.CollectRows(rows, t.scan)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", t.Name, err)
	}
	return found, nil
}

// Page returns the statement of List.
func (t *Table[T]) Page(q *Query, o Order[T], after *Position, limit int) (sql string, args []any) {
	page := Query{args: append([]any(nil), q.args...)}
	page.where.WriteString(q.where.String())
	compare, direction := ">", ""
	if o.Down {
		compare, direction = "<", " DESC"
	}
	if after != nil {
		page.And("(" + o.Column + ", id) " + compare + " (" + page.Arg(after.Key) + "::" + o.Type + ", " +
			page.Arg(after.ID) + ")")
	}
	return "SELECT " + t.columns() + " FROM " + t.Name + " WHERE " + page.where.String() +
		" ORDER BY " + o.Column + direction + ", id" + direction + " LIMIT " + page.Arg(limit), page.args
}

// counted is the number up to which an estimate counts before it uses the planner.
const counted = 1000

// Count returns the exact number of records that q selects. Its cost is proportional to that number.
func (t *Table[T]) Count(ctx context.Context, tx *postgres.Tx, q *Query) (n int64, err error) {
	tx.Queue(Planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+t.Name+" WHERE "+q.where.String(), q.args, &n); err != nil {
		return 0, fmt.Errorf("count %s: %w", t.Name, err)
	}
	return n, nil
}

// Estimate returns the number of records that q selects. It is exact up to 1,000; above that it is the planner's
// estimate, at least 1,001.
func (t *Table[T]) Estimate(ctx context.Context, tx *postgres.Tx, q *Query) (n int64, err error) {
	inner := "SELECT 1 FROM " + t.Name + " WHERE " + q.where.String()
	tx.Queue(Planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM ("+inner+" LIMIT "+strconv.Itoa(counted+1)+") AS first", q.args,
		&n); err != nil {
		return 0, fmt.Errorf("count %s: %w", t.Name, err)
	}
	if n <= counted {
		return n, nil
	}
	expected, err := tx.ExpectedRows(ctx, inner, q.args)
	if err != nil {
		return 0, fmt.Errorf("estimate %s: %w", t.Name, err)
	}
	return max(n, expected), nil
}
