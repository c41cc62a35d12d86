package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	ID    id.ID     `json:"id"`
	At    time.Time `json:"at"`
	Actor string    `json:"actor"`
	// Act is run, archive, drop, redrive, redrive.start, redrive.cancel, pause, resume, weight, cancel or concurrency.
	Act    string  `json:"act"`
	Scope  string  `json:"scope"` // what it applied to, if not single jobs
	Jobs   []id.ID `json:"jobs"`
	Count  int     `json:"count"` // rows changed
	Reason string  `json:"reason"`
}

// AuditLog returns up to limit entries, newest first. If before is set, it returns only entries older than before.
func (o *Operator) AuditLog(ctx context.Context, limit int, before *id.ID) ([]AuditEntry, error) {
	return collectRows(ctx, o, "list audit entries", pgx.RowToStructByPos[AuditEntry],
		`SELECT id, at, actor, act, scope, jobs, count, reason FROM job_act WHERE $1::uuid IS NULL OR id < $1
			ORDER BY id DESC LIMIT $2`, before, limit)
}

// Audit writes an audit entry for an action that changes nothing in Postgres.
func (o *Operator) Audit(ctx context.Context, by By, act string, jobs ...id.ID) error {
	err := o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		writeAudit(tx, by, act, len(jobs), jobs...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("audit %s: %w", act, err)
	}
	return nil
}

func writeAudit(tx *postgres.Tx, by By, act string, count int, jobs ...id.ID) {
	if jobs == nil {
		jobs = []id.ID{}
	}
	tx.Queue(`INSERT INTO job_act (id, actor, act, scope, count, reason, jobs) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id.New(), by.Actor, act, by.Scope, count, by.Reason, jobs)
}

// execAudited runs one statement and writes an audit entry if the statement changed anything. The statement's own
// arguments start at $6.
func (o *Operator) execAudited(ctx context.Context, by By, act, sql string, args ...any) (n int64, err error) {
	whole := `WITH acted AS (` + sql + ` RETURNING 1)
INSERT INTO job_act (id, actor, act, scope, reason, count) SELECT $1, $2, $3, $4, $5, count(*) FROM acted
HAVING count(*) > 0`
	err = o.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(whole, append([]any{id.New(), by.Actor, act, by.Scope, by.Reason}, args...)...).
			Exec(func(tag pgconn.CommandTag) error {
				n = tag.RowsAffected()
				return nil
			})
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", act, err)
	}
	return n, nil
}
