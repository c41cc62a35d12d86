package api

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/contacts/duplicates"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/deals"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
)

// purgeContact takes along the contacts that are folded into this one: they are the same person.
func (a *App) purgeContact(ctx context.Context, in *ContactID) (*noContact, error) {
	return write(ctx, a, func(tx *postgres.Tx) (*noContact, error) {
		within, err := merge.Within(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		all := contacts.SortIDs(append(within, in.ID))
		if _, err := contacts.LockAll(ctx, tx, all, contacts.LiveAndArchived); err != nil {
			return nil, err
		}
		for _, one := range all {
			row, err := contacts.Get(ctx, tx, one, true)
			if one != in.ID && (err != nil || row.ArchivedAt == nil) { // somebody has brought it back: it is on its own again
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := erase(ctx, tx, one); err != nil {
				return nil, err
			}
			if err := events.Announce(ctx, tx, events.ContactPurged{Purge: events.Purge{ID: one}}); err != nil {
				return nil, err
			}
		}
		return &noContact{}, nil
	})
}

// erase takes a contact out of everything that holds it. A test holds this against the tables.
func erase(ctx context.Context, tx *postgres.Tx, i id.ID) error {
	if err := contacts.Purge(ctx, tx, i); err != nil {
		return err
	}
	bulk.Erase(tx, i)
	merge.Erase(tx, i)
	models.Erase(tx, i)
	duplicates.Erase(tx, i)
	events.EraseTimeline(tx, i)
	eraseFiles(tx, i)
	deals.Erase(tx, i)
	activities.Erase(tx, i)
	return nil
}

// eraseFiles queues what takes a contact out of imports and exports: what undoing an import knows of it, the rows that ended
// imports were sent, and the files of ended exports, any of which may hold it.
func eraseFiles(tx *postgres.Tx, i id.ID) {
	tx.Queue(`DELETE FROM contact_import_block b USING contact_import_effect e, contact_import m WHERE e.org_id = $1 AND e.contact_id = $2
		AND m.org_id = $1 AND m.id = e.import_id AND m.completed_at IS NOT NULL AND b.org_id = $1 AND b.import_id = e.import_id`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_import_effect WHERE org_id = $1 AND contact_id = $2`, tx.Org(), i)
	tx.Queue(`DELETE FROM contact_export_part p USING contact_export x WHERE x.org_id = $1 AND x.status = 'completed' AND p.org_id = $1 AND p.export_id = x.id`, tx.Org())
	tx.Queue(`UPDATE contact_export SET status = 'expired' WHERE org_id = $1 AND status = 'completed'`, tx.Org())
}

// contactHeld is everything held on a contact.
type contactHeld struct {
	contacts.Held
	Timeline []shownEntry  `json:"timeline" doc:"Everything that happened to it, oldest first"`
	Merges   []merge.Merge `json:"merges" doc:"That it survived, or was folded in by"`
	Deals    []deals.Deal  `json:"deals" doc:"Archived ones too; so of notes and tasks"`
	activities.About
}

type contactExport struct {
	Body contactHeld
}

func (a *App) exportContact(ctx context.Context, in *ContactID) (*contactExport, error) {
	out := &contactExport{}
	err := a.DB.Tx(ctx, who(ctx).Org, func(tx *postgres.Tx) (err error) {
		if out.Body.Held, err = contacts.Export(ctx, tx, in.ID); err != nil {
			return err
		}
		entries, err := events.HeldTimeline(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		out.Body.Timeline = make([]shownEntry, len(entries))
		for i, e := range entries {
			out.Body.Timeline[i] = shownEntry{e}
		}
		if out.Body.Merges, err = merge.Of(ctx, tx, in.ID); err != nil {
			return err
		}
		if out.Body.Deals, err = deals.Held(ctx, tx, in.ID); err != nil {
			return err
		}
		out.Body.About, err = activities.Held(ctx, tx, in.ID)
		return err
	})
	return out, err
}
