package record

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Query is which records a list holds, in the making.
type Query struct {
	where strings.Builder
	args  []any
}

// Where begins the query of an org's live records, or of the archived ones instead. $1 is the org.
func Where(org id.ID, archived bool) *Query {
	q := &Query{args: []any{org}}
	q.where.WriteString("org_id = $1 AND archived_at IS ")
	if archived {
		q.where.WriteString("NOT ")
	}
	q.where.WriteString("NULL")
	return q
}

// Arg adds an argument and answers its placeholder.
func (q *Query) Arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// And narrows the query. Only operators that are leakproof use an index under row policies: = < > of uuid, text, times,
// numbers and booleans.
func (q *Query) And(condition string) { q.where.WriteString(" AND " + condition) }

// Is narrows to rows whose column is the value, where one is given.
func (q *Query) Is(column string, value *id.ID) {
	if value != nil {
		q.And(column + " = " + q.Arg(*value))
	}
}

// Order is an order of a list. Ties are broken by id.
type Order[T any] struct {
	Column string // never null
	Type   string // of the column, as SQL names it
	Down   bool
	Key    func(*T) string // the column's value in a record, as Postgres reads it
}

// Position is a place in a sorted list: just after the record ID, whose sort key is Key.
type Position struct {
	Key string `json:"k"`
	ID  id.ID  `json:"i"`
}

// Position is where a record stands in the order.
func (o *Order[T]) Position(r *T, i id.ID) Position { return Position{Key: o.Key(r), ID: i} }

// Planning is set for the transaction of a list: a table holds every org's rows, so that reading all of it is never
// right however cheap it looks beside one large org; pages are in memory more often than not; and a plan is made for
// the values that were asked for.
const Planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true)`

// List answers at most limit records of q in the order o, beginning after a position or, with nil, at the start.
func (t *Table[T]) List(ctx context.Context, tx *postgres.Tx, q *Query, o Order[T], after *Position, limit int) ([]Row[T], error) {
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

// Page is the statement of List.
func (t *Table[T]) Page(q *Query, o Order[T], after *Position, limit int) (sql string, args []any) {
	page := Query{args: append([]any(nil), q.args...)}
	page.where.WriteString(q.where.String())
	compare, direction := ">", ""
	if o.Down {
		compare, direction = "<", " DESC"
	}
	if after != nil {
		page.And("(" + o.Column + ", id) " + compare + " (" + page.Arg(after.Key) + "::" + o.Type + ", " + page.Arg(after.ID) + ")")
	}
	return "SELECT " + t.columns() + " FROM " + t.Name + " WHERE " + page.where.String() +
		" ORDER BY " + o.Column + direction + ", id" + direction + " LIMIT " + page.Arg(limit), page.args
}

// counted is how far an estimate counts before it asks the planner.
const counted = 1000

// Count answers how many records q holds, exactly: its cost grows with the answer.
func (t *Table[T]) Count(ctx context.Context, tx *postgres.Tx, q *Query) (n int64, err error) {
	tx.Queue(Planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM "+t.Name+" WHERE "+q.where.String(), q.args, &n); err != nil {
		return 0, fmt.Errorf("count %s: %w", t.Name, err)
	}
	return n, nil
}

// Estimate is exact up to 1,000; beyond, it is what the planner expects from its statistics, at least 1,001.
func (t *Table[T]) Estimate(ctx context.Context, tx *postgres.Tx, q *Query) (n int64, err error) {
	inner := "SELECT 1 FROM " + t.Name + " WHERE " + q.where.String()
	tx.Queue(Planning)
	if err := tx.QueryRow(ctx, "SELECT count(*) FROM ("+inner+" LIMIT "+strconv.Itoa(counted+1)+") AS first", q.args, &n); err != nil {
		return 0, fmt.Errorf("count %s: %w", t.Name, err)
	}
	if n <= counted {
		return n, nil
	}
	var (
		raw  []byte
		plan []struct {
			Plan struct {
				Rows float64 `json:"Plan Rows"`
			}
		}
	)
	if err := tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+inner, q.args, &raw); err != nil {
		return 0, fmt.Errorf("estimate %s: %w", t.Name, err)
	}
	if err := json.Unmarshal(raw, &plan); err != nil || len(plan) == 0 {
		return 0, fmt.Errorf("read plan: %w", err)
	}
	return max(n, int64(plan[0].Plan.Rows)), nil
}
