package stripe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Postgres is a Store in table sandbox_stripe. System is a pool of the System role.
type Postgres struct{ System *postgres.DB }

// Update implements Store. One advisory lock serializes the writers of all processes.
func (p Postgres) Update(ctx context.Context, fn func(Tx) error) error {
	return p.runLocked(ctx, "SELECT pg_advisory_xact_lock(hashtext('funnelwork.sandbox.stripe'))",
		fn)
}

// View implements Store.
func (p Postgres) View(ctx context.Context, fn func(Tx) error) error {
	return p.runLocked(ctx, "SELECT pg_advisory_xact_lock_shared(hashtext('funnelwork.sandbox.stripe'))", fn)
}

func (p Postgres) runLocked(ctx context.Context, lock string, fn func(Tx) error) error {
	err := p.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(lock)
		if err := tx.Flush(ctx); err != nil { // take the lock before the first snapshot
			return err
		}
		return fn(postgresTx{tx})
	})
	if err != nil {
		return fmt.Errorf("sandbox stripe: %w", err)
	}

	return nil
}

type postgresTx struct{ tx *postgres.Tx }

const columns = "account, kind, id, seq, created, marks, timer, due, body"

func scanRow(row pgx.CollectableRow) (*Row, error) {
	r := &Row{}
	return r, row.Scan(&r.Account, &r.Kind, &r.ID, &r.Seq, &r.Created, &r.Marks, &r.Timer, &r.Due, &r.Body)
}

func (p postgresTx) queryRows(ctx context.Context, sql string, args ...any) ([]*Row, error) {
	rows, err := p.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanRow)
}

func (p postgresTx) Get(ctx context.Context, account, kind, id string) (*Row, error) {
	rows, err := p.queryRows(ctx, "SELECT "+columns+" FROM sandbox_stripe WHERE account = $1 AND kind = $2 AND id = $3",
		account, kind, id)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func (p postgresTx) Put(ctx context.Context, r *Row) error {
	if r.Marks == nil {
		r.Marks = []string{}
	}

	if r.Seq != 0 {
		n, err := p.tx.Exec(ctx,
			"UPDATE sandbox_stripe SET created = $4, marks = $5, timer = $6, due = $7, body = $8 WHERE account = "+
				"$1 AND kind = $2 AND id = $3",
			r.Account, r.Kind, r.ID, r.Created, r.Marks, r.Timer, r.Due, r.Body)
		if err == nil && n == 0 {
			err = errors.New("row to update does not exist")
		}

		return err
	}

	return p.tx.QueryRow(ctx,
		"INSERT INTO sandbox_stripe (account, kind, id, created, marks, timer, due, body) VALUES ($1, $2, $3, $4, "+
			"$5, $6, $7, $8) RETURNING seq",
		[]any{r.Account, r.Kind, r.ID, r.Created, r.Marks, r.Timer, r.Due, r.Body}, &r.Seq)
}

func (p postgresTx) Delete(ctx context.Context, account, kind, id string) error {
	_, err := p.tx.Exec(ctx, "DELETE FROM sandbox_stripe WHERE account = $1 AND kind = $2 AND id = $3", account, kind,
		id)
	return err
}

func (p postgresTx) Find(ctx context.Context, q Query) ([]*Row, error) {
	var where []string
	var args []any
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	add("kind = $%d", q.Kind)
	if !q.Anywhere {
		add("account = $%d", q.Account)
	}

	if len(q.All) > 0 {
		add("marks @> $%d", q.All)
	}

	if len(q.Any) > 0 {
		add("marks && $%d", q.Any)
	}

	if q.Since > 0 {
		add("created >= $%d", q.Since)
	}

	if q.Until > 0 {
		add("created <= $%d", q.Until)
	}

	if q.Before > 0 {
		add("seq < $%d", q.Before)
	}

	order := "DESC"
	if q.After > 0 {
		add("seq > $%d", q.After)
		order = "ASC"
	}

	sql := "SELECT " + columns + " FROM sandbox_stripe WHERE " + strings.Join(where, " AND ") + " ORDER BY seq " + order
	if q.Limit > 0 {
		args = append(args, q.Limit)
		sql += fmt.Sprintf(" LIMIT $%d", len(args))
	}

	return p.queryRows(ctx, sql, args...)
}

func (p postgresTx) Due(ctx context.Context, timer string, by int64, limit int) ([]*Row, error) {
	return p.queryRows(ctx,
		"SELECT "+columns+
			" FROM sandbox_stripe WHERE timer = $1 AND timer <> '' AND due <= $2 ORDER BY due, seq LIMIT $3", timer,
		by, limit)
}
