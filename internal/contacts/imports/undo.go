package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// undoRows is the number of contacts per undo step.
const undoRows = 500

// Undoing starts the undo of an import. The caller must enqueue its job if started is true. If the undo has begun
// already, nothing changes. An import that is still running, changed nothing or is older than Kept is a conflict.
func Undoing(ctx context.Context, tx *postgres.Tx, which id.ID) (i Import, started bool, err error) {
	if i, err = one(ctx, tx, which, " FOR UPDATE"); err != nil {
		return i, false, err
	}
	switch {
	case i.Undo != nil && i.Undo.Status != "failed":
		return i, false, nil
	case i.Status != "completed" && i.Status != "failed":
		return i, false, fault.New(fault.Conflict, "The import has not ended yet.")
	case i.DryRun:
		return i, false, fault.New(fault.Conflict, "A dry run has changed nothing.")
	case time.Since(i.CreatedAt.Time) > Kept:
		return i, false, fault.New(fault.Conflict, "An import can be undone for 30 days.")
	}
	tx.Queue(
		`UPDATE contact_import SET undo_status = 'queued', computed = computed + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), which)
	if i.Undo == nil {
		i.Undo = &Undo{}
	}
	i.Undo.Status, i.Computed = "queued", i.Computed+1
	return i, true, nil
}

// effect is the effect of the import on one contact.
type effect struct {
	Contact id.ID
	Edit    int
	Before  []byte
}

// UndoStep undoes the import for the next contacts. Created contacts come first, so that their addresses are free again
// before changed contacts get them back.
func (w Work) UndoStep(ctx context.Context, tx *postgres.Tx, which id.ID) (Done, error) {
	i, err := one(ctx, tx, which, " FOR UPDATE")
	switch {
	case fault.Is(err, fault.NotFound),
		err == nil && (i.Undo == nil || i.Undo.Status != "queued" && i.Undo.Status != "running"):
		return Done{}, nil
	case err != nil:
		return Done{}, err
	}
	ctx = events.WithOrigin(ctx, i.actor)
	contacts.ByKeys(tx)
	rows, err := tx.Query(ctx, `SELECT contact_id, edit, before FROM contact_import_effect
		WHERE org_id = $1 AND import_id = $2 AND act = $3 AND ($4::uuid IS NULL OR contact_id > $4)
		ORDER BY contact_id LIMIT $5`, tx.Org(), which, i.act, i.from, undoRows)
	if err != nil {
		return Done{}, fmt.Errorf("read effects: %w", err)
	}
	effects, err := pgx.CollectRows(rows, pgx.RowToStructByPos[effect])
	if err != nil {
		return Done{}, fmt.Errorf("read effects: %w", err)
	}
	i.Undo.Status = "running"
	var changed []contacts.Change
	switch {
	case len(effects) == 0 && i.act == contacts.Created:
		i.act, i.from = contacts.Updated, nil
	case len(effects) == 0:
		if err := i.forgetFields(ctx, tx); err != nil {
			return Done{}, err
		}
		now := wire.Now()
		i.Undo.Status, i.Undo.CompletedAt = "completed", &now
	default:
		i.from = &effects[len(effects)-1].Contact
		if changed, err = i.revert(ctx, tx, effects); err != nil {
			return Done{}, fmt.Errorf("undo: %w", err)
		}
		if err := i.tell(ctx, tx, nil, changed); err != nil {
			return Done{}, err
		}
	}
	tx.Queue(`UPDATE contact_import SET undo_status = $3, undo_act = $4, undo_from = $5, undo_archived = $6,
		undo_restored = $7, undo_left = $8, undo_at = $9,
		computed = computed + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), which, i.Undo.Status, i.act, i.from, i.Undo.Archived, i.Undo.Restored, i.Undo.Left,
		i.Undo.CompletedAt)
	return Done{More: i.Undo.CompletedAt == nil}, nil
}

// FailUndo ends an undo after its steps have failed repeatedly. The undo may be requested again.
func FailUndo(ctx context.Context, tx *postgres.Tx, which id.ID) error {
	_, err := tx.Exec(ctx,
		`UPDATE contact_import SET undo_status = 'failed', computed = computed + 1 WHERE org_id = $1 AND id = $2
			AND undo_status IN ('queued', 'running')`, tx.Org(), which)
	return err
}

// revert undoes the effects on contacts that still have the edit which the import left.
func (i *Import) revert(ctx context.Context, tx *postgres.Tx, effects []effect) ([]contacts.Change, error) {
	ids, edits, before := make([]id.ID, len(effects)), map[id.ID]int{}, map[id.ID][]byte{}
	for n, e := range effects {
		ids[n], edits[e.Contact], before[e.Contact] = e.Contact, e.Edit, e.Before
	}
	rows, err := contacts.LockAll(ctx, tx, ids, contacts.Live)
	if err != nil {
		return nil, err
	}
	same := rows[:0]
	for _, r := range rows {
		if r.Edit == edits[r.ID] {
			same = append(same, r)
		}
	}
	if i.act == contacts.Created {
		changed := contacts.ArchiveLocked(tx, same)
		i.Undo.Archived += len(changed)
		i.Undo.Left += len(effects) - len(changed)
		return changed, tx.Flush(ctx)
	}
	was, now, err := i.images(ctx, tx, same, before)
	if err != nil {
		return nil, err
	}
	changed, err := contacts.PutBack(tx, was, now)
	if err != nil {
		return nil, err
	}
	i.Undo.Restored += len(changed)
	i.Undo.Left += len(effects) - len(changed)
	return changed, tx.Flush(ctx)
}

// images pairs the rows with their previous states. It omits a row if another contact now has its previous address.
func (i *Import) images(ctx context.Context, tx *postgres.Tx, rows []contacts.Row,
	before map[id.ID][]byte,
) (was []contacts.Row, now []contacts.Contact, err error) {
	for _, r := range rows {
		var c contacts.Contact
		if err := json.Unmarshal(before[r.ID], &c); err != nil {
			return nil, nil, fmt.Errorf("read image: %w", err)
		}
		if folded := compare.Address(c.Email); folded != compare.Address(r.Email) {
			holder, err := contacts.Holder(ctx, tx, folded)
			if err != nil {
				return nil, nil, err
			}
			if !holder.IsZero() {
				continue
			}
		}
		was, now = append(was, r), append(now, c)
	}
	return was, now, nil
}

// forgetFields removes the custom fields that the import defined and that no live contact uses.
func (i *Import) forgetFields(ctx context.Context, tx *postgres.Tx) error {
	for _, key := range i.fresh {
		var unused bool
		// A probe of the index for each type of values: the contacts themselves may be very many.
		err := tx.QueryRow(ctx,
			`SELECT NOT EXISTS (SELECT FROM contact_attribute
					WHERE org_id = $1 AND key = $2 AND archived = false AND text IS NOT NULL)
				AND NOT EXISTS (SELECT FROM contact_attribute
					WHERE org_id = $1 AND key = $2 AND archived = false AND number IS NOT NULL)
				AND NOT EXISTS (SELECT FROM contact_attribute
					WHERE org_id = $1 AND key = $2 AND archived = false AND flag IS NOT NULL)
			FROM contact_field WHERE org_id = $1 AND key = $2 AND archived_at IS NULL AND created_at >= $3`,
			[]any{tx.Org(), key, i.StartedAt}, &unused)
		switch {
		case postgres.None(err):
		case err != nil:
			return fmt.Errorf("look up values: %w", err)
		case unused:
			if err := contacts.Undefine(ctx, tx, key, nil); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	return nil
}
