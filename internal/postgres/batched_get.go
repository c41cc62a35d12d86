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

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	pointTime = 5 * time.Second // timeout of one pipeline
	pointLoad = 64              // reads in one pipeline
	pointRoom = 1024            // maximum waiting reads; beyond it a read uses its own session
)

// getBatcher sends point reads of many requests through one session. Reads that arrive while a pipeline is in flight
// share the next one. Each read has its own transaction and org, so the error of one does not affect the others.
type getBatcher struct {
	pool *pgxpool.Pool
	asks *batch.Batcher[*batchedGet]
	conn *pgxpool.Conn // nil before the first read and after a failure

	stale atomic.Bool // the next pipeline needs a new session
}

type batchedGet struct {
	org     string
	sql     string
	args    []any
	scan    func(pgx.CollectableRow) error
	left    atomic.Bool // the caller has returned: its args and its scan must not be used
	turn    sync.Mutex  // held while args are encoded and while scan runs
	scanned bool        // scan was called
	err     chan error  // capacity 1
}

// BatchedGet reads one row by its key, under the row policies of org. It returns pgx.ErrNoRows if there is none. It
// calls scan in another goroutine, at most once, and never after BatchedGet has returned. It is for statements that an
// index serves in microseconds, since they wait for each other. For other reads use ReadTx.
func (db *DB) BatchedGet(ctx context.Context, org id.ID, sql string, args []any,
	scan func(pgx.CollectableRow) error,
) error {
	g := &batchedGet{org: org.String(), sql: sql, args: args, scan: scan, err: make(chan error, 1)}
	if db.points == nil || !db.points.asks.Add(g) {
		return db.getAlone(ctx, org, sql, args, scan)
	}
	select {
	case err := <-g.err:
		if Lost(err) && !g.scanned && ctx.Err() == nil { // the shared session had ended
			return db.getAlone(ctx, org, sql, args, scan)
		}
		return err
	case <-ctx.Done():
		g.releaseArgs()
		return ctx.Err()
	}
}

// releaseArgs prevents further use of the arguments and of scan, and waits for a current use.
func (g *batchedGet) releaseArgs() {
	g.left.Store(true)
	g.turn.Lock()
	defer g.turn.Unlock()
}

// getAlone is BatchedGet in a separate session.
func (db *DB) getAlone(ctx context.Context, org id.ID, sql string, args []any,
	scan func(pgx.CollectableRow) error,
) error {
	return db.ReadTx(ctx, org, func(tx *Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return scanOne(rows, scan)
	})
}

func scanOne(rows pgx.Rows, scan func(pgx.CollectableRow) error) error {
	_, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, scan(row)
	})
	return err
}

func newGetBatcher(pool *pgxpool.Pool) *getBatcher {
	b := &getBatcher{pool: pool}
	b.asks = batch.New(batch.Options[*batchedGet]{
		Most: pointLoad, Queued: pointRoom, Timeout: pointTime, Send: b.sendBatch,
	})
	return b
}

func (b *getBatcher) close() {
	b.asks.Close(context.Background())
	if b.conn != nil {
		b.conn.Release()
	}
}

// sendBatch delivers the results of all reads. There is one call at a time.
func (b *getBatcher) sendBatch(ctx context.Context, load []*batchedGet) (err error) {
	if b.stale.Swap(false) && b.conn != nil {
		b.conn.Release()
		b.conn = nil
	}
	if b.conn == nil {
		b.conn, err = b.pool.Acquire(ctx)
	}
	if err == nil {
		err = roundTrip(ctx, b.conn.Conn(), load)
	}
	if err == nil {
		return nil
	}
	if _, spoke := errors.AsType[*pgconn.PgError](err); !spoke && Away(err) {
		err = lostError{err} // the pipeline timed out, not the caller
	}
	for _, a := range load { // reads with a result keep it
		select {
		case a.err <- err:
		default:
		}
	}

	if b.conn != nil {
		_ = b.conn.Conn().Close(context.WithoutCancel(ctx))
		b.conn.Release()
		b.conn = nil
	}

	return err
}

// roundTrip sends the reads as one pipeline and delivers each result. The error that it returns is the session's and is
// shared by every read without a result. An error of one read, in its SQL or its arguments, affects that read alone.
func roundTrip(ctx context.Context, conn *pgx.Conn, load []*batchedGet) error {
	setting, err := conn.Prepare(ctx, orgSQL, orgSQL)
	if err != nil {
		return err
	}

	queries := make([]boundQuery, 0, len(load))
	for _, a := range load {
		statement, err := conn.Prepare(ctx, a.sql, a.sql)
		if err != nil {
			if _, ok := errors.AsType[*pgconn.PgError](err); !ok {
				return err
			}
			a.err <- err
			continue
		}
		if q, ok := a.encodeArgs(conn.TypeMap(), statement); ok {
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
		own, err := q.ask.readResults(pipe, conn)
		if err != nil {
			return errors.Join(err, pipe.Close())
		}
		if Code(own) == staleStatement {
			// The session's prepared statements are older than the schema: the next pipeline uses a new session.
			stale = own
		}
	}

	return errors.Join(stale, pipe.Close())
}

// staleStatement is the SQLSTATE for a prepared statement whose column types have changed.
const staleStatement = "0A000"

// boundQuery is one encoded read of the pipeline. It does not share its slices: the pipeline keeps results until the
// rows are read, long after the next query was encoded.
type boundQuery struct {
	ask       *batchedGet
	statement *pgconn.StatementDescription
	values    [][]byte
	formats   []int16 // of the values
	results   []int16 // of the columns
}

// encodeArgs encodes the arguments by the types of the statement's parameters. It reports false if that fails, after
// delivering the error, or if the caller has returned and may use its arguments for something else.
func (g *batchedGet) encodeArgs(types *pgtype.Map, statement *pgconn.StatementDescription) (boundQuery, bool) {
	g.turn.Lock()
	defer g.turn.Unlock()
	if g.left.Load() {
		g.err <- context.Canceled
		return boundQuery{}, false
	}
	var b pgx.ExtendedQueryBuilder // one per query: Build overwrites what it returned before
	if err := b.Build(types, statement, g.args); err != nil {
		g.err <- fmt.Errorf("encode arguments: %w", err)
		return boundQuery{}, false
	}
	return boundQuery{g, statement, b.ParamValues, b.ParamFormats, b.ResultFormats}, true
}

// readResults reads the results of one read up to its sync. It returns the read's error, and in err the session's.
func (g *batchedGet) readResults(pipe *pgconn.Pipeline, conn *pgx.Conn) (own, err error) {
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
				err = g.scanRow(pgx.RowsFromResultReader(conn.TypeMap(), r))
			}
			if own == nil {
				own = err
			}
		case *pgconn.PipelineSync:
			g.err <- own
			return own, nil
		default:
			return own, fmt.Errorf("unexpected pipeline result %T", got)
		}
	}
}

func (g *batchedGet) scanRow(rows pgx.Rows) error {
	defer rows.Close()
	g.turn.Lock()
	defer g.turn.Unlock()
	if g.left.Load() {
		return context.Canceled
	}
	g.scanned = true
	return scanOne(rows, g.scan)
}
