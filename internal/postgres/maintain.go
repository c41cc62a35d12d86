package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// warning is the key of a session's last warning in its custom data.
const warning = "warning"

// keepWarning is a session's OnNotice.
func keepWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = (*pgconn.PgError)(n)
	}
}

// Maintain executes a statement such as VACUUM, which runs outside a transaction and needs the rights of the tables'
// owner: it has the rights of the login, not of the pool's role. The server skips a table that the login does not own
// with no more than a warning; Maintain returns a warning as an error.
func (db *DB) Maintain(ctx context.Context, sql string) error {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}

	defer c.Release()
	conn := c.Conn().PgConn()
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql).ReadAll()
		return err
	}
	delete(conn.CustomData(), warning)
	if db.pooled { // the role is set in transactions only
		err = exec(sql)
	} else {
		if err := exec("RESET ROLE"); err != nil {
			return err
		}
		err = exec(sql)
		if back := exec("SET ROLE " + db.role); back != nil {
			_ = conn.Close(ctx)
			return errors.Join(err, back)
		}
	}
	if warned, ok := conn.CustomData()[warning].(error); ok && err == nil {
		return warned
	}

	return err
}
