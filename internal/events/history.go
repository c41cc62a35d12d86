package events

import (
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Past is an event of the past. Its ID is a UUIDv7 of its time.
type Past struct {
	Event
	ID id.ID
	At wire.Time
	By Origin
}

// FeedAge is the age up to which events are in the feed.
const FeedAge = 30 * 24 * time.Hour

const recordPastSQL = `
INSERT INTO event (org_id, id, seq, type, actor_type, actor_id, request_id, data, created_at)
SELECT $1, u.id, event_seq(u.n), u.type, u.actor_type, u.actor_id, u.request_id, u.data::json, u.at
FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[])
	AS u (id, n, type, actor_type, actor_id, request_id, data, at)`

const recordTimelineSQL = `
INSERT INTO timeline (org_id, contact_id, id, type, actor_type, actor_id, object_id, data, at)
SELECT $1, u.contact, u.id, u.type, u.actor_type, u.actor_id, u.about, u.data::json, u.at
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::timestamptz[])
	AS u (contact, id, type, about, data, actor_type, actor_id, at)`

// RecordPast writes events that happened earlier, in the given order, and their timeline entries. It delivers nothing.
// Of events that are older than FeedAge it writes only the timeline entries, as if retention had deleted the events
// since. The order in the feed is the order of writing: write history oldest first.
//
// A type that is not in the catalogue or only reserved is an error, and so is a transaction's 4097th event.
func RecordPast(tx *postgres.Tx, all []Past) error {
	var (
		ids                                  []id.ID
		numbers                              []int
		types, actors, actorIDs, requests, d []string
		at                                   []time.Time
		lines                                entries
		lineActors, lineIDs                  []string
		lineAt                               []time.Time
		oldest                               = time.Now().Add(-FeedAge)
	)
	for i := range all {
		e := &all[i]
		if t, ok := Lookup(e.Type()); !ok || !t.Live {
			return fmt.Errorf("record %s: not a live event type", e.Type())
		}
		object, previous := e.Data()
		encoded, data, err := encodeData(object, previous)
		if err != nil {
			return fmt.Errorf("record %s: encode: %w", e.Type(), err)
		}
		entry, concerned, err := entryOf(e.Event, object, encoded, previous)
		if err != nil {
			return fmt.Errorf("record %s: %w", e.Type(), err)
		}
		if concerned {
			lines.addEntry(e.ID, e.Type(), entry)
			for len(lineAt) < len(lines.contacts) {
				lineAt = append(lineAt, e.At.Time)
				lineActors, lineIDs = append(lineActors, e.By.ActorType), append(lineIDs, e.By.ActorID)
			}
		}
		if e.At.Before(oldest) {
			continue
		}
		n := tx.Ordinal()
		if n >= maxPerTx {
			return fmt.Errorf("record %s: a transaction can have at most %d events", e.Type(), maxPerTx)
		}
		ids, numbers, types, at = append(ids, e.ID), append(numbers, n), append(types, e.Type()), append(at, e.At.Time)
		actors, actorIDs = append(actors, e.By.ActorType), append(actorIDs, e.By.ActorID)
		requests, d = append(requests, e.By.RequestID), append(d, string(data))
	}
	if len(ids) > 0 {
		tx.Queue(recordPastSQL, tx.Org(), ids, numbers, types, actors, actorIDs, requests, d, at)
	}
	if len(lines.contacts) > 0 {
		tx.Queue(recordTimelineSQL, tx.Org(), lines.contacts, lines.events, lines.types, lines.about, lines.data,
			lineActors, lineIDs, lineAt)
	}
	return nil
}
