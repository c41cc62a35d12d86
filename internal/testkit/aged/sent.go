package aged

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Statement is a statement with the arguments that it was first sent with.
type Statement struct {
	SQL  string
	Args []any
}

// Sent keeps each statement that a pool sends, once. It is the pool's tracer.
type Sent struct {
	mu    sync.Mutex
	first map[string]Statement
}

// explainable are the commands of which EXPLAIN shows a plan.
var explainable = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}

func (s *Sent) keep(sql string, args []any) {
	command, _, _ := strings.Cut(squeezed(sql), " ")
	if !slices.Contains(explainable, command) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.first[sql]; !ok {
		s.first[sql] = Statement{SQL: sql, Args: args}
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (s *Sent) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.keep(d.SQL, d.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*Sent) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (s *Sent) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	if d.Batch != nil {
		for _, q := range d.Batch.QueuedQueries {
			s.keep(q.SQL, q.Arguments)
		}
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (*Sent) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*Sent) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// All returns the statements in the order of their texts.
func (s *Sent) All() []Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Statement, 0, len(s.first))
	for _, sql := range slices.Sorted(maps.Keys(s.first)) {
		out = append(out, s.first[sql])
	}
	return out
}

// Planning is what the plan of a statement costs: the locks that it takes, and the shortest time of three plans.
type Planning struct {
	Locks int
	Took  time.Duration
}

// PlanOf has the statement planned three times as the app role in an org, in transactions of conn that end with a
// rollback. Nothing is executed.
func PlanOf(ctx context.Context, conn *pgx.Conn, org id.ID, s Statement) (p Planning, err error) {
	p.Took = time.Hour
	for range 3 {
		if err := p.again(ctx, conn, org, s); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *Planning) again(ctx context.Context, conn *pgx.Conn, org id.ID, s Statement) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `SELECT set_config('role', $1, true), set_config('app.org_id', $2, true),
		set_config('jit', 'off', true)`, postgres.App, org.String()); err != nil {
		return err
	}
	var raw string
	if err := tx.QueryRow(ctx, "EXPLAIN (SUMMARY, FORMAT JSON) "+s.SQL, s.Args...).Scan(&raw); err != nil {
		return err
	}
	var plan []struct {
		Time float64 `json:"Planning Time"` // milliseconds
	}
	if err := json.Unmarshal([]byte(raw), &plan); err != nil || len(plan) == 0 {
		return fmt.Errorf("read plan: %w", err)
	}
	p.Took = min(p.Took, time.Duration(plan[0].Time*float64(time.Millisecond)))
	return tx.QueryRow(ctx, `SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'
		AND relation >= 16384`).Scan(&p.Locks)
}
