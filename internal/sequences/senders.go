package sequences

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// PausedOf returns the paused ones of the sequences with the given ids.
func PausedOf(ctx context.Context, tx *postgres.Tx, all []id.ID) ([]id.ID, error) {
	if len(all) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `SELECT id FROM sequence WHERE org_id = $1 AND id = ANY ($2::uuid[])
		AND status = 'paused'`, tx.Org(), all)
	if err != nil {
		return nil, fmt.Errorf("read paused sequences: %w", err)
	}
	paused, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, fmt.Errorf("read paused sequences: %w", err)
	}
	return paused, nil
}

// SendersOf returns the mailboxes that send the mails of sequences, those of their active versions. Sequences that are
// not active are left out.
func SendersOf(ctx context.Context, tx *postgres.Tx, all []id.ID) (map[id.ID][]id.ID, error) {
	out := map[id.ID][]id.ID{}
	if len(all) == 0 {
		return out, nil
	}

	rows, err := tx.Query(ctx, `SELECT q.id, v.settings->'mailbox_ids' FROM sequence q
			JOIN sequence_version v ON v.org_id = q.org_id AND v.sequence_id = q.id AND v.number = q.version
		WHERE q.org_id = $1 AND q.id = ANY ($2::uuid[]) AND q.status = 'active'`, tx.Org(), all)
	if err != nil {
		return nil, fmt.Errorf("read mailboxes of sequences: %w", err)
	}

	var sequence id.ID
	var senders []id.ID
	if _, err := pgx.ForEachRow(rows, []any{&sequence, &senders}, func() error {
		out[sequence], senders = senders, nil
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read mailboxes of sequences: %w", err)
	}

	return out, nil
}
