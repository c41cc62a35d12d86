package waits

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// statement returns the statement that ends the waits of a table, or "" if the rows do not show them. Rows that
// somebody has locked are being written anyway, or are left to the next call.
func (w *wait) statement(back bool) string {
	where := w.late
	switch {
	case back && where != "" && w.back != "":
		where = "(" + w.late + ") OR (" + w.back + ")"
	case back && w.back != "":
		where = w.back
	}
	if where == "" {
		return ""
	}
	return `WITH late AS MATERIALIZED (SELECT ctid AS at FROM ` + w.table + ` WHERE ` + where + `
		FOR NO KEY UPDATE SKIP LOCKED)
	UPDATE ` + w.table + ` SET ` + w.set + ` FROM late WHERE ` + w.table + `.ctid = late.at`
}

// evidenceSQL looks for what a clock ahead has stamped: processes, which write their row all the time, and ticks of a
// scheduler.
const evidenceSQL = `
SELECT EXISTS (SELECT FROM process WHERE seen_at > now() + interval '2 seconds')
	OR EXISTS (SELECT FROM tick WHERE made_at > now() + interval '2 seconds')`

// onlySQL lets one process at a time end waits: another one has nothing to add.
const onlySQL = `SELECT pg_try_advisory_xact_lock(hashtext('funnelwork.waits'))`

// EndLate ends the waits that last longer than they may, and returns how many by table. setBack reports that the clock
// of Postgres was just set back; EndLate also finds out by what was stamped before. Each table has a transaction of its
// own, and an error of one leaves the others their turn.
func EndLate(ctx context.Context, system *postgres.DB, setBack bool) (map[string]int64, error) {
	ended := map[string]int64{}
	if !setBack {
		err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, evidenceSQL, nil, &setBack)
		})
		if err != nil {
			return ended, fmt.Errorf("read whether the clock was set back: %w", err)
		}
	}
	var failed error
	for i := range columns {
		w := &columns[i]
		n, err := end(ctx, system, w.statement(setBack))
		if n > 0 {
			ended[w.table] = n
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("end waits of %s: %w", w.table, err))
		}
	}
	return ended, failed
}

func end(ctx context.Context, system *postgres.DB, statement string) (n int64, err error) {
	if statement == "" {
		return 0, nil
	}
	err = system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, onlySQL, nil, &mine); err != nil || !mine {
			return err
		}
		n, err = tx.Exec(ctx, statement)
		return err
	})
	return n, err
}
