package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Refused is a contact to which a bulk update could not be applied. The other contacts are changed nevertheless.
type Refused struct {
	ID    id.ID
	Fault *fault.Fault
}

// BulkUpdate applies to each contact in the scope the patch that patch returns for it, re-scores the contact and
// returns the changes. A patch must not set an address. A contact to which its patch cannot be applied is left
// unchanged.
//
// It reads everything at once and writes everything at once. If a concurrent transaction defines a custom field, it
// fails and the transaction must be retried.
func BulkUpdate(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope, patch func(c *Contact) Patch,
	rate Scorer,
) (changed []Change, refused []Refused, err error) {
	d := newDefinitions(tx)
	if changed, refused, err = d.planChanges(ctx, tx, ids, s, patch, rate); err != nil {
		return nil, nil, err
	}
	d.queueDefinitions()
	if err := updateAll(tx, changed); err != nil {
		return nil, nil, err
	}
	return changed, refused, tx.Flush(ctx)
}

// PlanBulkUpdate returns what BulkUpdate would return, and writes nothing.
func PlanBulkUpdate(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope, patch func(c *Contact) Patch,
	rate Scorer,
) (changed []Change, refused []Refused, err error) {
	return newDefinitions(tx).planChanges(ctx, tx, ids, s, patch, rate)
}

// planChanges locks the contacts and computes their changes.
func (d *definitions) planChanges(ctx context.Context, tx *postgres.Tx, ids []id.ID, s Scope,
	patch func(c *Contact) Patch, rate Scorer,
) (changed []Change, refused []Refused, err error) {
	d.queueReads(true, true)
	rows, err := LockAll(ctx, tx, ids, s)
	if err != nil {
		return nil, nil, err
	}

	for i := range rows {
		p := patch(&rows[i].Contact)
		p.Email = wire.Field[string]{}
		ch, err := patchedChange(&rows[i], &p, "", rate)
		if err == nil {
			if f := d.checkAdditions(&rows[i].Contact, &ch.Contact, ""); f != nil {
				err = f
			}
		}
		switch f := fault.Of(err); {
		case f != nil:
			refused = append(refused, Refused{rows[i].ID, f})
		case err != nil:
			return nil, nil, err
		case ch.Changed():
			changed = append(changed, ch)
		}
	}

	return changed, refused, nil
}

// ValidatePatch validates a patch for many contacts, as far as that does not depend on the contact. It returns nil for
// a valid patch. path is the JSON pointer to the patch.
func ValidatePatch(ctx context.Context, tx *postgres.Tx, p *Patch, path string) error {
	blank := Contact{Stage: DefaultStage, Attributes: map[string]any{}}
	c := blank
	wrong := p.applyTo(&c, path)
	if p.Email.Set {
		wrong = append(wrong,
			fault.FieldError{
				Pointer: "#/" + path + "email", Code: "not_allowed",
				Detail: "An address belongs to one contact.",
			})
	}
	if err := invalidFields(wrong); err != nil {
		return err
	}

	d := newDefinitions(tx)
	d.queueReads(true, true)
	spelling := queueSpeller(tx, sentNames(p))
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	spelling.respell(p)
	c = blank
	p.applyTo(&c, path)
	if f := d.checkAdditions(&blank, &c, path); f != nil {
		return invalidFields(f.Fields)
	}

	return nil
}
