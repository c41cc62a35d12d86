package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// probeSQL writes to the catalog, to the log and to new pages of a file, and leaves nothing behind.
const probeSQL = `CREATE TEMP TABLE write_probe ON COMMIT DROP AS
	SELECT repeat('x', 1000) AS filler FROM generate_series(1, 64)`

// notAllowed is the SQLSTATE for a login that may create no temporary tables. The server takes its writes otherwise.
const notAllowed = "42501"

// tryWrite writes in a session of its own. It returns nil if the server takes writes.
func (db *DB) tryWrite(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if refuses, err := isReadOnly(ctx, conn.PgConn()); err != nil || refuses {
		return errors.Join(err, errReadOnly(refuses))
	}
	if _, err = conn.PgConn().Exec(ctx, probeSQL).ReadAll(); Code(err) == notAllowed {
		return nil
	}
	return err
}

var errServerReadOnly = errors.New("the server is read-only")

func errReadOnly(refuses bool) error {
	if refuses {
		return errServerReadOnly
	}
	return nil
}

// isReadOnly reports whether transactions of a session cannot write: the server is a standby, or an operator has
// made it read-only.
func isReadOnly(ctx context.Context, c *pgconn.PgConn) (bool, error) {
	res, err := c.Exec(ctx, "SHOW transaction_read_only").ReadAll()
	if err != nil {
		return false, err
	}
	return len(res) == 1 && len(res[0].Rows) == 1 && string(res[0].Rows[0][0]) == "on", nil
}

// preferWritable returns a check of new sessions for a URL that demands a server for writes. If no server takes
// writes, it accepts one that is not a standby, so that reads go on: an operator has made a primary read-only, and its
// rows are current. It returns nil for a URL without a demand.
func preferWritable(demand pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	if demand == nil {
		return nil
	}
	return func(ctx context.Context, c *pgconn.PgConn) error {
		err := demand(ctx, c)
		if !errors.Is(err, pgconn.ErrReadOnlyConnection) {
			return err
		}
		// For a server that is not a standby this is the error by which pgconn remembers a second choice.
		if second := pgconn.ValidateConnectTargetSessionAttrsPreferStandby(ctx, c); second != nil {
			return second
		}
		return err
	}
}

// dropSessions makes the pool open new sessions. Sessions in use are closed when they are released.
func (db *DB) dropSessions() {
	db.pool.Reset()
	if db.points != nil {
		db.points.stale.Store(true)
	}
}
