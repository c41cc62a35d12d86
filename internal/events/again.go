package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const redeliverSQL = `
WITH again AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, trigger, body, created_at, updated_at)
	SELECT org_id, $3, endpoint_id, event_id, event_type, 'redelivery', body, $4, $4
	FROM webhook_delivery WHERE org_id = $1 AND id = $2
	RETURNING id, endpoint_id
)
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line, due, wake_at)
SELECT $1, d.id, $5, json_build_object('delivery', d.id), $6, $7, d.endpoint_id, true, job_wake($1, $6, $5,
d.endpoint_id, now())
FROM again d
RETURNING id, wake_at IS NOT NULL`

// Redeliver writes a new delivery of an earlier delivery's event to the same endpoint, with its job. The earlier
// delivery keeps its attempts and its outcome.
func Redeliver(tx *postgres.Tx, earlier, delivery id.ID, at wire.Time) {
	tx.Queue(postgres.PlanByDay)
	tx.Queue(redeliverSQL, tx.Org(), earlier, delivery, at, DeliverKind, string(queue.Webhooks), DeliverAttempts).
		Query(noteJobs(tx))
}

// replaySQL inserts deliveries and their jobs. The jobs have the concurrency key of their endpoint, like all
// deliveries, and wait for the feeder, so that a large replay does not exceed the slots of the key.
const replaySQL = `
WITH again AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, trigger, replay_id, created_at,
	updated_at)
	SELECT $1, uuidv7_at(clock_timestamp()), $2, e.id, e.type, 'replay', $3, $4, $4
	FROM unnest($5::uuid[], $6::text[]) AS e (id, type)
	RETURNING id
)
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line, due)
SELECT $1, d.id, $7, json_build_object('delivery', d.id), $8, $9, $2, true
FROM again d`

// Replay writes one delivery to an endpoint for each event, with its job.
func Replay(tx *postgres.Tx, endpoint, replay id.ID, all []Again, at wire.Time) {
	ids, types := make([]id.ID, len(all)), make([]string, len(all))
	for i, e := range all {
		ids[i], types[i] = e.Event, e.Type
	}
	tx.Queue(replaySQL, tx.Org(), endpoint, replay, at, ids, types, DeliverKind, string(queue.Webhooks),
		DeliverAttempts)
}

// Again is an event to be delivered again.
type Again struct {
	Event id.ID
	Type  string
}

const sendToSQL = `
WITH happened AS (
	INSERT INTO event (org_id, id, seq, type, actor_type, actor_id, request_id, data, created_at)
	VALUES ($1, $2, event_seq($3), $4, $5, $6, $7, $8, $9)
), delivery AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
	SELECT $1, uuidv7_at(clock_timestamp()), e.id, $2, $4, $9, $9
	FROM webhook_endpoint e WHERE e.org_id = $1 AND e.id = $13 AND e.enabled AND e.archived_at IS NULL
	RETURNING id, endpoint_id
)` + announceJobs

// SendTo writes e and one delivery to the endpoint with its job, even if the endpoint does not subscribe to its type.
// An endpoint that is disabled or does not exist gets none. It is Announce without timelines otherwise.
func SendTo(ctx context.Context, tx *postgres.Tx, endpoint id.ID, e Event) error {
	n := tx.Ordinal()
	if n >= maxPerTx {
		return fmt.Errorf("send %s: a transaction can have at most %d events", e.Type(), maxPerTx)
	}
	object, previous := e.Data()
	data, err := json.Marshal(EnvelopeData{Object: object, Previous: previous})
	if err != nil {
		return fmt.Errorf("send %s: encode: %w", e.Type(), err)
	}
	by := OriginOf(ctx)
	tx.Queue(sendToSQL, tx.Org(), id.New(), n, e.Type(), by.ActorType, by.ActorID, by.RequestID, data, wire.Now(),
		DeliverKind, string(queue.Webhooks), DeliverAttempts, endpoint).Query(noteJobs(tx))
	return nil
}
