package broadcasts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// UserOfMailbox is a broadcast that a mailbox sends.
type UserOfMailbox struct {
	ID   id.ID
	Name string
}

const unfinished = `status IN ('scheduled', 'preparing', 'sending', 'paused') AND archived_at IS NULL`

// UsersOfMailbox returns the broadcasts of a mailbox that are neither drafts nor finished.
func UsersOfMailbox(ctx context.Context, tx *postgres.Tx, mailbox id.ID) ([]UserOfMailbox, error) {
	rows, err := tx.Query(ctx, `SELECT id, name FROM broadcast WHERE org_id = $1 AND mailbox_id = $2 AND `+unfinished+`
		ORDER BY created_at, id`, tx.Org(), mailbox)
	if err != nil {
		return nil, fmt.Errorf("find broadcasts of mailbox: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[UserOfMailbox])
	if err != nil {
		return nil, fmt.Errorf("find broadcasts of mailbox: %w", err)
	}
	return all, nil
}

// LockOfMailbox locks the broadcasts of a mailbox that are not finished, drafts included: their status, and the marks
// of their emails.
func LockOfMailbox(ctx context.Context, tx *postgres.Tx, mailbox id.ID) error {
	rows, err := tx.Query(ctx, `SELECT id FROM broadcast WHERE org_id = $1 AND mailbox_id = $2
		AND status NOT IN ('sent', 'cancelled') ORDER BY id`, tx.Org(), mailbox)
	if err != nil {
		return fmt.Errorf("find broadcasts of mailbox: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return fmt.Errorf("find broadcasts of mailbox: %w", err)
	}
	for _, i := range all {
		Lock(tx, i)
	}
	tx.Queue(`SELECT FROM broadcast WHERE org_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE`, tx.Org(), all)
	return nil
}

// ReassignMailbox lets another mailbox send the broadcasts of a mailbox that are not finished, drafts included, and
// returns their number.
func ReassignMailbox(ctx context.Context, tx *postgres.Tx, from, to id.ID) (int64, error) {
	n, err := tx.Exec(ctx, `UPDATE broadcast SET mailbox_id = $3, edit = edit + 1, updated_at = clock_timestamp()
		WHERE org_id = $1 AND mailbox_id = $2 AND status NOT IN ('sent', 'cancelled')`, tx.Org(), from, to)
	if err != nil {
		return 0, fmt.Errorf("reassign broadcasts: %w", err)
	}
	return n, nil
}
