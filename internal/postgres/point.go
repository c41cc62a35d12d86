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
	"github.com/jackc/pgx/v5/pgtype"
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
	left atomic.Bool // the asker has gone: its args and its scan must not be used
	turn sync.Mutex  // held while args are encoded and while scan runs
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

// leave keeps the arguments and the scan from being used, and waits for a use under way.
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

// cross sends the reads as one pipeline and answers each. The error that it returns is the session's: every read
// without an answer then shares it. What is wrong with one read, its SQL or its arguments, is that read's alone.
func cross(ctx context.Context, conn *pgx.Conn, load []*pointAsk) error {
	setting, err := conn.Prepare(ctx, orgSQL, orgSQL)
	if err != nil {
		return err
	}
	queries := make([]pointQuery, 0, len(load))
	for _, a := range load {
		statement, err := conn.Prepare(ctx, a.sql, a.sql)
		if err != nil {
			if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
				return err
			}
			a.err <- err
			continue
		}
		if q, ok := a.encode(conn.TypeMap(), statement); ok {
			queries = append(queries, q)
		}
	}
	if len(queries) == 0 {
		return nil
	}
	pipe := conn.PgConn().StartPipeline(ctx)
	for _, q := range queries {
		pipe.SendQueryStatement(setting, [][]byte{[]byte(q.ask.org)}, nil, nil)
		pipe.SendQueryStatement(q.statement, q.values, q.formats, q.results)
		pipe.SendPipelineSync()
	}
	if err := pipe.Flush(); err != nil {
		return errors.Join(err, pipe.Close())
	}
	var stale error
	for _, q := range queries {
		own, err := q.ask.answer(pipe, conn)
		if err != nil {
			return errors.Join(err, pipe.Close())
		}
		if Code(own) == staleStatement {
			stale = own // the session's prepared statements are older than the schema: the next pipeline takes a new one
		}
	}
	return errors.Join(stale, pipe.Close())
}

// staleStatement is the SQLSTATE of a prepared statement whose columns have changed their types.
const staleStatement = "0A000"

// pointQuery is one read as it goes into the pipeline. Its slices are its own: the pipeline keeps results until the
// rows are read, long after the next query was encoded.
type pointQuery struct {
	ask       *pointAsk
	statement *pgconn.StatementDescription
	values    [][]byte
	formats   []int16 // of values
	results   []int16 // of the columns
}

// encode encodes the arguments by the types of the statement's parameters. Where it cannot, or where the asker has
// gone and may use its arguments for something else, it answers the ask and reports false.
func (a *pointAsk) encode(types *pgtype.Map, statement *pgconn.StatementDescription) (pointQuery, bool) {
	a.turn.Lock()
	defer a.turn.Unlock()
	if a.left.Load() {
		a.err <- context.Canceled
		return pointQuery{}, false
	}
	var b pgx.ExtendedQueryBuilder // one for each query: Build overwrites what it returned before
	if err := b.Build(types, statement, a.args); err != nil {
		a.err <- fmt.Errorf("encode arguments: %w", err)
		return pointQuery{}, false
	}
	return pointQuery{a, statement, b.ParamValues, b.ParamFormats, b.ResultFormats}, true
}

// answer reads the results of one ask up to its sync, and returns the error that the ask got; err is the session's.
func (a *pointAsk) answer(pipe *pgconn.Pipeline, conn *pgx.Conn) (own, err error) {
	for n := 0; ; n++ {
		got, err := pipe.GetResults()
		if err != nil {
			if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
				return own, err
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
			return own, nil
		default:
			return own, fmt.Errorf("pipeline answered %T", got)
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
