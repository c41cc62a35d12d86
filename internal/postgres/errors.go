package postgres

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Violates reports whether err is a violation of the named constraint or unique index.
func Violates(err error, constraint string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(pg.Code, "23") && pg.ConstraintName == constraint
}

// Code returns the SQLSTATE of err, or "" if err does not come from the server.
func Code(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}

// None reports whether err means that there is no such row.
func None(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// lostError is an error of a session that ended during its transaction without being closed by this process.
type lostError struct{ error }

func (l lostError) Unwrap() error { return l.error }

// Lost reports whether err means that Postgres was unavailable for a transaction, was lost during it, or takes no
// writes. Unlike Away, it is false for timeouts of other servers, for conflicts of transactions, and for what one
// transaction may bring about by itself, such as a timeout.
func Lost(err error) bool {
	if _, ok := errors.AsType[lostError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	return lostCode(Code(err))
}

// Away reports whether err means that the server is unavailable, shutting down, full or read-only, or that it asks for
// a retry: the same request may succeed later.
func Away(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true // whatever the server's response to the connection attempt
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return awayCode(pg.Code)
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err) ||
		strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed")
}

// TimedOut reports whether the server ended the statement, the transaction or the session because it took too long, or
// an operator canceled it. A caller may try again; a job must count the attempt, since it may take as long again.
func TimedOut(err error) bool {
	switch Code(err) {
	case queryCanceled, idleInTransaction, transactionTimeout:
		return true
	}
	return false
}
