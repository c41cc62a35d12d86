package contacts

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/wire"
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

// define queues the new definitions and checks that no concurrent transaction created a different one for the same key.
func (b *batch) define() {
	if len(b.newTypes) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(b.newTypes))
	types := make([]string, len(keys))
	for i, k := range keys {
		types[i] = string(b.newTypes[k])
	}
	b.tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('contact_field', hashtextextended($1::uuid::text, 0)))`,
		b.tx.Org())
	b.tx.Queue(`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at)
		SELECT $1, k, k, t, $4, $4 FROM unnest($2::text[], $3::text[]) AS new (k, t) `+defineAgain, b.tx.Org(), keys,
		types, wire.Now())
	b.tx.Queue(`SELECT key, type, (SELECT count(*) FROM contact_field WHERE org_id = $1 AND archived_at IS NULL)
		FROM contact_field WHERE org_id = $1 AND key = ANY ($2::text[])`, b.tx.Org(),
		keys).Query(func(rows pgx.Rows) error {
		var (
			key, typ string
			count    int
		)
		_, err := pgx.ForEachRow(rows, []any{&key, &typ, &count}, func() error {
			if b.newTypes[key] != Type(typ) || count > maxFields {
				return errRaced
			}
			return nil
		})
		return err
	})
}
