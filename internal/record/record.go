// Package record is what the plain records of an org share: a row with an id, an edit that its ETag shows, a time of its
// last change and one of its archiving. It reads, locks, changes, archives, restores and lists them by keyset.
//
// A noun declares its Table and keeps what is its own: columns, rules, events. Contacts do not come here: what they are
// found by lies in tables beside the row.
package record

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Table describes the records of type T. Name's table has the columns org_id, id, edit, updated_at and archived_at.
type Table[T any] struct {
	Name    string
	Absent  string // the sentence of its not_found
	Columns string // those that Scan reads after edit, separated by commas
	// Scan answers where the columns go.
	Scan func(*T) []any
	// Stamps are the places of the two times in a T.
	Stamps func(*T) (updated *wire.Time, archived **wire.Time)
}

// Row is a record with the counter of its ETag.
type Row[T any] struct {
	Value T
	Edit  int
}

// Change is what a change came to.
type Change[T any] struct {
	Row[T]
	Before T // as it was; the zero T of a new one
	// Previous are the changed members as they were, by their names on the wire; empty where nothing changed, and then
	// nothing is to be written.
	Previous map[string]any
}

// Changed tells whether anything is to be written.
func (c *Change[T]) Changed() bool { return len(c.Previous) > 0 }

// Match is the condition of a change: an error for an edit that the caller does not stand on. nil asks nothing.
type Match func(edit int64) error

func (m Match) check(edit int) error {
	if m == nil {
		return nil
	}
	return m(int64(edit))
}

// NotFound is the fault for a record that is not there.
func (t *Table[T]) NotFound() *fault.Fault { return fault.New(fault.NotFound, t.Absent) }

func (t *Table[T]) columns() string { return "edit, " + t.Columns }

func (t *Table[T]) scan(row pgx.CollectableRow) (r Row[T], err error) {
	return r, row.Scan(append([]any{&r.Edit}, t.Scan(&r.Value)...)...)
}

// Get answers one record of the org, an archived one only if asked for; else a not_found fault.
func (t *Table[T]) Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row[T], error) {
	return t.one(ctx, tx, i, archivedToo, "")
}

// Lock is Get with the row held until the transaction ends.
func (t *Table[T]) Lock(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row[T], error) {
	return t.one(ctx, tx, i, archivedToo, " FOR UPDATE")
}

func (t *Table[T]) one(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool, lock string) (Row[T], error) {
	rows, err := tx.Query(ctx, "SELECT "+t.columns()+" FROM "+t.Name+" WHERE org_id = $1 AND id = $2"+lock, tx.Org(), i)
	if err != nil {
		return Row[T]{}, fmt.Errorf("read %s: %w", t.Name, err)
	}
	r, err := pgx.CollectExactlyOneRow(rows, t.scan)
	if postgres.None(err) {
		return Row[T]{}, t.NotFound()
	}
	if err != nil {
		return Row[T]{}, fmt.Errorf("read %s: %w", t.Name, err)
	}
	if _, archived := t.Stamps(&r.Value); *archived != nil && !archivedToo {
		return Row[T]{}, t.NotFound()
	}
	return r, nil
}

// Select answers the records that where finds; its arguments begin at $2, $1 is the org. With lock they are held, in the
// order of their ids, so that two transactions wait for each other in one direction only.
func (t *Table[T]) Select(ctx context.Context, tx *postgres.Tx, lock bool, where string, args ...any) ([]Row[T], error) {
	sql := "SELECT " + t.columns() + " FROM " + t.Name + " WHERE org_id = $1 AND " + where + " ORDER BY id"
	if lock {
		sql += " FOR UPDATE"
	}
	rows, err := tx.Query(ctx, sql, append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.Name, err)
	}
	return pgx.CollectRows(rows, t.scan)
}

// Update locks the live record i and lets apply change a copy of it. An archived or unknown one is a not_found fault, an
// edit that match refuses is match's error. Nothing is written: that is the caller's, where the change is one.
//
// Any number of updates may run at once: the row is locked, so of those that name one edit exactly one wins.
func (t *Table[T]) Update(ctx context.Context, tx *postgres.Tx, i id.ID, match Match, apply func(was, now *T) error) (Change[T], error) {
	was, err := t.Lock(ctx, tx, i, false)
	if err != nil {
		return Change[T]{}, err
	}
	if err := match.check(was.Edit); err != nil {
		return Change[T]{}, err
	}
	return t.Next(was, apply)
}

// Next is the change that apply makes of was, without writing it.
func (t *Table[T]) Next(was Row[T], apply func(was, now *T) error) (Change[T], error) {
	ch := Change[T]{Row: was, Before: was.Value}
	now := was.Value
	if err := apply(&was.Value, &now); err != nil {
		return ch, err
	}
	if ch.Previous = Changes(&was.Value, &now); !ch.Changed() {
		return ch, nil
	}
	updated, _ := t.Stamps(&now)
	*updated = wire.Now()
	ch.Value, ch.Edit = now, was.Edit+1
	return ch, nil
}

// Archive hides the record. Of one that is archived already nothing changes, whatever match says, so that a repeated
// call ends as the first did.
func (t *Table[T]) Archive(ctx context.Context, tx *postgres.Tx, i id.ID, match Match) (Change[T], error) {
	was, err := t.Lock(ctx, tx, i, true)
	if err != nil {
		return Change[T]{}, err
	}
	ch := Change[T]{Row: was, Before: was.Value}
	updated, archived := t.Stamps(&ch.Value)
	if *archived != nil {
		return ch, nil
	}
	if err := match.check(was.Edit); err != nil {
		return Change[T]{}, err
	}
	now := wire.Now()
	*updated, *archived, ch.Edit = now, &now, was.Edit+1
	ch.Previous = map[string]any{"archived_at": nil}
	tx.Queue("UPDATE "+t.Name+" SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2", tx.Org(), i, now)
	return ch, nil
}

// Restore undoes Archive. Of a live record nothing changes. The returned query is nil then; else the caller may look at
// what the database says to it.
func (t *Table[T]) Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change[T], *pgx.QueuedQuery, error) {
	was, err := t.Lock(ctx, tx, i, true)
	if err != nil {
		return Change[T]{}, nil, err
	}
	ch := Change[T]{Row: was, Before: was.Value}
	updated, archived := t.Stamps(&ch.Value)
	if *archived == nil {
		return ch, nil, nil
	}
	ch.Previous = map[string]any{"archived_at": *archived}
	*updated, *archived, ch.Edit = wire.Now(), nil, was.Edit+1
	q := tx.Queue("UPDATE "+t.Name+" SET archived_at = NULL, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2", tx.Org(), i, *updated)
	return ch, q, nil
}

// Changes are the members in which b differs from a, as they were in a, by their names on the wire. The time of the
// change itself is not among them.
func Changes[T any](a, b *T) map[string]any {
	was := map[string]any{}
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || name == "updated_at" {
			continue
		}
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			was[name] = x.Field(i).Interface()
		}
	}
	return was
}
