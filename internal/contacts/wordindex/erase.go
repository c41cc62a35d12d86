package wordindex

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Erase queues the statements that remove a contact from the index, for a transaction that deletes the contact. It
// reads all ids of the index: 16 MB at a million contacts.
func Erase(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
	tx.Queue(`SELECT FROM word_index WHERE org_id = $1 FOR UPDATE`, tx.Org())
	tx.Queue(`DELETE FROM word_index_mark WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
	rows, err := tx.Query(ctx, `SELECT block, page, data FROM word_index_page
		WHERE org_id = $1 AND page >= $2 AND position(uuid_send($3) IN data) > 0`, tx.Org(), firstIDs, contact)
	if err != nil {
		return fmt.Errorf("find contact in word index: %w", err)
	}

	var (
		block, page int
		data        []byte
	)
	if _, err := pgx.ForEachRow(rows, []any{&block, &page, &data}, func() error {
		for at, i := range appendIDs(nil, data) {
			if i == contact {
				erasePlace(tx, block, (page-firstIDs)*idsOfPage+at)
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("find contact in word index: %w", err)
	}

	return nil
}

// erasePlace queues the statements that clear a place of a block.
func erasePlace(tx *postgres.Tx, block, place int) {
	tx.Queue(`UPDATE word_index_page SET data = set_bit(data, $3, 0) WHERE org_id = $1 AND block = $2
		AND page = ANY (ARRAY(SELECT generate_series(0, $4 - 1))::smallint[]) AND get_bit(data, $3) = 1`,
		tx.Org(), block, int64(place), firstHashes)
	zero := func(page, at, n int) {
		tx.Queue(`UPDATE word_index_page SET data = overlay(data PLACING $4 FROM $5)
			WHERE org_id = $1 AND page = $2 AND block = $3`, tx.Org(), page, block, make([]byte, n), n*at+1)
	}
	zero(firstHashes+place/hashesOfPage, place%hashesOfPage, 4)
	zero(firstIDs+place/idsOfPage, place%idsOfPage, len(id.ID{}))
}
