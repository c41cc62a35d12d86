package imports

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Step processes the next block of an import, or completes it, and reports whether there are more. An import that has
// ended or does not exist needs no further step.
func Step(ctx context.Context, tx *postgres.Tx, s *suppression.Service, which id.ID) (more bool, err error) {
	i, err := readImport(ctx, tx, which, " FOR UPDATE")
	switch {
	case fault.Is(err, fault.NotFound), err == nil && i.Status != queued && i.Status != running:
		return false, nil
	case err != nil:
		return false, err
	}

	now := wire.Now()
	if i.Status == queued {
		i.Status = running
		i.StartedAt = &now
	}
	if i.next < i.blocks {
		if err := i.addBlock(ctx, tx, s); err != nil {
			return false, fmt.Errorf("block %d: %w", i.next, err)
		}
		i.next++
	}
	if more = i.next < i.blocks; !more {
		i.Status = completed
		i.CompletedAt = &now
	}
	i.saveProgress(tx)
	return more, nil
}

// Fail ends an import after its steps have failed repeatedly, if it has not ended. What was suppressed stays so.
func Fail(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	i, err := readImport(ctx, tx, which, " FOR UPDATE")
	if err != nil || i.Status != queued && i.Status != running {
		return err
	}
	now := wire.Now()
	why := "The import could not go on. What was imported until then stays suppressed."
	i.Status = failed
	i.Error = &why
	i.CompletedAt = &now
	tx.Queue(`DELETE FROM suppression_import_block WHERE org_id = $1 AND import_id = $2`, tx.Org(), which)
	i.saveProgress(tx)
	return nil
}

// saveProgress queues the update of the fields that a step changes.
func (i *Import) saveProgress(tx *postgres.Tx) {
	tx.Queue(`UPDATE suppression_import SET status = $3, next_block = $4, rows_added = $5, rows_unchanged = $6,
			rows_failed = $7, error = $8, started_at = $9, completed_at = $10, rows_blank = $11, warnings_count = $12,
			computed = computed + 1
		WHERE org_id = $1 AND id = $2`, tx.Org(), i.ID, i.Status, i.next, i.RowsAdded, i.RowsUnchanged, i.RowsFailed,
		i.Error, i.StartedAt, i.CompletedAt, i.RowsBlank, i.WarningsCount)
}

// addBlock processes the import's next block.
func (i *Import) addBlock(ctx context.Context, tx *postgres.Tx, s *suppression.Service) error {
	var data []byte
	if err := tx.QueryRow(ctx, `SELECT data FROM suppression_import_block
		WHERE org_id = $1 AND import_id = $2 AND block = $3`, []any{tx.Org(), i.ID, i.next}, &data); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	// row 1 is the header of a file that was stored without the numbers of its rows
	records, err := i.source.Records(data, i.RowsAdded+i.RowsUnchanged+i.RowsFailed+i.RowsBlank+2)
	if err != nil {
		return err
	}

	var (
		entries  []suppression.New
		refused  uploads.Refusals
		warnings []uploads.Warning
	)
	if i.next == 0 && i.source.Converted {
		warnings = append(warnings, uploads.Converted(i.source.HeaderRow))
	}
	for n := range records {
		r := &records[n]
		if r.Blank {
			i.RowsBlank++
			continue
		}
		entry, left, code, detail := i.parseEntry(r)
		if code != "" {
			refused.Add(r, code, detail, i.source.Delimiter)
			continue
		}
		entries = append(entries, entry)
		if r.Converted {
			warnings = append(warnings, uploads.Converted(r.Row))
		}
		warnings = append(warnings, left...)
	}

	added, err := s.AddAll(ctx, tx, entries)
	if err != nil {
		return err
	}

	i.RowsAdded += added
	i.RowsUnchanged += len(entries) - added
	i.RowsFailed += refused.Len()
	tables.QueueRefusals(tx, i.ID, &refused)
	tables.QueueWarnings(tx, i.ID, i.WarningsCount, warnings)
	i.WarningsCount += len(warnings)
	tx.Queue(`DELETE FROM suppression_import_block WHERE org_id = $1 AND import_id = $2 AND block = $3`, tx.Org(), i.ID,
		i.next)

	return nil
}
