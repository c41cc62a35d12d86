package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Act is one entry of the audit.
type Act struct {
	ID     id.ID     `json:"id"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Act    string    `json:"act"`   // run, archive, drop, redrive, redrive.start, redrive.cancel, pause, resume, weight, cancel, concurrency
	Scope  string    `json:"scope"` // what it was about, where not single jobs
	Jobs   []id.ID   `json:"jobs"`
	Count  int       `json:"count"` // rows that it changed
	Reason string    `json:"reason"`
}

// Acts answers up to limit acts, newest first, those before the one given if one is.
func (o *Operator) Acts(ctx context.Context, limit int, before *id.ID) ([]Act, error) {
	var out []Act
	err := o.ledger.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, `SELECT id, at, actor, act, scope, jobs, count, reason FROM job_act WHERE $1::uuid IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`, before, limit)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Act])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list acts: %w", err)
	}
	return out, nil
}

// Note writes an act that changes nothing in Postgres into the audit.
func (o *Operator) Note(ctx context.Context, by By, act string, jobs ...id.ID) error {
	err := o.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error { note(tx, by, act, len(jobs), jobs...); return nil })
	if err != nil {
		return fmt.Errorf("note %s: %w", act, err)
	}
	return nil
}

func note(tx *postgres.Tx, by By, act string, count int, jobs ...id.ID) {
	if jobs == nil {
		jobs = []id.ID{}
	}
	tx.Queue(`INSERT INTO job_act (id, actor, act, scope, count, reason, jobs) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id.New(), by.Actor, act, by.Scope, count, by.Reason, jobs)
}

// noted runs one statement, whose own arguments begin at $6, and writes it into the audit if it changed anything.
func (o *Operator) noted(ctx context.Context, by By, act, sql string, args ...any) (n int64, err error) {
	whole := `WITH acted AS (` + sql + ` RETURNING 1)
INSERT INTO job_act (id, actor, act, scope, reason, count) SELECT $1, $2, $3, $4, $5, count(*) FROM acted HAVING count(*) > 0`
	err = o.ledger.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(whole, append([]any{id.New(), by.Actor, act, by.Scope, by.Reason}, args...)...).
			Exec(func(tag pgconn.CommandTag) error { n = tag.RowsAffected(); return nil })
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", act, err)
	}
	return n, nil
}
