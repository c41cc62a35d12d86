package contacts

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Statements of the same batch check a change against the org's data. The commit is sent before the first result is
// read, so a violation must be an error of the server: the function refuse() of the migration raises it.

// queueCheck queues a statement that calls refuse on a violation. fields builds the field errors from the detail that
// refuse reports.
func queueCheck(tx *postgres.Tx, fields func(about string) []fault.FieldError, sql string, args ...any) {
	queueFault(tx, func(about string) error { return invalidFields(fields(about)) }, sql, args...)
}

// queueFault is queueCheck for an error that fails builds.
func queueFault(tx *postgres.Tx, fails func(about string) error, sql string, args ...any) {
	tx.Queue(sql, args...).Fn = func(br pgx.BatchResults) error {
		_, err := br.Exec()
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "FW001" {
			return fails(pg.Detail)
		}
		return err
	}
}

var errStage = errors.New("the stage has another spelling")

// queueStageCheck queues a check that the org has the stage.
func queueStageCheck(tx *postgres.Tx, stage string) {
	queueFault(tx, func(about string) error {
		var stages []string
		_ = json.Unmarshal([]byte(about), &stages) // the fault is valid without the list, too
		if containsName(stages, stage) {
			return &SpellingError{cause: errStage}
		}
		return invalidFields([]fault.FieldError{unknownStage("", stage, stages)})
	}, `SELECT refuse('stage', to_json(stages)::text) FROM org WHERE id = $1 AND $2 <> ALL (stages)`, tx.Org(),
		stage)
}

func unknownStage(path, stage string, stages []string) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "stage", Code: "unknown_stage",
		Detail: fault.Choices("The organization's list of stages has no such stage.", stage, stages),
	}
}

// makeSegments queues the creation of static segments for the keys that the org lacks. It also queues a check that no
// key belongs to a dynamic or archived segment.
func makeSegments(tx *postgres.Tx, keys []string) {
	if len(keys) == 0 {
		return
	}

	ids := make([]id.ID, len(keys))
	for i := range ids {
		ids[i] = id.New()
	}
	// segment_room of the migration enforces the limit
	queueCheck(tx, func(string) []fault.FieldError { return []fault.FieldError{tooManySegments("")} },
		`INSERT INTO segment (org_id, id, key, name, kind, created_at, updated_at, folded)
		SELECT $1, i, k, k, 'static', $4, $4, f FROM unnest($2::uuid[], $3::text[], $5::text[]) AS new (i, k, f)
		ON CONFLICT (org_id, key) DO NOTHING`,
		tx.Org(), ids, keys, wire.Now(), foldAll(keys))
	queueCheck(tx, func(about string) []fault.FieldError {
		if key, archived := strings.CutPrefix(about, "-"); archived {
			return []fault.FieldError{archivedSegment("", key)}
		}
		return []fault.FieldError{dynamicSegment("", about[1:])}
	}, `SELECT refuse('segment', CASE WHEN archived_at IS NULL THEN '+' ELSE '-' END || key)
		FROM segment WHERE org_id = $1 AND key = ANY ($2::text[]) AND (kind = 'dynamic' OR archived_at IS NOT NULL)`,
		tx.Org(), keys)
}

func tooManySegments(path string) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "segment", Code: "too_many_segments",
		Detail: "An organization has at most 200 segments.",
	}
}

func archivedSegment(path, key string) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "segment", Code: "archived_segment",
		Detail: "The segment " + key + " is archived; restore it, or choose another key.",
	}
}

func dynamicSegment(path, key string) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "segment", Code: "dynamic_segment",
		Detail: "The segment " + key + " is dynamic: who is in it follows from its filter.",
	}
}

// defineAgain is the conflict clause of an insert of definitions: it revives an archived key and leaves a live one
// unchanged.
const defineAgain = `ON CONFLICT (org_id, key) DO UPDATE SET label = excluded.label, type = excluded.type,
	created_at = excluded.created_at,
	updated_at = excluded.updated_at, archived_at = NULL, edit = contact_field.edit + 1
	WHERE contact_field.archived_at IS NOT NULL`

// lockFields queues the lock that defineFields needs if a key of values is new. It serializes the definitions of an
// org, so that a check after it sees all of them.
func lockFields(tx *postgres.Tx, values map[string]any) {
	if len(values) == 0 {
		return
	}
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('contact_field', hashtextextended($1::uuid::text, 0)))
		WHERE EXISTS (SELECT FROM unnest($2::text[]) k
			WHERE NOT EXISTS (SELECT FROM contact_field f WHERE f.org_id = $1 AND f.key = k
			AND f.archived_at IS NULL))`, tx.Org(), slices.Sorted(maps.Keys(values)))
}

// defineFields queues definitions for the keys of values that the org lacks, and a check that every value has the type
// of its key.
func defineFields(tx *postgres.Tx, values map[string]any) {
	if len(values) == 0 {
		return
	}

	keys := slices.Sorted(maps.Keys(values))
	types := make([]string, len(keys))
	for i, k := range keys {
		types[i] = string(TypeOf(values[k]))
	}
	tx.Queue(`INSERT INTO contact_field (org_id, key, label, type, created_at, updated_at, folded)
		SELECT $1, k, k, t, $4, $4, f FROM unnest($2::text[], $3::text[], $5::text[]) AS new (k, t, f)
		WHERE NOT EXISTS (SELECT FROM contact_field f WHERE f.org_id = $1 AND f.key = k AND f.archived_at IS NULL) `+
		defineAgain,
		tx.Org(), keys, types, wire.Now(), foldAll(keys))
	queueCheck(tx, func(about string) (wrong []fault.FieldError) {
		var defined map[string]Type
		if err := json.Unmarshal([]byte(about), &defined); err != nil {
			return []fault.FieldError{wrongType("", "", String)}
		}
		for _, key := range slices.Sorted(maps.Keys(defined)) {
			wrong = append(wrong, wrongType("", key, defined[key]))
		}
		return wrong
	},
		`SELECT refuse('type', json_object_agg(f.key, f.type)::text) FROM contact_field f
			JOIN unnest($2::text[], $3::text[]) AS sent (k, t) ON sent.k = f.key
		WHERE f.org_id = $1 AND f.type <> sent.t AND NOT (f.type = 'string' AND sent.t = 'date') HAVING count(*) > 0`,
		tx.Org(), keys, types)
	queueCheck(tx, func(string) []fault.FieldError { return []fault.FieldError{tooManyFields("")} },
		`SELECT refuse('fields', '') FROM contact_field WHERE org_id = $1 AND archived_at IS NULL
			HAVING count(*) > $2`, tx.Org(), maxFields)
}

func wrongType(path, key string, t Type) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "attributes/" + escapePointer(key), Code: "wrong_type",
		Detail: "This custom field is defined as " + string(t) + ".",
	}
}

func tooManyFields(path string) fault.FieldError {
	return fault.FieldError{
		Pointer: "#/" + path + "attributes", Code: "too_many_fields",
		Detail: "An organization has at most 200 custom fields.",
	}
}
