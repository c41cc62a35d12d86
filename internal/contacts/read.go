package contacts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

var getSQL = `SELECT ` + rowColumns + ` ` + both + ` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = $2`

// Get returns one contact of the org. An archived contact is returned only with archivedToo. If there is no such
// contact, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	return readOne(ctx, tx, getSQL, i, archivedToo)
}

// Show is Get for a request without other reads; see postgres.DB.BatchedGet.
func Show(ctx context.Context, db *postgres.DB, org, i id.ID, archivedToo bool) (r Row, err error) {
	err = db.BatchedGet(ctx, org, getSQL, []any{org, i}, func(row pgx.CollectableRow) (err error) {
		r, err = scanRow(row)
		return err
	})
	return hideArchived(r, err, archivedToo)
}

// lockContact is Get with both rows locked until the transaction ends. It always locks the contact's row first.
func lockContact(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row, error) {
	r, err := readOne(ctx, tx, getSQL+` FOR UPDATE`, i, archivedToo)
	if err != nil || r.Dynamic == nil {
		return r, err
	}
	return r, rereadSegments(ctx, tx, []*Row{&r})
}

func readOne(ctx context.Context, tx *postgres.Tx, sql string, i id.ID, archivedToo bool) (Row, error) {
	rows, err := tx.Query(ctx, sql, tx.Org(), i)
	if err != nil {
		return Row{}, fmt.Errorf("read contact: %w", err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRow)
	return hideArchived(r, err, archivedToo)
}

// hideArchived hides an archived row from callers without archivedToo.
func hideArchived(r Row, err error, archivedToo bool) (Row, error) {
	switch {
	case postgres.None(err):
		return Row{}, notFound()
	case err != nil:
		return Row{}, fmt.Errorf("read contact: %w", err)
	case r.ArchivedAt != nil && !archivedToo:
		return Row{}, notFound()
	}
	return r, nil
}

// Holder returns the id of the live contact with the folded address, or the zero id if there is none.
func Holder(ctx context.Context, tx *postgres.Tx, folded string) (id.ID, error) {
	var i id.ID
	err := tx.QueryRow(ctx, `SELECT id FROM contact WHERE org_id = $1 AND email_folded = $2 AND archived_at IS NULL`,
		[]any{tx.Org(), folded}, &i)
	if postgres.None(err) {
		return id.ID{}, nil
	}
	return i, err
}

// Scope selects which of the named contacts a bulk update applies to. It leaves the other contacts unchanged.
type Scope int

// Scopes of a bulk update.
const (
	Live Scope = iota
	Archived
	LiveAndArchived
)

func (s Scope) sql() string {
	switch s {
	case Archived:
		return ` AND c.archived_at IS NOT NULL`
	case LiveAndArchived:
		return ``
	case Live:
	}
	return ` AND c.archived_at IS NULL`
}

// LockAll reads the contacts that are in the scope and locks their rows until the transaction ends. It locks them in
// the order of their ids, so that concurrent calls cannot deadlock.
func LockAll(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope) ([]Row, error) {
	ByKeys(tx)
	rows, err := tx.Query(ctx,
		`SELECT `+rowColumns+` `+both+
			` WHERE c.org_id = $1 AND s.org_id = $1 AND c.id = ANY ($2::uuid[]) AND s.contact_id = ANY ($2::uuid[])`+
			s.sql()+` ORDER BY c.id FOR UPDATE OF c, s`, tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("lock contacts: %w", err)
	}
	return found, rereadAllSegments(ctx, tx, found)
}
