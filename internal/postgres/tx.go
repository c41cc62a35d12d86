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
)

// Tx is one transaction of one org, or, from View, a series of single reads of one org.
// It is for one goroutine and dead after the function that it was given to.
type Tx struct {
	db      *DB
	org     id.ID
	view    bool
	conn    *pgxpool.Conn // nil until an answer was asked for
	begun   bool
	pending []*pgx.QueuedQuery
	notes   []any
	saves   int
	ordinal int
}

// Tx runs fn in a transaction that sees the rows of org alone, and commits if fn returns nil. A nil error
// means committed. After it the notes go to Options.AfterCommit. The zero org sees the platform's own rows;
// under the System role the org has no bearing.
//
// A context that ends while the commit is on its way leaves the outcome unknown.
func (db *DB) Tx(ctx context.Context, org id.ID, fn func(*Tx) error) (err error) {
	tx := &Tx{db: db, org: org}
	defer func() { tx.abandon() }()
	if err = fn(tx); err != nil {
		return tx.blame(ctx, err, tx.closed())
	}
	if err = tx.commit(ctx); err != nil {
		return tx.blame(ctx, err, tx.conn == nil || tx.closed())
	}
	if len(tx.notes) > 0 && db.after != nil {
		db.after(ctx, tx.notes)
	}
	return nil
}

// View runs fn for reading: each Query, with what was queued before it, is one round trip and one snapshot of
// its own. Use Tx where two reads must agree.
func (db *DB) View(ctx context.Context, org id.ID, fn func(*Tx) error) error {
	tx := &Tx{db: db, org: org, view: true}
	defer func() { tx.abandon() }()
	if err := fn(tx); err != nil {
		return tx.blame(ctx, err, tx.closed())
	}
	if err := tx.Flush(ctx); err != nil {
		return tx.blame(ctx, err, tx.closed())
	}
	return nil
}

// closed tells whether the session that answers were asked of is gone.
func (tx *Tx) closed() bool { return tx.conn != nil && tx.conn.Conn().IsClosed() }

// blame marks err for Lost where the session is over, and not because the caller's time was.
func (tx *Tx) blame(ctx context.Context, err error, over bool) error {
	if _, spoke := errors.AsType[*pgconn.PgError](err); over && !spoke && ctx.Err() == nil && Away(err) {
		return lostError{err}
	}
	return err
}

// Org is the org that the transaction is for.
func (tx *Tx) Org() id.ID { return tx.org }

// Queue adds a statement whose answer nobody waits for. It is sent with the next Query, Exec or Flush, at the
// latest with the commit, and its error ends the transaction there. Callbacks on the answer (Exec, QueryRow,
// Query of the returned value) run then, and only take notice: where the statement travels with the commit, a
// callback's error comes too late to undo it. What guards the commit raises in the server, or is awaited.
func (tx *Tx) Queue(sql string, args ...any) *pgx.QueuedQuery {
	q := &pgx.QueuedQuery{SQL: sql, Arguments: args}
	tx.pending = append(tx.pending, q)
	return q
}

// Note remembers v for Options.AfterCommit; a rolled back transaction forgets it.
func (tx *Tx) Note(v any) { tx.notes = append(tx.notes, v) }

// Keep answers what this process keeps under key beside the pool that tx is of, which create makes for the first who asks. It is safe
// for concurrent use, and knows nothing of commits.
func (tx *Tx) Keep(key any, create func() any) any {
	if v, ok := tx.db.kept.Load(key); ok {
		return v
	}
	v, _ := tx.db.kept.LoadOrStore(key, create())
	return v
}

// Ordinal counts up from 0: the place of a row among those of its kind that this transaction writes.
func (tx *Tx) Ordinal() int {
	tx.ordinal++
	return tx.ordinal - 1
}

// Query sends sql now. Close the rows, as pgx.CollectRows and its kin do, before the next use of tx.
func (tx *Tx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	br, err := tx.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return nil, err
	}
	r, err := br.Query()
	if err != nil {
		_ = br.Close()
		return nil, err
	}
	return &rows{Rows: r, br: br}, nil
}

// QueryRow sends sql now and scans its first row into dst; pgx.ErrNoRows where there is none.
func (tx *Tx) QueryRow(ctx context.Context, sql string, args []any, dst ...any) error {
	br, err := tx.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return err
	}
	err = br.QueryRow().Scan(dst...)
	return errors.Join(err, closing(err, br))
}

