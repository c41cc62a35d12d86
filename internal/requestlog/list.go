package requestlog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Kept is for how long requests are shown. Their days are dropped within a day after that.
const Kept = 7 * 24 * time.Hour

// Filter selects requests of an org. The zero Filter selects all.
type Filter struct {
	RequestID string
	Route     string
	// Statuses from StatusFrom to StatusTo, both inclusive; 0 means any.
	StatusFrom, StatusTo int
	Key, User            id.ID
	From, To             time.Time // From is inclusive, To exclusive
}

// Logged is a request of the log.
type Logged struct {
	ID        id.ID
	RequestID string
	Method    string
	Route     string
	Status    int
	Code      string
	Took      time.Duration
	Key, User id.ID // zero: none
	Body      json.RawMessage
	Errors    []LoggedError
}

// planning makes Postgres use an index of the days that the ids name.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`

// List returns the requests of tx's org that f selects, newest first, beginning after below; a zero below begins at the
// newest.
func List(ctx context.Context, tx *postgres.Tx, f *Filter, below id.ID, limit int) ([]Logged, error) {
	sql, args := f.listSQL(tx.Org(), below, limit)
	tx.Queue(planning)
	tx.Queue(postgres.PlanByDay)
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read request log: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanLogged)
	if err != nil {
		return nil, fmt.Errorf("read request log: %w", err)
	}

	return all, nil
}

func scanLogged(row pgx.CollectableRow) (l Logged, err error) {
	var microseconds int64
	var errors []byte
	if err := row.Scan(&l.ID, &l.RequestID, &l.Method, &l.Route, &l.Status, &l.Code, &microseconds, &l.Key, &l.User,
		&l.Body, &errors); err != nil {
		return l, err
	}

	l.Took = time.Duration(microseconds) * time.Microsecond
	if len(errors) > 0 {
		err = json.Unmarshal(errors, &l.Errors)
	}

	return l, err
}

// failureStatus is the least status of the requests in the index request_log_failed.
const failureStatus = 400

// listSQL returns the statement of List.
func (f *Filter) listSQL(org, below id.ID, limit int) (sql string, args []any) {
	sql = `SELECT id, request_id, method, route, status, code, took_us, coalesce(key_id, $2), coalesce(user_id, $2),
		body, errors FROM request_log WHERE org_id = $1`
	args = []any{org, id.ID{}}
	and := func(condition string, value any) {
		args = append(args, value)
		sql += " AND " + condition + " $" + strconv.Itoa(len(args))
	}

	from := time.Now().Add(-Kept)
	if f.From.After(from) {
		from = f.From
	}
	and("id >=", id.Floor(from.Add(time.Millisecond-1))) // ids have milliseconds
	if !f.To.IsZero() {
		and("id <", id.Floor(f.To.Add(time.Millisecond-1)))
	}
	if !below.IsZero() {
		and("id <", below)
	}

	if f.RequestID != "" {
		and("request_id =", f.RequestID)
	}
	if f.Route != "" {
		and("route =", f.Route)
	}
	if f.StatusFrom > 0 {
		and("status >=", f.StatusFrom)
		and("status <=", f.StatusTo)
	}
	if f.StatusFrom >= failureStatus {
		sql += " AND status >= " + strconv.Itoa(failureStatus)
	}
	if !f.Key.IsZero() {
		and("key_id =", f.Key)
	}
	if !f.User.IsZero() {
		and("user_id =", f.User)
	}

	args = append(args, limit)
	return sql + " ORDER BY id DESC LIMIT $" + strconv.Itoa(len(args)), args
}
