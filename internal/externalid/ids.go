package externalid

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Kinds of records, which are also the names of their tables.
const (
	Contact = "contact"
	Company = "company"
	Deal    = "deal"
	Note    = "note"
	Task    = "task"
)

// IDs are the ids of a record by system. The ids of a record without any are nil, which is an empty object as JSON.
type IDs map[string]string

// MarshalJSON encodes the ids as an object.
func (ids IDs) MarshalJSON() ([]byte, error) {
	if len(ids) == 0 {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]string(ids))
}

// UnmarshalJSON decodes an object.
func (ids *IDs) UnmarshalJSON(b []byte) error {
	var all map[string]string
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*ids = nil
	if len(all) > 0 {
		*ids = all
	}
	return nil
}

// Scan implements sql.Scanner for a jsonb column.
func (ids *IDs) Scan(src any) error {
	*ids = nil
	switch s := src.(type) {
	case string:
		if s != "{}" {
			return ids.UnmarshalJSON([]byte(s))
		}
	case []byte:
		if string(s) != "{}" {
			return ids.UnmarshalJSON(s)
		}
	default:
		return fmt.Errorf("scan external ids: %T", src)
	}
	return nil
}

// Text returns the ids as JSON, for a statement.
func (ids IDs) Text() string {
	if len(ids) == 0 {
		return "{}"
	}
	b, err := json.Marshal(map[string]string(ids))
	if err != nil { // never: keys and values are strings
		return "{}"
	}
	return string(b)
}

// Keys returns the ids in the order of their systems.
func (ids IDs) Keys() []Key {
	if len(ids) == 0 {
		return nil
	}
	out := make([]Key, 0, len(ids))
	for _, system := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, Key{system, ids[system]})
	}
	return out
}

// Key is the id of a record in one system.
type Key struct{ System, Value string }

// String returns the key as a query parameter has it, such as hubspot:123.
func (k Key) String() string { return k.System + ":" + k.Value }

// ParseKey parses the form of String. A value may contain colons.
func ParseKey(s string) (Key, bool) {
	system, value, found := strings.Cut(s, ":")
	k := Key{system, value}
	return k, found && validSystem(system) && valueError(value) == ""
}

// Releases queues the removal of the keys that records give up, so that other records may take them in any order of the
// later statements of the transaction.
func Releases(tx *postgres.Tx, kind string, records []id.ID, keys []Key) {
	if len(keys) == 0 {
		return
	}
	systems, values := Args(keys)
	tx.Queue(postgres.PlanByKeys)
	tx.Queue(`DELETE FROM external_id e USING unnest($3::text[], $4::text[], $5::uuid[]) AS r (system, value, id)
		WHERE e.org_id = $1 AND e.kind = $2 AND e.system = r.system AND e.value = r.value AND e.record_id = r.id`,
		tx.Org(), kind, systems, values, records)
}
