package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// AsCreated returns the change that creates r, for Announce.
func (r *Row) AsCreated() *Change { return &Change{Row: *r} }

// Announce writes the events of ch: contact.created, contact.archived, contact.restored, or contact.updated with the
// changed fields. If tags were added or removed, it also writes contact.tagged with both lists. A change that wrote
// nothing has no event.
//
// A contact that is created with tags is announced by contact.created alone, which contains them: contact.tagged
// reports a change to an existing contact.
func Announce(ctx context.Context, tx *postgres.Tx, ch *Change) error {
	for _, e := range ch.Events() {
		if err := events.Announce(ctx, tx, e); err != nil {
			return err
		}
	}
	return stopArchived(ctx, tx, []Change{*ch})
}

// stopArchived ends the enrolments of the contacts that the changes have archived.
func stopArchived(ctx context.Context, tx *postgres.Tx, all []Change) error {
	var archived []id.ID
	for i := range all {
		if _, moved := all[i].Previous["archived_at"]; moved && all[i].ArchivedAt != nil {
			archived = append(archived, all[i].ID)
		}
	}
	return states.Archived(ctx, tx, archived, "contact_archived")
}

// Events returns the events that Announce writes, in order.
func (c *Change) Events() []events.Event {
	if c.before.ID.IsZero() {
		return []events.Event{events.ContactCreated{Contact: c.Contact}}
	}
	if !c.Changed() {
		return nil
	}
	if _, moved := c.Previous["archived_at"]; moved {
		if c.ArchivedAt != nil {
			return []events.Event{events.ContactArchived{Contact: c.Contact}}
		}
		return []events.Event{events.ContactRestored{Contact: c.Contact}}
	}

	announced := []events.Event{events.ContactUpdated{Contact: c.Contact, Previous: c.Previous}}
	added := withoutKeys(c.Tag, c.before.Tag)
	removed := withoutKeys(c.before.Tag, c.Tag)
	if len(added)+len(removed) > 0 {
		announced = append(announced,
			events.ContactTagged{
				Tagging: events.Tagging{ContactID: c.ID, Added: copyNonNil(added), Removed: copyNonNil(removed)},
			})
	}

	return announced
}

// AnnounceAll announces each change. It writes all events with one statement.
func AnnounceAll(ctx context.Context, tx *postgres.Tx, all []Change) error {
	var announced []events.Event
	for i := range all {
		announced = append(announced, all[i].Events()...)
	}
	if err := events.AnnounceAll(ctx, tx, announced); err != nil {
		return err
	}
	return stopArchived(ctx, tx, all)
}
