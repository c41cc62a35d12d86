package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Made is the change that a new contact is, for Tell.
func (r *Row) Made() *Change { return &Change{Row: *r} }

// Tell announces what ch came to: contact.created, contact.archived, contact.restored, or contact.updated with what
// changed and, where tags were added or taken, contact.tagged with both lists. A change that wrote nothing is not told.
//
// A contact that was made with tags is told by contact.created alone, which holds them: contact.tagged says that
// something known has changed.
func Tell(ctx context.Context, tx *postgres.Tx, ch *Change) error {
	for _, e := range ch.Events() {
		if err := events.Announce(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// Events are what Tell announces, in order.
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
	told := []events.Event{events.ContactUpdated{Contact: c.Contact, Previous: c.Previous}}
	added, removed := without(c.Tag, c.before.Tag), without(c.before.Tag, c.Tag)
	if len(added)+len(removed) > 0 {
		told = append(told, events.ContactTagged{Tagging: events.Tagging{ContactID: c.ID, Added: list(added), Removed: list(removed)}})
	}
	return told
}

// list is l, never nil.
func list(l []string) []string { return append([]string{}, l...) }

// TellAll is Tell of each, by one statement for all events.
func TellAll(ctx context.Context, tx *postgres.Tx, all []Change) error {
	var told []events.Event
	for i := range all {
		told = append(told, all[i].Events()...)
	}
	return events.AnnounceAll(ctx, tx, told)
}
