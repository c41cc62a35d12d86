package imports

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Step processes the next block of an import, or completes it, and reports whether there are more. An import that has
// ended or does not exist needs no further step.
func Step(ctx context.Context, tx *postgres.Tx, s *suppression.Service, which id.ID) (more bool, err error) {
	i, err := one(ctx, tx, which, " FOR UPDATE")
	switch {
	case fault.Is(err, fault.NotFound), err == nil && i.Status != queued && i.Status != running:
		return false, nil
	case err != nil:
		return false, err
	}
	now := wire.Now()
	if i.Status == queued {
		i.Status, i.StartedAt = running, &now
	}
	if i.next < i.blocks {
		if err := i.block(ctx, tx, s); err != nil {
			return false, fmt.Errorf("block %d: %w", i.next, err)
		}
		i.next++
	}
	if more = i.next < i.blocks; !more {
		i.Status, i.CompletedAt = completed, &now
	}
	i.save(tx)
	return more, nil
}

// Fail ends an import after its steps have failed repeatedly, if it has not ended. What was suppressed stays so.
func Fail(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	i, err := one(ctx, tx, which, " FOR UPDATE")
	if err != nil || i.Status != queued && i.Status != running {
		return err
	}
	now, why := wire.Now(), "The import could not go on. What was imported until then stays suppressed."
	i.Status, i.Error, i.CompletedAt = failed, &why, &now
	tx.Queue(`DELETE FROM suppression_import_block WHERE org_id = $1 AND import_id = $2`, tx.Org(), which)
	i.save(tx)
	return nil
}

// save queues the update of the fields that a step changes.
func (i *Import) save(tx *postgres.Tx) {
	tx.Queue(`UPDATE suppression_import SET status = $3, next_block = $4, rows_added = $5, rows_unchanged = $6,
			rows_failed = $7, error = $8, started_at = $9, completed_at = $10, computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), i.ID, i.Status, i.next, i.RowsAdded, i.RowsUnchanged, i.RowsFailed,
		i.Error, i.StartedAt, i.CompletedAt)
}

// block processes the import's next block.
func (i *Import) block(ctx context.Context, tx *postgres.Tx, s *suppression.Service) error {
	var data []byte
	if err := tx.QueryRow(ctx, `SELECT data FROM suppression_import_block
		WHERE org_id = $1 AND import_id = $2 AND block = $3`, []any{tx.Org(), i.ID, i.next}, &data); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	records, err := sheet.Records(data)
	if err != nil {
		return err
	}
	first := i.RowsAdded + i.RowsUnchanged + i.RowsFailed + 2 // row 1 is the header
	var (
		entries        []suppression.New
		rows           []int
		codes, details []string
		cells          [][]byte
	)
	for n := range records {
		entry, code, detail := i.entry(&records[n])
		if code == "" {
			entries = append(entries, entry)
			continue
		}
		rows, codes, details = append(rows, first+n), append(codes, code), append(details, detail)
		cells = append(cells, sheet.AppendRecord(nil, "", records[n].Cells))
	}
	added, err := s.AddAll(ctx, tx, entries)
	if err != nil {
		return err
	}
	i.RowsAdded += added
	i.RowsUnchanged += len(entries) - added
	i.RowsFailed += len(rows)
	tx.Queue(`INSERT INTO suppression_import_error (org_id, import_id, row, code, detail, cells)
		SELECT $1, $2, u.row, u.code, u.detail, u.cells
		FROM unnest($3::int[], $4::text[], $5::text[], $6::bytea[]) AS u (row, code, detail, cells)`, tx.Org(), i.ID,
		rows, codes, details, cells)
	tx.Queue(`DELETE FROM suppression_import_block WHERE org_id = $1 AND import_id = $2 AND block = $3`, tx.Org(), i.ID,
		i.next)
	return nil
}
