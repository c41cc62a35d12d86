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

// Lost reports whether err means that Postgres was unavailable for a transaction or was lost during it. Unlike Away, it
// is false for timeouts of other servers and for conflicts of transactions.
func Lost(err error) bool {
	if _, ok := errors.AsType[lostError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	code := Code(err)
	return strings.HasPrefix(code, "08") || code == "53300" || strings.HasPrefix(code, "57") && code != "57014"
}

// Away reports whether err means that the server is unavailable, shutting down, or full, or that it asks for a retry:
// the same request may succeed later.
func Away(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true // whatever the server's response to the connection attempt
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case pg.Code == "40001", pg.Code == "40P01": // serialization failure, deadlock
			return true
		case pg.Code[:2] == "08", pg.Code[:2] == "53", pg.Code[:2] == "57" && pg.Code != "57014":
			return true
		}
		return false
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
