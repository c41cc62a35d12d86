package record

import (
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// HasExternalID adds the condition that the record of a kind has the external id key, if key is not nil.
func (q *Query) HasExternalID(kind string, key *externalid.Key) {
	if key != nil {
		q.And(externalid.AnySQL(kind, "id", q.Arg(key.System), q.Arg(key.Value)))
	}
}

// ByExternalIDs returns the entry of a batch that has one of the keys, or nil if there is none. If several entries do,
// the error is a fault.
func ByExternalIDs[T any](known map[externalid.Key]*Entry[T], keys []externalid.Key, kind string) (*Entry[T], error) {
	var found *Entry[T]
	for _, k := range keys {
		switch e := known[k]; {
		case found == nil:
			found = e
		case e != nil && e != found:
			return nil, externalid.Ambiguous(kind)
		}
	}
	return found, nil
}

// ReleaseExternalIDs queues the release of the external ids that a batch takes from its records, before it gives them
// to others.
func ReleaseExternalIDs[T any](tx *postgres.Tx, kind string, all []*Entry[T], of func(*T) (id.ID, externalid.IDs)) {
	var records []id.ID
	var keys []externalid.Key
	for _, e := range all {
		if e.New {
			continue
		}
		record, was := of(&e.Was.Value)
		_, now := of(&e.Now.Value)
		for _, k := range was.Keys() {
			if now[k.System] != k.Value {
				records = append(records, record)
				keys = append(keys, k)
			}
		}
	}
	externalid.Releases(tx, kind, records, keys)
}
