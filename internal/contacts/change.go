package contacts

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Change is the result of a change to a contact.
type Change struct {
	Row
	// Previous holds the previous values of the changed fields, by JSON name. It is empty if nothing changed; nothing
	// was written then.
	Previous map[string]any
	before   Contact
}

// Changed reports whether anything was written.
func (c *Change) Changed() bool { return len(c.Previous) > 0 }

// Before returns the contact before the change.
func (c *Change) Before() *Contact { return &c.before }

// Create queues a new contact made from p and scored by rate, and the record of its first score. It returns the contact
// as it will be stored, without a read. An invalid p is a validation fault at once. A taken address is a TakenError
// when the transaction is sent, and a name that the org has in another spelling a SpellingError: the caller calls
// Respell first when it tries again.
func Create(tx *postgres.Tx, p *Patch, rate Scorer) (Row, error) {
	now := wire.Now()
	c := Contact{
		ID: id.New(), Stage: DefaultStage, Tag: []string{}, Segment: []string{}, Attributes: map[string]any{},
		CreatedAt: now, UpdatedAt: now,
	}
	if err := invalidFields(p.applyToNew(&c, "")); err != nil {
		return Row{}, err
	}

	c.LeadScore, c.Score = rate(&c)
	externalid.LockSent(tx, externalid.Contact, p.ExternalIDs)
	if p.Stage.Set {
		queueStageCheck(tx, c.Stage)
	}
	written := writtenNames{}
	written.add(&Contact{Stage: DefaultStage}, &c)
	lockFields(tx, c.Attributes)
	written.queue(tx)
	makeSegments(tx, c.Segment)
	defineFields(tx, c.Attributes)
	if err := queueInsert(tx, &c); err != nil {
		return Row{}, err
	}

	return Row{Contact: c, Edit: 1}, nil
}

// Update applies p to the live contact i and re-scores it. An archived or unknown contact is a not_found fault. If
// match refuses the edit, its error is returned. A patch without effect writes nothing.
//
// Update may be called concurrently for one contact: the row is locked, so of several calls that require the same edit
// exactly one succeeds.
func Update(ctx context.Context, tx *postgres.Tx, i id.ID, match Match, p *Patch, rate Scorer) (Change, error) {
	externalid.LockSent(tx, externalid.Contact, p.ExternalIDs)
	spelling := queueSpeller(tx, sentNames(p))
	was, err := lockContact(ctx, tx, i, false)
	if err != nil {
		return Change{}, err
	}
	if err := match.checkEdit(was.Edit); err != nil {
		return Change{}, err
	}

	respelled := *p
	spelling.respell(&respelled)
	ch, err := patchedChange(&was, &respelled, "", rate)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	if _, moved := ch.Previous["stage"]; moved {
		queueStageCheck(tx, ch.Stage)
	}
	written := writtenNames{}
	written.add(&was.Contact, &ch.Contact)
	lockFields(tx, changedValues(was.Attributes, ch.Attributes))
	written.queue(tx)
	makeSegments(tx, withoutKeys(ch.Segment, was.Segment))
	defineFields(tx, changedValues(was.Attributes, ch.Attributes))
	if err := queueUpdate(tx, &was, &ch.Contact); err != nil {
		return Change{}, err
	}

	return ch, nil
}

// patchedChange returns the row that p makes of was, re-scored, without writing it.
func patchedChange(was *Row, p *Patch, path string, rate Scorer) (Change, error) {
	c := was.Contact
	if err := invalidFields(p.applyTo(&c, path)); err != nil {
		return Change{}, err
	}
	if p.Segment.Set {
		c.Segment = was.mergeSegments(c.Segment)
	}
	ch := Change{Row: *was, before: was.Contact, Previous: previousValues(&was.Contact, &c)}
	if !ch.Changed() {
		return ch, nil
	}

	c.LeadScore, c.Score = rate(&c)
	ch.Previous = previousValues(&was.Contact, &c)
	c.UpdatedAt = wire.Now()
	ch.Contact = c
	ch.Edit = was.Edit + 1
	return ch, nil
}

// Archive hides the contact from lists and look-ups. It does nothing if the contact is already archived, and then does
// not call match, so that a repeated call has the same result.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match Match) (Change, error) {
	was, err := lockContact(ctx, tx, i, true)
	if err != nil {
		return Change{}, err
	}

	ch := Change{Row: was, before: was.Contact}
	if was.ArchivedAt != nil {
		return ch, nil
	}
	if err := match.checkEdit(was.Edit); err != nil {
		return Change{}, err
	}

	now := wire.Now()
	ch.ArchivedAt = &now
	ch.UpdatedAt = now
	ch.Edit = was.Edit + 1
	ch.Previous = map[string]any{"archived_at": nil}
	tx.Queue(`UPDATE contact SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), i, now)
	setArchived(tx, &was.Contact, true)
	return ch, nil
}

// Restore undoes Archive. It does nothing if the contact is live. If another contact has taken the address, the error
// is a TakenError.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	was, err := lockContact(ctx, tx, i, true)
	if err != nil {
		return Change{}, err
	}

	ch := Change{Row: was, before: was.Contact}
	if was.ArchivedAt == nil {
		return ch, nil
	}

	ch.ArchivedAt = nil
	ch.UpdatedAt = wire.Now()
	ch.Edit = was.Edit + 1
	ch.Previous = map[string]any{"archived_at": was.ArchivedAt}
	convertTaken(
		tx.Queue(
			`UPDATE contact SET archived_at = NULL, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
			tx.Org(), i, ch.UpdatedAt), compare.Address(was.Email), was.ExternalIDs.Keys())
	setArchived(tx, &was.Contact, false)
	return ch, nil
}

// Resolve converts a TakenError in err, of an address or an external id, to a fault that names the contact that has it.
// It returns any other err unchanged. It reads in a new transaction, because the one with the violation has ended.
func Resolve(ctx context.Context, db *postgres.DB, org id.ID, err error) error {
	t, ok := asTaken(err)
	if !ok {
		return externalid.Resolve(ctx, db, org, err)
	}
	var holder id.ID
	if look := db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		holder, err = Holder(ctx, tx, t.Email)
		return err
	}); look != nil {
		return fmt.Errorf("look up the contact with the address: %w", look)
	}
	return Exists(holder).Because(t)
}
