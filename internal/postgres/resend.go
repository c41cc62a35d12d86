package postgres

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A session may have ended while it waited in the pool: the server was restarted, or an operator has terminated it. The
// first round trip then fails without any effect, and is sent once more in another session.

// sessionEnded reports whether err means that the session ended.
func sessionEnded(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.SeverityUnlocalized == "FATAL" || pg.Severity == "FATAL"
	}
	return Away(err)
}

// refusedWhole reports whether err means that the server has executed nothing of an implicit transaction of which no
// result was received: it sent the error that ended the session instead of the first result, or this process could not
// send the transaction's end. An end of the session without an error leaves it open whether the transaction committed.
func refusedWhole(err error) bool {
	if _, ok := errors.AsType[*pgconn.PgError](err); ok {
		return sessionEnded(err)
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "write" || pgconn.SafeToRetry(err)
}

// redial replaces the session if err means that it ended, and reports whether it did.
func (tx *Tx) redial(ctx context.Context, err error) bool {
	if ctx.Err() != nil || tx.conn == nil || !tx.isClosed() && !sessionEnded(err) {
		return false
	}
	discardConn(ctx, tx.conn)
	tx.conn = nil
	c, err := tx.db.acquireLive(ctx)
	if err != nil {
		return false
	}
	tx.conn = c
	return true
}

// acquireLive returns a session that has just answered.
func (db *DB) acquireLive(ctx context.Context) (*pgxpool.Conn, error) {
	for range db.pool.Config().MaxConns {
		c, err := db.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if err = c.Ping(ctx); err == nil {
			return c, nil
		}
		discardConn(ctx, c)
	}
	return db.pool.Acquire(ctx)
}

// discardConn closes a session and removes it from its pool.
func discardConn(ctx context.Context, c *pgxpool.Conn) {
	_ = c.Conn().Close(context.WithoutCancel(ctx))
	c.Release()
}

// sendQuery sends sql after the pending statements and returns its rows, which the caller must close before br.
func (tx *Tx) sendQuery(ctx context.Context, sql string, args []any) (r pgx.Rows, br pgx.BatchResults, err error) {
	repeatable := !tx.isWhole() && len(tx.pending) == 0
	for {
		if br, err = tx.sendPending(ctx, &pgx.QueuedQuery{SQL: sql, Arguments: args}); err != nil {
			return nil, nil, err
		}
		if r, err = br.Query(); err == nil {
			return r, br, nil
		}
		_ = br.Close()
		if !repeatable || !tx.redial(ctx, err) {
			return nil, nil, err
		}
		repeatable = false
	}
}

// copyQueries returns copies of statements that can be sent in another session.
func copyQueries(sent []*pgx.QueuedQuery) []*pgx.QueuedQuery {
	copies := make([]*pgx.QueuedQuery, len(sent))
	for i, q := range sent {
		copies[i] = &pgx.QueuedQuery{SQL: q.SQL, Arguments: q.Arguments, Fn: q.Fn}
	}
	return copies
}

// scanFirst scans the first row into dst and closes the rows, as pgx does for QueryRow.
func scanFirst(r pgx.Rows, dst []any) error {
	defer r.Close()
	if !r.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.Scan(dst...); err != nil {
		return err
	}
	r.Close()
	return r.Err()
}