// Exec sends sql now and answers how many rows it touched.
func (tx *Tx) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	br, err := tx.send(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args})
	if err != nil {
		return 0, err
	}
	tag, err := br.Exec()
	if err = errors.Join(err, closing(err, br)); err != nil {
		return 0, err
	}
	return tag.RowsAffected(), nil
}

// Flush sends what is queued and waits for it.
func (tx *Tx) Flush(ctx context.Context) error {
	if len(tx.pending) == 0 {
		return nil
	}
	br, err := tx.send(ctx, nil)
	if err != nil {
		return err
	}
	return br.Close()
}

// Savepoint runs fn so that its error undoes fn's work alone: its rows, what it queued and its notes.
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

// preamble is what stands before the first statement of a transaction.
func (tx *Tx) preamble(b *pgx.Batch, begin bool) int {
	n := 1
	if begin {
		b.Queue("BEGIN")
		n++
	}
	if !tx.db.pooled {
		b.Queue(orgSQL, tx.org.String())
		return n
	}
	b.Queue("SET LOCAL ROLE " + tx.db.role)
	b.Queue(pooledSQL, tx.org.String())
	return n + 1
}

// send puts pending statements and last on the wire and reads all answers but last's. On an error everything
// is closed.
func (tx *Tx) send(ctx context.Context, last *pgx.QueuedQuery) (pgx.BatchResults, error) {
	if tx.conn == nil {
		c, err := tx.db.pool.Acquire(ctx)
		if err != nil {
			return nil, tx.blame(ctx, err, true) // a session may end before it has its role
		}
		tx.conn = c
	}
	b, lead := &pgx.Batch{}, 0
	if tx.view || !tx.begun {
		lead = tx.preamble(b, !tx.view)
		tx.begun = true
	}
	queued := tx.pending
	tx.pending = nil
	b.QueuedQueries = append(b.QueuedQueries, queued...)
	if last != nil {
		b.QueuedQueries = append(b.QueuedQueries, last)
	}
	br := tx.conn.SendBatch(ctx, b)
	if err := read(br, lead, queued); err != nil {
		_ = br.Close()
		return nil, err
	}
	return br, nil
}

// commit ends the transaction. One that never asked for an answer goes out whole, as one implicit transaction.
func (tx *Tx) commit(ctx context.Context) error {
	switch {
	case tx.begun:
		tx.Queue("COMMIT").Exec(committed)
		return tx.Flush(ctx)
	case len(tx.pending) == 0:
		return nil
	}
	b := &pgx.Batch{}
	lead := tx.preamble(b, false)
	queued := tx.pending
	tx.pending = nil
	b.QueuedQueries = append(b.QueuedQueries, queued...)
	br := tx.db.pool.SendBatch(ctx, b)
	err := read(br, lead, queued)
	return errors.Join(err, closing(err, br))
}

// committed tells a commit from the rollback that the server makes of COMMIT after an error that fn kept to itself.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return errors.New("transaction had failed before its commit")
	}
	return nil
}

// abandon gives the session back. An open transaction is rolled back in a time of its own, because the
// caller's may be over.
func (tx *Tx) abandon() {
	if tx.conn == nil {
		return
	}
	if c := tx.conn.Conn(); !c.IsClosed() && c.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		_, _ = tx.conn.Exec(ctx, "ROLLBACK")
		cancel()
	}
	tx.conn.Release()
	tx.conn = nil
}

// read takes the answers of a batch in order, with the callbacks that were asked for.
func read(br pgx.BatchResults, lead int, queued []*pgx.QueuedQuery) error {
	for range lead {
		if _, err := br.Exec(); err != nil {
			return err
		}
	}
	for _, q := range queued {
		if q.Fn != nil {
			if err := q.Fn(br); err != nil {
				return err
			}
			continue
		}
		if _, err := br.Exec(); err != nil {
			return err
		}
	}
	return nil
}

// closing closes br; its error only counts where none came before, since it repeats that one.
func closing(before error, br pgx.BatchResults) error {
	if err := br.Close(); before == nil {
		return err
	}
	return nil
}

// rows closes the batch together with its last answer.
type rows struct {
	pgx.Rows
	br  pgx.BatchResults
	end error
}

func (r *rows) Close() {
	r.Rows.Close()
	if r.br != nil {
		r.end = r.br.Close()
		r.br = nil
	}
}

func (r *rows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.end
}

var _ pgx.Rows = (*rows)(nil)
