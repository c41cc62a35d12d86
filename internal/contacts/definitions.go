package contacts

import (
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// errRaced means that a concurrent transaction took an address or defined a key after this transaction had read.
var errRaced = errors.New("a concurrent transaction conflicts")

// definitions holds the org's stages, custom fields and segments, for checks in memory, and the definitions that a
// statement for many contacts must create.
type definitions struct {
	tx       *postgres.Tx
	stages   []string
	spelling *speller
	written  writtenNames
	types    map[string]Type
	newTypes map[string]Type
	hints    map[string]Type
	dynamic  map[string]bool // keys of dynamic segments; shelved: of archived ones
	shelved  map[string]bool
	newKeys  []string // segment keys, each once
	isNewKey map[string]bool
}

func newDefinitions(tx *postgres.Tx) *definitions {
	return &definitions{
		tx: tx, spelling: newSpeller(), types: map[string]Type{}, newTypes: map[string]Type{},
		dynamic: map[string]bool{},
		shelved: map[string]bool{}, isNewKey: map[string]bool{},
	}
}

// queueReads queues the reads of the definitions that checkAdditions needs.
func (d *definitions) queueReads(attributes, segments bool) {
	d.tx.Queue(`SELECT stages FROM org WHERE id = $1`, d.tx.Org()).QueryRow(func(row pgx.Row) error {
		return row.Scan(&d.stages)
	})
	if attributes {
		d.tx.Queue(`SELECT key, type FROM contact_field WHERE org_id = $1 AND archived_at IS NULL`,
			d.tx.Org()).Query(func(rows pgx.Rows) error {
			var key, typ string
			_, err := pgx.ForEachRow(rows, []any{&key, &typ}, func() error { d.types[key] = Type(typ); return nil })
			return err
		})
	}
	if segments {
		d.tx.Queue(`SELECT key, kind = 'dynamic', archived_at IS NOT NULL FROM segment WHERE org_id = $1
			AND (kind = 'dynamic' OR archived_at IS NOT NULL)`, d.tx.Org()).Query(func(rows pgx.Rows) error {
			var (
				key               string
				dynamic, archived bool
			)
			_, err := pgx.ForEachRow(rows, []any{&key, &dynamic, &archived}, func() error {
				d.dynamic[key] = dynamic
				d.shelved[key] = archived
				return nil
			})
			return err
		})
	}
}

// checkAdditions checks what the change from was to c adds against the org's definitions, and records the definitions
// that must be created.
func (d *definitions) checkAdditions(was, c *Contact, path string) *fault.Fault {
	var wrong []fault.FieldError
	if c.Stage != was.Stage && !containsKey(d.stages, c.Stage) {
		wrong = append(wrong, unknownStage(path, c.Stage, d.stages))
	}
	segments := withoutKeys(c.Segment, was.Segment)
	for _, s := range segments {
		switch {
		case d.shelved[s]:
			wrong = append(wrong, archivedSegment(path, s))
		case d.dynamic[s]:
			wrong = append(wrong, dynamicSegment(path, s))
		}
	}

	values := changedValues(was.Attributes, c.Attributes)
	define := map[string]Type{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		t, ok := d.types[key]
		if !ok {
			if t, ok = d.hints[key]; !ok {
				t = TypeOf(values[key])
			}
			define[key] = t
		}
		if !t.Takes(values[key]) {
			wrong = append(wrong, wrongType(path, key, t))
		}
	}

	if len(d.types)+len(define) > maxFields {
		wrong = append(wrong, tooManyFields(path))
	}
	if len(wrong) > 0 {
		return &fault.Fault{Code: fault.ValidationFailed, Detail: "The row has invalid fields.", Fields: wrong}
	}

	d.written.add(was, c)
	for key, t := range define {
		d.types[key] = t
		d.newTypes[key] = t
	}

	for _, s := range segments {
		if !d.isNewKey[s] {
			d.isNewKey[s] = true
			d.newKeys = append(d.newKeys, s)
		}
	}

	return nil
}

// queueDefinitions queues the new names and definitions, and checks that no concurrent transaction created a
// different one for the same key.
func (d *definitions) queueDefinitions() {
	if len(d.newTypes) > 0 {
		d.tx.Queue(
			`SELECT pg_advisory_xact_lock(hashtextextended('contact_field', hashtextextended($1::uuid::text, 0)))`,
			d.tx.Org())
	}
	d.written.queue(d.tx)
	makeSegments(d.tx, d.newKeys)
	if len(d.newTypes) == 0 {
		return
	}

	keys := slices.Sorted(maps.Keys(d.newTypes))
	types := make([]string, len(keys))
	for i, k := range keys {
		types[i] = string(d.newTypes[k])
	}

	d.tx.Queue(`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at, folded)
		SELECT $1, k, k, t, $4, $4, f FROM unnest($2::text[], $3::text[], $5::text[]) AS new (k, t, f) `+defineAgain,
		d.tx.Org(), keys, types, wire.Now(), foldAll(keys))
	d.tx.Queue(`SELECT key, type, (SELECT count(*) FROM contact_field WHERE org_id = $1 AND archived_at IS NULL)
		FROM contact_field WHERE org_id = $1 AND key = ANY ($2::text[])`, d.tx.Org(),
		keys).Query(func(rows pgx.Rows) error {
		var (
			key, typ string
			count    int
		)
		_, err := pgx.ForEachRow(rows, []any{&key, &typ, &count}, func() error {
			if d.newTypes[key] != Type(typ) || count > maxFields {
				return errRaced
			}
			return nil
		})
		return err
	})
}
