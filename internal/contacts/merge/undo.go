package merge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Undo undoes a merge; see the package comment. It announces contact.restored for each loser, and contact.updated if
// the survivor changed. A merge that cannot be undone, or no longer, is a conflict. A loser with an address that has
// been taken is a contact_exists fault. A loser that was restored in the meantime is left unchanged, and an erased one
// is skipped.
func Undo(ctx context.Context, tx *postgres.Tx, i id.ID, rate contacts.Scorer, nouns []Noun) (Result, error) {
	m, err := Get(ctx, tx, i)
	if err != nil {
		return Result{}, err
	}
	rows, err := contacts.LockAll(ctx, tx, append([]id.ID{m.SurvivorID}, m.LoserIDs...), contacts.LiveAndArchived)
	if err != nil {
		return Result{}, err
	}
	u, err := open(ctx, tx, &m)
	if err != nil {
		return Result{}, err
	}
	var (
		survivor *contacts.Row
		losers   []contacts.Row
		moments  []wire.Time
	)
	for n := range rows {
		r := &rows[n]
		if r.ID == m.SurvivorID {
			survivor = r
		} else if r.ArchivedAt != nil {
			losers = append(losers, *r)
			at := wire.Now()
			if then, ok := u.Losers[r.ID]; ok && then.Edit == r.Edit { // not edited since
				at = then.UpdatedAt
			}
			moments = append(moments, at)
		}
	}
	if survivor == nil || survivor.ArchivedAt != nil {
		return Result{},
			fault.New(fault.Conflict,
				"The contact that the others were folded into is archived or folded into another one itself. Bring "+
					"it back first.")
	}
	out := Result{Survivor: *survivor}
	c := unfolded(survivor, &u.Before, &u.After)
	given := takenIDs(survivor.ExternalIDs, c.ExternalIDs)
	externalid.Releases(tx, externalid.Contact, slices.Repeat([]id.ID{survivor.ID}, len(given)), given)
	restored, refused, err := contacts.RestoreRows(ctx, tx, losers, moments)
	if err != nil {
		return Result{}, err
	}
	if len(refused) > 0 {
		return Result{}, refused[0].Fault
	}
	put := contacts.Put
	if survivor.Edit == u.After.Edit { // not edited since
		put = func(tx *postgres.Tx, was []contacts.Row, now []contacts.Contact,
			rate contacts.Scorer,
		) ([]contacts.Change, error) {
			return contacts.PutAt(tx, was, now, rate, u.Before.UpdatedAt)
		}
	}
	changed, err := put(tx, []contacts.Row{*survivor}, []contacts.Contact{c}, rate)
	if err != nil {
		return Result{}, err
	}
	for n := range changed {
		out.Survivor = changed[n].Row
	}
	for _, n := range nouns {
		if moved := u.Moved[n.Name]; moved != nil {
			if err := n.Return(ctx, tx, moved); err != nil {
				return Result{}, fmt.Errorf("return %s: %w", n.Name, err)
			}
		}
	}
	now := wire.Now()
	m.UndoneAt, m.UndoUntil = &now, nil
	tx.Queue(`UPDATE contact_merge SET undone_at = $3, undo = NULL WHERE org_id = $1 AND id = $2`, tx.Org(), i, now)
	tx.Queue(`DELETE FROM contact_merged WHERE org_id = $1 AND survivor_id = $2 AND merge_id = $3`, tx.Org(),
		m.SurvivorID, i)
	out.Merge, out.Changed = m, slices.Concat(changed, restored)
	return out, contacts.AnnounceAll(ctx, tx, out.Changed)
}

// open locks the row of the merge and returns its undo data. The contacts must be locked already.
func open(ctx context.Context, tx *postgres.Tx, m *Merge) (u undo, err error) {
	var (
		body   []byte
		undone *wire.Time
	)
	if err := tx.QueryRow(ctx, `SELECT undo, undone_at FROM contact_merge WHERE org_id = $1 AND id = $2 FOR UPDATE`,
		[]any{tx.Org(), m.ID}, &body, &undone); err != nil {
		if postgres.None(err) {
			return u, fault.New(fault.NotFound, "There is no such merge.")
		}
		return u, fmt.Errorf("lock merge: %w", err)
	}
	switch {
	case undone != nil:
		return u, fault.New(fault.Conflict, "The merge has already been undone.")
	case body == nil, time.Since(m.CreatedAt.Time) > Kept:
		return u, fault.New(fault.Conflict, "A merge can be undone for 30 days.")
	}
	if err := json.Unmarshal(body, &u); err != nil {
		return u, fmt.Errorf("decode merge: %w", err)
	}
	return u, nil
}

// Erase queues the removal of a contact from all merges: merges that it survived are deleted, and the others no longer
// name it.
func Erase(tx *postgres.Tx, i id.ID) {
	tx.Queue(`DELETE FROM timeline t USING contact_merge m WHERE m.org_id = $1 AND (m.survivor_id = $2
		OR $2 = ANY (m.loser_ids))
		AND t.org_id = $1 AND t.contact_id = ANY (m.survivor_id || m.loser_ids) AND t.type = 'contact.merged'
		AND position($2::uuid::text IN t.data::text) > 0`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_merge WHERE org_id = $1 AND survivor_id = $2`, tx.Org(), i)
	tx.Queue(`UPDATE contact_merge SET loser_ids = array_remove(loser_ids, $2), undo = undo #- ARRAY['losers',
		$2::uuid::text] WHERE org_id = $1 AND $2 = ANY (loser_ids)`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_merged WHERE org_id = $1 AND (survivor_id = $2 OR contact_id = $2)`, tx.Org(), i)
}
