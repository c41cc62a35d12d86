package externalid

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TakenError is a unique violation: another live record of the org has one of the keys. Resolve converts it to a fault.
type TakenError struct {
	Kind  string
	Keys  []Key // of which one is taken
	cause error
}

func (t *TakenError) Error() string { return fmt.Sprintf("external id is taken: %v", t.cause) }

func (t *TakenError) Unwrap() error { return t.cause }

// Refused returns the TakenError for err if err is the violation of a statement that wrote records of a kind with these
// keys, and err otherwise.
func Refused(err error, kind string, keys []Key) error {
	if !postgres.Violates(err, "external_id_live") {
		return err
	}
	return &TakenError{Kind: kind, Keys: keys, cause: err}
}

// Refuse is Refused for the result of q.
func Refuse(q *pgx.QueuedQuery, kind string, ids IDs) {
	if len(ids) == 0 {
		return
	}
	before := q.Fn
	q.Fn = func(br pgx.BatchResults) (err error) {
		if before != nil {
			err = before(br)
		} else {
			_, err = br.Exec()
		}
		return Refused(err, kind, ids.Keys())
	}
}

// Taken reports whether err is a TakenError.
func Taken(err error) bool {
	_, taken := errors.AsType[*TakenError](err)
	return taken
}

// Exists returns the 409 fault for a key that the live record holder has. holder is the zero id if that record no
// longer exists.
func Exists(kind string, key Key, holder id.ID) *fault.Fault {
	f := fault.New(fault.ExternalIDExists, "A "+kind+" with the external id "+key.String()+" exists.")
	if !holder.IsZero() {
		f.ExistingID = holder.String()
	}
	return f
}

// Resolve converts a TakenError in err to a fault that names the record with the key. It returns any other err
// unchanged. It reads in a new transaction, because the one with the violation has ended.
func Resolve(ctx context.Context, db *postgres.DB, org id.ID, err error) error {
	t, ok := errors.AsType[*TakenError](err)
	if !ok {
		return err
	}
	var holders map[Key]id.ID
	if look := db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		holders, err = Live(ctx, tx, t.Kind, t.Keys)
		return err
	}); look != nil {
		return fmt.Errorf("look up the record with the external id: %w", look)
	}
	for _, k := range t.Keys {
		if holder, has := holders[k]; has {
			return Exists(t.Kind, k, holder).Because(t)
		}
	}
	return Exists(t.Kind, t.Keys[0], id.ID{}).Because(t)
}

// Ambiguous returns the fault for a row of a batch whose external ids are those of several records.
func Ambiguous(kind string) *fault.Fault {
	return fault.New(fault.Conflict, "The external ids of the row belong to several records of the kind "+kind+".")
}

// LockSent queues the lock of the writers of external ids of a kind, if one of the patches sets some. Of two such
// writers of an org one waits for the other, so that two batches do not make a record twice, and no two writers
// deadlock. A writer calls it before it locks rows.
func LockSent(tx *postgres.Tx, kind string, patches ...Patch) {
	for _, p := range patches {
		if len(p.Value) > 0 {
			lockWriters(tx, kind)
			return
		}
	}
}

func lockWriters(tx *postgres.Tx, kind string) {
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('external_id ' || $2::text,
		hashtextextended($1::uuid::text, 0)))`, tx.Org(), kind)
}

// LockKeys is LockSent for a batch whose rows have the keys.
func LockKeys(tx *postgres.Tx, kind string, keys []Key) {
	if len(keys) > 0 {
		lockWriters(tx, kind)
	}
}

// LiveSQL selects as key the ids of the live records of a kind that have one of the keys whose systems and values are
// the arrays of two placeholders, such as $3 and $4. $1 is the org. kind is one of the constants.
func LiveSQL(kind, systems, values string) string {
	return `SELECT h.record_id AS key FROM unnest(` + systems + `::text[], ` + values + `::text[]) AS a (system, value)
		CROSS JOIN LATERAL (SELECT record_id FROM external_id WHERE org_id = $1 AND kind = '` + kind + `'
			AND system = a.system AND value = a.value AND NOT archived LIMIT 1) h`
}

// Args returns the systems and values of keys, as LiveSQL takes them.
func Args(keys []Key) (systems, values []string) {
	systems = make([]string, len(keys))
	values = make([]string, len(keys))
	for i, k := range keys {
		systems[i] = k.System
		values[i] = k.Value
	}
	return systems, values
}

// Live returns the live records that have the keys.
func Live(ctx context.Context, tx *postgres.Tx, kind string, keys []Key) (map[Key]id.ID, error) {
	out := map[Key]id.ID{}
	if len(keys) == 0 {
		return out, nil
	}
	systems, values := Args(keys)
	tx.Queue(postgres.PlanByKeys)
	rows, err := tx.Query(ctx, `SELECT a.system, a.value, h.record_id
		FROM unnest($3::text[], $4::text[]) AS a (system, value)
		CROSS JOIN LATERAL (SELECT record_id FROM external_id WHERE org_id = $1 AND kind = $2
			AND system = a.system AND value = a.value AND NOT archived LIMIT 1) h`, tx.Org(), kind, systems, values)
	if err != nil {
		return nil, fmt.Errorf("read external ids: %w", err)
	}
	var k Key
	var record id.ID
	if _, err := pgx.ForEachRow(rows, []any{&k.System, &k.Value, &record}, func() error {
		out[k] = record
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read external ids: %w", err)
	}
	return out, nil
}

// AnySQL returns the condition that the record column has the key whose system and value are two placeholders, archived
// or not. $1 is the org. kind is one of the constants.
func AnySQL(kind, column, system, value string) string {
	return column + ` IN (SELECT record_id FROM external_id WHERE org_id = $1 AND kind = '` + kind + `' AND system = ` +
		system + ` AND value = ` + value + `)`
}

// maxSystems is the maximum number of systems that Systems returns.
const maxSystems = 100

// Systems returns the systems in which records of a kind have ids, in order, at most 100. It reads one row of each.
func Systems(ctx context.Context, tx *postgres.Tx, kind string) ([]string, error) {
	tx.Queue(postgres.PlanByKeys)
	rows, err := tx.Query(ctx, `WITH RECURSIVE s AS (
			(SELECT system FROM external_id WHERE org_id = $1 AND kind = $2 ORDER BY system LIMIT 1)
			UNION ALL
			SELECT (SELECT system FROM external_id WHERE org_id = $1 AND kind = $2 AND system > s.system
				ORDER BY system LIMIT 1) FROM s WHERE s.system IS NOT NULL
		) SELECT system FROM s WHERE system IS NOT NULL LIMIT $3`, tx.Org(), kind, maxSystems)
	if err != nil {
		return nil, fmt.Errorf("read systems: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read systems: %w", err)
	}
	return all, nil
}
