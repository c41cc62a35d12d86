package contacts

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
)

// splitChanges returns the created contacts, and the contacts that differ from their stored rows.
func (b *batch) splitChanges() (made, changed []Change) {
	for _, e := range b.order {
		ch := Change{Row: e.now, before: e.was.Contact}
		if e.isNew {
			made = append(made, ch)
		} else if ch.Previous = previousValues(&e.was.Contact, &e.now.Contact); ch.Changed() {
			changed = append(changed, ch)
		}
	}
	return made, changed
}

// releaseExternalIDs queues the release of the external ids that the batch takes from contacts, before it gives them to
// others.
func (b *batch) releaseExternalIDs() {
	var all []Change
	for _, e := range b.order {
		if !e.isNew && len(e.was.ExternalIDs) > 0 {
			all = append(all, Change{Row: e.now, before: e.was.Contact})
		}
	}
	releaseExternalIDs(b.tx, all)
}

// queueWrites queues the writes of the whole batch. New contacts are inserted in the order of their addresses, so that
// concurrent batches cannot deadlock.
func (b *batch) queueWrites() error {
	b.queueDefinitions()
	b.releaseExternalIDs()
	var fresh []*Contact
	var known []Change
	for _, e := range b.order {
		switch {
		case e.isNew:
			fresh = append(fresh, &e.now.Contact)
		case len(previousValues(&e.was.Contact, &e.now.Contact)) == 0:
		case compare.Address(e.was.Email) == compare.Address(e.now.Email):
			known = append(known, Change{Row: e.now, before: e.was.Contact})
		default: // addresses may move between contacts, so the order must be kept
			if err := queueUpdate(b.tx, &e.was, &e.now.Contact); err != nil {
				return err
			}
		}
	}

	if err := updateAll(b.tx, known); err != nil {
		return err
	}

	slices.SortFunc(fresh, func(x, y *Contact) int {
		return strings.Compare(compare.Address(x.Email),
			compare.Address(y.Email))
	})
	return insertAll(b.tx, fresh)
}
