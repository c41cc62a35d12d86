// Package record implements the common operations on simple records of an org: rows with an id, an edit counter for the
// ETag, updated_at and archived_at. It reads, locks, changes, archives and restores records, and lists them with keyset
// pagination.
//
// A domain package declares its Table and implements its columns, rules and events. Contacts do not use this package,
// because they are found by side tables.
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

// Table describes the records of type T. The table Name has the columns org_id, id, edit, updated_at and archived_at.
type Table[T any] struct {
	Name    string
	Absent  string // detail of its not_found fault
	Columns string // the columns that Scan reads after edit, separated by commas
	// Scan returns the scan targets of the columns.
	Scan func(*T) []any
	// Stamps returns pointers to the two times in a T.
	Stamps func(*T) (updated *wire.Time, archived **wire.Time)
}

// Row is a record with the edit counter of its ETag.
type Row[T any] struct {
	Value T
	Edit  int
}

// Change is the result of a change to a record.
type Change[T any] struct {
	Row[T]
	Before T // the previous value; the zero T for a new record
	// Previous holds the previous values of the changed members, by JSON name. It is empty if nothing changed; the
	// caller must then not write.
	Previous map[string]any
}

// Changed reports whether the caller must write the change.
func (c *Change[T]) Changed() bool { return len(c.Previous) > 0 }

// Match is the precondition of a change. It returns an error for an edit that the caller does not accept. A nil Match
// accepts every edit.
type Match func(edit int64) error

func (m Match) check(edit int) error {
	if m == nil {
		return nil
	}
	return m(int64(edit))
}

// NotFound returns the fault for a record that does not exist.
func (t *Table[T]) NotFound() *fault.Fault { return fault.New(fault.NotFound, t.Absent) }

func (t *Table[T]) columns() string { return "edit, " + t.Columns }

func (t *Table[T]) scan(row pgx.CollectableRow) (r Row[T], err error) {
	return r, row.Scan(append([]any{&r.Edit}, t.Scan(&r.Value)...)...)
}

// Get returns one record of the org. An archived record is returned only with archivedToo. If there is no such record,
// the error is a not_found fault.
func (t *Table[T]) Get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row[T], error) {
	return t.get(ctx, tx, i, archivedToo, "")
}

// Lock is Get with the row locked until the transaction ends.
func (t *Table[T]) Lock(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (Row[T], error) {
	return t.get(ctx, tx, i, archivedToo, " FOR UPDATE")
}

func (t *Table[T]) get(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool, lock string) (Row[T], error) {
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

// Select returns the records that match where, with arguments from $2 on; $1 is the org. With lock it locks them in the
// order of their ids, so that concurrent transactions cannot deadlock.
func (t *Table[T]) Select(ctx context.Context, tx *postgres.Tx, lock bool, where string, args ...any) ([]Row[T],
	error,
) {
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

// LockAll returns the live records whose ids keys selects as a column named key, with arguments from $2 on; $1 is the
// org. It looks each up by its id, whatever the statistics say of the org, and locks them in the order of their ids, so
// that concurrent transactions cannot deadlock.
func (t *Table[T]) LockAll(ctx context.Context, tx *postgres.Tx, keys string, args ...any) ([]Row[T], error) {
	tx.Queue(postgres.PlanByKeys)
	rows, err := tx.Query(ctx, "SELECT "+t.columns()+" FROM (SELECT DISTINCT key FROM ("+keys+") AS k ORDER BY "+
		"key) AS k"+
		" CROSS JOIN LATERAL (SELECT * FROM "+t.Name+" WHERE org_id = $1 AND id = k.key AND archived_at IS NULL"+
		" FOR UPDATE) AS r ORDER BY id", append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", t.Name, err)
	}
	return pgx.CollectRows(rows, t.scan)
}

// Update locks the live record i and calls apply to change a copy of it. An archived or unknown record is a not_found
// fault. If match refuses the edit, its error is returned. Update writes nothing: the caller must write the change if
// it is Changed.
//
// Update may be called concurrently for one record: the row is locked, so of several calls that require the same edit
// exactly one succeeds.
func (t *Table[T]) Update(ctx context.Context, tx *postgres.Tx, i id.ID, match Match,
	apply func(was, now *T) error,
) (Change[T], error) {
	was, err := t.Lock(ctx, tx, i, false)
	if err != nil {
		return Change[T]{}, err
	}
	if err := match.check(was.Edit); err != nil {
		return Change[T]{}, err
	}
	return t.Next(was, apply)
}

// Next returns the change that apply makes to was, without writing it.
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

// Archive hides the record. It does nothing if the record is already archived, and then does not call match, so that a
// repeated call has the same result.
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
	tx.Queue("UPDATE "+t.Name+" SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2",
		tx.Org(), i, now)
	return ch, nil
}

// Restore undoes Archive. If the record is live, it does nothing and the returned query is nil. Otherwise the caller
// may inspect the result of the returned query.
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
	q := tx.Queue("UPDATE "+t.Name+
		" SET archived_at = NULL, updated_at = $3, edit = edit + 1 WHERE org_id = $1 AND id = $2", tx.Org(), i,
		*updated)
	return ch, q, nil
}

// Changes returns the previous values, from a, of the members in which b differs from a, by JSON name, embedded ones
// included. It excludes the time of the change itself.
func Changes[T any](a, b *T) map[string]any {
	was := map[string]any{}
	collectChanges(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), was)
	return was
}

func collectChanges(x, y reflect.Value, was map[string]any) {
	for i := range x.NumField() {
		field := x.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous && field.Type.Kind() == reflect.Struct {
			collectChanges(x.Field(i), y.Field(i), was)
		}
		if name == "" || name == "-" || name == "updated_at" {
			continue
		}
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			was[name] = x.Field(i).Interface()
		}
	}
}
