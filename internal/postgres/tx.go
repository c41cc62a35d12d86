package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// Tx is one transaction of one org, or, from ReadTx, a series of single reads of one org. It is not safe for concurrent
// use and must not be used after the function that received it has returned.
type Tx struct {
	db   *DB
	org  id.ID
	view bool // it only reads
	// snapshot is set for a view whose statements are one transaction with one snapshot.
	snapshot bool
	conn     *pgxpool.Conn // nil until the first result was requested
	begun    bool
	pending  []*pgx.QueuedQuery
	notes    []any
	saves    int
	ordinal  int
	values   map[any]any
	over     context.Context //nolint:containedctx // its end cancels every statement; nil: see ReadTxWhile
	ends     []func()        // release what derives from over
}

// Tx runs fn in a transaction that sees only the rows of org, and commits if fn returns nil. A nil error means that it
// committed. After the commit the notes are passed to Options.AfterCommit. The zero org sees the platform's own rows.
// Under the System role org has no effect.
//
// If the context ends during the commit, the outcome is unknown.
func (db *DB) Tx(ctx context.Context, org id.ID, fn func(*Tx) error) (err error) {
	tx := &Tx{db: db, org: org}
	defer func() { tx.releaseSession() }()
	if err = fn(tx); err != nil {
		return tx.classify(ctx, err, tx.isClosed())
	}
	if err = tx.commit(ctx); err != nil {
		db.writes.observeError(ctx, err, true)
		return tx.classify(ctx, err, tx.conn == nil || tx.isClosed())
	}
	if len(tx.notes) > 0 && db.after != nil {
		db.after(ctx, tx.notes)
	}
	return nil
}

// ReadTx runs fn for reading. Each Query, with the statements queued before it, is one round trip with its own
// snapshot. Use SnapshotTx if several reads make one response.
func (db *DB) ReadTx(ctx context.Context, org id.ID, fn func(*Tx) error) error {
	return db.readTx(ctx, &Tx{db: db, org: org, view: true}, fn)
}

// ReadTxWhile is ReadTx whose statements are also canceled when over ends, even if fn passes them another context.
func (db *DB) ReadTxWhile(ctx, over context.Context, org id.ID, fn func(*Tx) error) error {
	return db.readTx(ctx, &Tx{db: db, org: org, view: true, over: over}, fn)
}

// SnapshotTx is ReadTx whose statements all see the database as it was at the first of them: a response made of several
// reads is of one moment. It costs one round trip more than ReadTx.
func (db *DB) SnapshotTx(ctx context.Context, org id.ID, fn func(*Tx) error) error {
	return db.readTx(ctx, &Tx{db: db, org: org, view: true, snapshot: true}, fn)
}

// SnapshotTxWhile is to SnapshotTx what ReadTxWhile is to ReadTx.
func (db *DB) SnapshotTxWhile(ctx, over context.Context, org id.ID, fn func(*Tx) error) error {
	return db.readTx(ctx, &Tx{db: db, org: org, view: true, snapshot: true, over: over}, fn)
}

func (db *DB) readTx(ctx context.Context, tx *Tx, fn func(*Tx) error) error {
	defer func() { tx.releaseSession() }()
	if err := fn(tx); err != nil {
		return tx.classify(ctx, err, tx.isClosed())
	}
	if err := tx.Flush(ctx); err != nil {
		return tx.classify(ctx, err, tx.isClosed())
	}
	return nil
}

// isWhole reports whether the statements are one transaction.
func (tx *Tx) isWhole() bool { return !tx.view || tx.snapshot }

// isClosed reports whether the transaction's session is closed. It has none if it ended and could not be replaced.
func (tx *Tx) isClosed() bool {
	if tx.conn == nil {
		return tx.begun
	}
	return tx.conn.Conn().IsClosed()
}

// classify marks err for Lost if the session ended, unless the caller's context ended it.
func (tx *Tx) classify(ctx context.Context, err error, over bool) error {
	tx.db.writes.observeError(ctx, err, false)
	if _, spoke := errors.AsType[*pgconn.PgError](err); over && !spoke && ctx.Err() == nil && Away(err) {
		return lostError{err}
	}
	return err
}

// traceSQL sets the span that rows of the transaction are added by. It is the default of their column traceparent.
const traceSQL = "SELECT set_config('app.traceparent', $1, true)"

