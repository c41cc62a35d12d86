package events

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// announceAllSQL is announceSQL for many events. Its jobs have the concurrency keys of their endpoints and wait for the
// feeder, so that they do not exceed the slots of their keys.
const announceAllSQL = `
WITH happened AS (
	INSERT INTO event (org_id, id, seq, type, actor_type, actor_id, request_id, data, created_at)
	SELECT $1, u.id, event_seq(u.n), u.type, $6, $7, $8, u.data::json, $9
	FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[]) AS u (id, n, type, data)
), delivery AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
	SELECT $1, uuidv7_at(clock_timestamp()), e.id, u.id, u.type, $9, $9
	FROM webhook_endpoint e JOIN unnest($2::uuid[], $4::text[]) AS u (id, type) ON u.type = ANY (e.events)
	OR '*' = ANY (e.events)
	WHERE e.org_id = $1 AND e.enabled AND e.archived_at IS NULL
	RETURNING id, endpoint_id
)
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line, due)
SELECT $1, d.id, $10, json_build_object('delivery', d.id), $11, $12, d.endpoint_id, true
FROM delivery d`

// timelineAllSQL is timelineSQL for the entries of many events, as a separate statement.
const timelineAllSQL = `
INSERT INTO timeline (org_id, contact_id, id, type, actor_type, actor_id, object_id, data, at)
SELECT $1, u.contact, u.id, u.type, $7, $8, u.about, u.data::json, $9
FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::text[]) AS u (contact, id, type, about, data)`

// entries holds the timeline rows of many events, as parallel columns.
type entries struct {
	contacts, events []id.ID
	types            []string
	about            []*id.ID
	data             []string
}

// addEntry adds the result of entryOf for an event.
func (e *entries) addEntry(event id.ID, kind string, entry []any) {
	contacts, _ := entry[0].([]id.ID)
	about, _ := entry[1].(*id.ID)
	data, _ := entry[2].([]byte)
	for _, c := range contacts {
		e.contacts, e.events, e.types = append(e.contacts, c), append(e.events, event), append(e.types, kind)
		e.about, e.data = append(e.about, about), append(e.data, string(data))
	}
}

// AnnounceAll is Announce for many events. It uses one statement, and the deliveries start as the concurrency keys of
// their endpoints have free slots. The limit per transaction is the same.
func AnnounceAll(ctx context.Context, tx *postgres.Tx, all []Event) error {
	if len(all) == 0 {
		return nil
	}
	ids, numbers, types, data := make([]id.ID, len(all)), make([]int, len(all)), make([]string, len(all)),
		make([]string, len(all))
	lines := &entries{}
	for i, e := range all {
		if t, ok := Lookup(e.Type()); !ok || !t.Live {
			return fmt.Errorf("announce %s: not a live event type", e.Type())
		}
		if numbers[i] = tx.Ordinal(); numbers[i] >= maxPerTx {
			return fmt.Errorf("announce %s: a transaction can have at most %d events", e.Type(), maxPerTx)
		}
		object, previous := e.Data()
		encoded, b, err := encodeData(object, previous)
		if err != nil {
			return fmt.Errorf("announce %s: encode: %w", e.Type(), err)
		}
		ids[i], types[i], data[i] = id.New(), e.Type(), string(b)
		entry, concerned, err := entryOf(e, object, encoded, previous)
		if err != nil {
			return fmt.Errorf("announce %s: %w", e.Type(), err)
		}
		if concerned {
			lines.addEntry(ids[i], types[i], entry)
		}
	}
	by, now := OriginOf(ctx), wire.Now()
	tx.Queue(announceAllSQL, tx.Org(), ids, numbers, types, data, by.ActorType, by.ActorID, by.RequestID, now,
		DeliverKind, string(queue.Webhooks), DeliverAttempts)
	if len(lines.contacts) > 0 {
		tx.Queue(timelineAllSQL, tx.Org(), lines.contacts, lines.events, lines.types, lines.about, lines.data,
			by.ActorType, by.ActorID, now)
	}
	return nil
}
