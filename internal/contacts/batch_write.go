package contacts

import (
	"slices"
	"strings"
)

// changes returns the created contacts, and the contacts that differ from their stored rows.
func (b *batch) changes() (made, changed []Change) {
	for _, e := range b.order {
		ch := Change{Row: e.now, before: e.was.Contact}
		if e.isNew {
			made = append(made, ch)
		} else if ch.Previous = changes(&e.was.Contact, &e.now.Contact); ch.Changed() {
			changed = append(changed, ch)
		}
	}
	return made, changed
}

// write queues the writes of the whole batch. New contacts are inserted in the order of their addresses, so that
// concurrent batches cannot deadlock.
func (b *batch) write() error {
	makeSegments(b.tx, b.newKeys)
	b.define()
	var fresh []*Contact
	var known []Change
	for _, e := range b.order {
		switch {
		case e.isNew:
			fresh = append(fresh, &e.now.Contact)
		case len(changes(&e.was.Contact, &e.now.Contact)) == 0:
		case Fold(e.was.Email) == Fold(e.now.Email):
			known = append(known, Change{Row: e.now, before: e.was.Contact})
		default: // addresses may move between contacts, so the order must be kept
			if err := update(b.tx, &e.was, &e.now.Contact); err != nil {
				return err
			}
		}
	}
	if err := updateAll(b.tx, known); err != nil {
		return err
	}
	slices.SortFunc(fresh, func(x, y *Contact) int { return strings.Compare(Fold(x.Email), Fold(y.Email)) })
	return insertAll(b.tx, fresh)
}