// Trace makes the context's span the one that the transaction's further rows are added by. A transaction begins with
// that of the context of its first round trip.
func (tx *Tx) Trace(ctx context.Context) {
	if above := spans.Traceparent(ctx); above != "" {
		tx.Queue(traceSQL, above)
	}
}

// Org returns the org of the transaction.
func (tx *Tx) Org() id.ID { return tx.org }

// Queue adds a statement without waiting for its result. It is sent with the next Query, Exec or Flush, at the latest
// with the commit, and its error ends the transaction there. Callbacks on the result (Exec, QueryRow, Query of the
// returned value) run then and may only observe it: if the statement is sent with the commit, a callback's error comes
// too late to roll back. A condition of the commit must raise an error in the server, or be awaited.
func (tx *Tx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	q := &pgx.QueuedQuery{SQL: sql, Arguments: args}
	tx.pending = append(tx.pending, q)
	return q
}

// AfterCommit adds v to the notes that Options.AfterCommit receives. A rolled back transaction drops them.
func (tx *Tx) AfterCommit(v any) { tx.notes = append(tx.notes, v) }

// PoolValue returns the value of key that is stored with the pool of tx. The first call makes it with create. It is
// safe for concurrent use, and is independent of commits.
func (tx *Tx) PoolValue(key any, create func() any) any {
	if v, ok := tx.db.kept.Load(key); ok {
		return v
	}
	v, _ := tx.db.kept.LoadOrStore(key, create())
	return v
}

// Value returns what SetValue stored under key, or nil.
func (tx *Tx) Value(key any) any { return tx.values[key] }

// SetValue stores v with tx. A rollback to a savepoint does not undo it, so v must not depend on what tx has written.
func (tx *Tx) SetValue(key, v any) {
	if tx.values == nil {
		tx.values = map[any]any{}
	}
	tx.values[key] = v
}

// Ordinal returns the next number, from 0: the position of a row among those of its kind that this transaction writes.
func (tx *Tx) Ordinal() int {
	tx.ordinal++
	return tx.ordinal - 1
}

// Query sends sql immediately. The caller must close the rows, as pgx.CollectRows and its kin do, before the next use
// of tx.
func (tx *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	r, br, err := tx.sendQuery(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return &rows{Rows: r, br: br}, nil
}

// QueryRow sends sql immediately and scans its first row into dst. It returns pgx.ErrNoRows if there is none.
func (tx *Tx) QueryRow(ctx context.Context, sql string, args []any, dst ...any) error {
	r, br, err := tx.sendQuery(ctx, sql, args)
	if err != nil {
		return err
	}
	err = scanFirst(r, dst)
	return errors.Join(err, closeResults(err, br))
}

// Exec sends sql immediately and returns the number of affected rows.
func (tx *Tx) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	br, err := tx.sendPending(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return 0, err
	}
	tag, err := br.Exec()
	if err = errors.Join(err, closeResults(err, br)); err != nil {
		return 0, err
	}
	return tag.RowsAffected(), nil
}

// Flush sends the queued statements and waits for their results.
func (tx *Tx) Flush(ctx context.Context) error {
	if len(tx.pending) == 0 {
		return nil
	}
	br, err := tx.sendPending(ctx, nil)
	if err != nil {
		return err
	}
	return br.Close()
}

// Savepoint runs fn. An error of fn rolls back fn's work alone: its rows, its queued statements and its notes.
func (tx *Tx) Savepoint(ctx context.Context, fn func() error) error {
	tx.saves++
	name, notes := fmt.Sprintf("s%d", tx.saves), len(tx.notes)
	tx.Queue("SAVEPOINT " + name)
	if err := tx.Flush(ctx); err != nil {
		return err
	}

	err := fn()
	if err == nil {
		tx.Queue("RELEASE SAVEPOINT " + name)
		err = tx.Flush(ctx)
	}
	if err == nil {
		return nil
	}

	tx.pending, tx.notes = nil, tx.notes[:notes]
	if tx.conn == nil || tx.conn.Conn().IsClosed() {
		return err
	}
	if _, back := tx.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT "+name); back != nil {
		return errors.Join(err, back)
	}

	return err
}

