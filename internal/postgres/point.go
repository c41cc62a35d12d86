package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	pointTime = 5 * time.Second // for one pipeline
	pointLoad = 64              // reads in one pipeline
	pointRoom = 1024            // reads that may wait; one more goes its own way
)

// points carries point reads of many requests through one session: those that come while a pipeline is on its
// way share the next one. Each has a transaction and an org of its own, so that one's error is no other's.
type points struct {
	pool *pgxpool.Pool
	asks chan *pointAsk
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

type pointAsk struct {
	org  string
	sql  string
	args []any
	scan func(pgx.CollectableRow) error
	left atomic.Bool // the asker has gone: its scan must not run
	turn sync.Mutex  // held while scan runs
	err  chan error  // holds one
}

// Point reads one row by its key, under the row policies of org; pgx.ErrNoRows where there is none. scan runs
// in another goroutine, at most once, and never after Point has returned. It is for statements that an index
// answers in microseconds: they wait for each other. Any other read is View's.
func (db *DB) Point(ctx context.Context, org id.ID, sql string, args []any, scan func(pgx.CollectableRow) error) error {
	if db.points == nil {
		return db.lone(ctx, org, sql, args, scan)
	}
	a := &pointAsk{org: org.String(), sql: sql, args: args, scan: scan, err: make(chan error, 1)}
	select {
	case db.points.asks <- a:
	default:
		return db.lone(ctx, org, sql, args, scan)
	}
	select {
	case err := <-a.err:
		return err
	case <-ctx.Done():
		a.leave()
		return ctx.Err()
	case <-db.points.stop:
		a.leave()
		return errClosed
	}
}

var errClosed = errors.New("the database is closed")

// leave keeps the scan from running, and waits for one that runs.
func (a *pointAsk) leave() {
	a.left.Store(true)
	a.turn.Lock()
	defer a.turn.Unlock()
}

// lone is Point without company.
func (db *DB) lone(ctx context.Context, org id.ID, sql string, args []any, scan func(pgx.CollectableRow) error) error {
	return db.View(ctx, org, func(tx *Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return scanOne(rows, scan)
	})
}

func scanOne(rows pgx.Rows, scan func(pgx.CollectableRow) error) error {
	_, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, scan(row) })
	return err
}

func newPoints(pool *pgxpool.Pool) *points {
	p := &points{pool: pool, asks: make(chan *pointAsk, pointRoom), stop: make(chan struct{})}
	p.done.Go(p.sail)
	return p
}

func (p *points) close() {
	p.once.Do(func() { close(p.stop) })
	p.done.Wait()
}

func (p *points) sail() {
	var conn *pgxpool.Conn
	defer func() {
		if conn != nil {
			conn.Release()
		}
	}()
	load := make([]*pointAsk, 0, pointLoad)
	for {
		load = load[:0]
		select {
		case a := <-p.asks:
			load = append(load, a)
		case <-p.stop:
			return
		}
		for len(load) < cap(load) && len(p.asks) > 0 {
			load = append(load, <-p.asks)
		}
		ctx, cancel := context.WithTimeout(context.Background(), pointTime)
		var err error
		if conn == nil {
			conn, err = p.pool.Acquire(ctx)
		}
		if err == nil {
			err = cross(ctx, conn.Conn(), load)
		}
		cancel()
		if err == nil {
			continue
		}
		if _, spoke := errors.AsType[*pgconn.PgError](err); !spoke && Away(err) {
			err = lostError{err} // the time was the pipeline's, and not the caller's
		}
		for _, a := range load { // those that have an answer keep it
			select {
			case a.err <- err:
			default:
			}
		}
		if conn != nil {
			_ = conn.Conn().Close(context.Background())
			conn.Release()
			conn = nil
		}
	}
}

// cross sends the reads as one pipeline and answers each. Its own error is the session's: whoever has no answer
// then shares it.
func cross(ctx context.Context, conn *pgx.Conn, load []*pointAsk) error {
	setting, err := conn.Prepare(ctx, orgSQL, orgSQL)
	if err != nil {
		return err
	}
	sds := make([]*pgconn.StatementDescription, len(load))
	for i, a := range load {
		if sds[i], err = conn.Prepare(ctx, a.sql, a.sql); err != nil {
			return err
		}
	}
	pipe := conn.PgConn().StartPipeline(ctx)
	var eqb pgx.ExtendedQueryBuilder
	for i, a := range load {
		pipe.SendQueryStatement(setting, [][]byte{[]byte(a.org)}, nil, nil)
		if err := eqb.Build(conn.TypeMap(), sds[i], a.args); err != nil {
			return errors.Join(fmt.Errorf("encode arguments: %w", err), pipe.Close())
		}
		pipe.SendQueryStatement(sds[i], eqb.ParamValues, eqb.ParamFormats, eqb.ResultFormats)
		pipe.SendPipelineSync()
	}
	if err := pipe.Flush(); err != nil {
		return errors.Join(err, pipe.Close())
	}
	for _, a := range load {
		if err := a.answer(pipe, conn); err != nil {
			return errors.Join(err, pipe.Close())
		}
	}
	return pipe.Close()
}

// answer reads what belongs to one ask, to its sync.
func (a *pointAsk) answer(pipe *pgconn.Pipeline, conn *pgx.Conn) error {
	var own error
	for n := 0; ; n++ {
		got, err := pipe.GetResults()
		if err != nil {
			if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
				return err
			}
			own = err
			continue
		}
		switch r := got.(type) {
		case *pgconn.ResultReader:
			if n == 0 {
				_, err = r.Close()
			} else {
				err = a.read(pgx.RowsFromResultReader(conn.TypeMap(), r))
			}
			if own == nil {
				own = err
			}
		case *pgconn.PipelineSync:
			a.err <- own
			return nil
		default:
			return fmt.Errorf("pipeline answered %T", got)
		}
	}
}

func (a *pointAsk) read(rows pgx.Rows) error {
	defer rows.Close()
	a.turn.Lock()
	defer a.turn.Unlock()
	if a.left.Load() {
		return context.Canceled
	}
	return scanOne(rows, a.scan)
}