// addPreamble adds the statements that precede the first statement of a transaction.
func (tx *Tx) addPreamble(ctx context.Context, b *pgx.Batch, begin bool) int {
	n := 1
	switch {
	case begin && tx.snapshot:
		b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
		n++
	case begin:
		b.Queue("BEGIN")
		n++
	}
	if above := spans.Traceparent(ctx); above != "" && !tx.view {
		b.Queue(traceSQL, above)
		n++
	}
	sql := writerSQL
	if tx.view {
		sql = orgSQL
	}
	switch {
	case !tx.db.pooled && tx.db.role == System && tx.org.IsZero():
		return n - 1
	case !tx.db.pooled:
		b.Queue(sql, tx.org.String())
		return n
	}

	b.Queue("SET LOCAL ROLE " + tx.db.role)
	b.Queue(sql+pooled, tx.org.String())
	return n + 1
}

// sendPending sends the pending statements and last, and reads all results except last's. On an error everything is
// closed.
func (tx *Tx) sendPending(ctx context.Context, last *pgx.QueuedQuery) (pgx.BatchResults, error) {
	if tx.over != nil {
		bounded, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(tx.over, cancel) //nolint:contextcheck // over is the other context that ends the read
		tx.ends = append(tx.ends, func() {
			stop()
			cancel()
		})
		ctx = bounded
	}
	if tx.conn == nil {
		c, err := tx.db.pool.Acquire(ctx)
		if err != nil {
			return nil, tx.classify(ctx, err, true) // a session may end before its role is set
		}
		tx.conn = c
	}
	queued := tx.pending
	first := !tx.isWhole() || !tx.begun
	tx.pending = nil
	tx.begun = true
	for again := false; ; again = true {
		b := &pgx.Batch{}
		lead := 0
		if first {
			lead = tx.addPreamble(ctx, b, tx.isWhole())
		}
		b.QueuedQueries = append(b.QueuedQueries, queued...)
		if last != nil {
			b.QueuedQueries = append(b.QueuedQueries, last)
		}
		if again {
			b.QueuedQueries = copyQueries(b.QueuedQueries)
		}
		br := tx.conn.SendBatch(ctx, b)
		n, err := readBatch(br, lead, queued)
		if err == nil {
			return br, nil
		}
		_ = br.Close()
		if again || n >= lead || !tx.redial(ctx, err) { // an effect needs a commit, which the first batch has not
			return nil, err
		}
	}
}

// commit ends the transaction. A transaction without any request for a result is sent as one implicit transaction.
func (tx *Tx) commit(ctx context.Context) error {
	switch {
	case tx.begun:
		tx.Queue("COMMIT").Exec(checkCommitted)
		return tx.Flush(ctx)
	case len(tx.pending) == 0:
		return nil
	}

	queued := tx.pending
	tx.pending = nil
	n, err := tx.sendWhole(ctx, tx.db.pool, queued)
	if err == nil || n > 0 || ctx.Err() != nil || !refusedWhole(err) {
		return err
	}

	c, dead := tx.db.acquireLive(ctx)
	if dead != nil {
		return err
	}

	defer c.Release()
	_, err = tx.sendWhole(ctx, c, copyQueries(queued))
	return err
}

// sendWhole sends the statements as one implicit transaction and returns the number of received results.
func (tx *Tx) sendWhole(ctx context.Context, to interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}, queued []*pgx.QueuedQuery,
) (n int, err error) {
	b := &pgx.Batch{}
	lead := tx.addPreamble(ctx, b, false)
	b.QueuedQueries = append(b.QueuedQueries, queued...)
	br := to.SendBatch(ctx, b)
	n, err = readBatch(br, lead, queued)
	return n, errors.Join(err, closeResults(err, br))
}

// checkCommitted returns an error if the server turned COMMIT into a rollback, which happens after an error that fn did
// not return.
func checkCommitted(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return errors.New("transaction failed before its commit")
	}
	return nil
}

// releaseSession releases the session. An open transaction is rolled back with a separate timeout, because the caller's
// context may have ended.
func (tx *Tx) releaseSession() {
	for _, end := range tx.ends {
		end()
	}
	if tx.conn == nil {
		return
	}
	if c := tx.conn.Conn(); !c.IsClosed() && c.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		_, _ = tx.conn.Exec(ctx, "ROLLBACK")
		cancel()
	}
	tx.db.writes.observeSession(tx.conn.Conn().PgConn())
	tx.conn.Release()
	tx.conn = nil
}
