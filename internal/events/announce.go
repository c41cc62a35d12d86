package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Event is one change to one object.
type Event interface {
	// Type returns the event type, such as contact.created.
	Type() string
	// Data returns the object after the change. For an update it also returns the previous values of the changed
	// fields.
	Data() (object, previous any)
}

// Each delivery is one job of this kind in the webhooks lane. jobs/webhookdeliver defines the kind with these
// constants, because Announce inserts the rows in SQL and may not import a job.
const (
	DeliverKind     = "webhook.deliver"
	DeliverAttempts = 10
)

// Deliver holds the arguments of a delivery's job. The job's id is the delivery's id.
type Deliver struct {
	Delivery id.ID `json:"delivery"`
}

// maxPerTx is the number of events per transaction that event_seq supports.
const maxPerTx = 4096

// announceSQL inserts the event. For each enabled endpoint of the org that subscribes to its type, it also inserts one
// delivery and one job with the endpoint as concurrency key: T1 of the job protocol, as a SELECT. For an org without
// endpoints the cost is one empty index range.
const (
	announceSQL      = announceEvent + announceJobs
	announceEntrySQL = announceEvent + timelineSQL + announceJobs // for an event about contacts
)

const announceEvent = `
WITH happened AS (
	INSERT INTO event (org_id, id, seq, type, actor_type, actor_id, request_id, data, created_at)
	VALUES ($1, $2, event_seq($3), $4, $5, $6, $7, $8, $9)
), delivery AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, created_at, updated_at)
	SELECT e.org_id, uuidv7_at(clock_timestamp()), e.id, $2, $4, $9, $9
	FROM webhook_endpoint e
	WHERE e.org_id = $1 AND e.enabled AND e.archived_at IS NULL AND ($4 = ANY (e.events) OR '*' = ANY (e.events))
	RETURNING id, endpoint_id
)`

const announceJobs = `
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, line, due, wake_at)
SELECT $1, d.id, $10, json_build_object('delivery', d.id), $11, $12, d.endpoint_id, true, job_wake($1, $11, $10,
d.endpoint_id, now())
FROM delivery d
RETURNING id, wake_at IS NOT NULL`

// Announce writes e, one timeline entry for each contact that e concerns, and one delivery with its job for each
// endpoint of the org that subscribes to it. It does so in tx without a separate round trip, so a database error
// surfaces at the commit. Jobs with a free slot are pushed after the commit.
//
// An event type that is not in the catalogue, or only reserved, is an error. A transaction's 4097th event is an error,
// too: split such work.
func Announce(ctx context.Context, tx *postgres.Tx, e Event) error {
	if t, ok := Lookup(e.Type()); !ok || !t.Live {
		return fmt.Errorf("announce %s: not a live event type", e.Type())
	}
	n := tx.Ordinal()
	if n >= maxPerTx {
		return fmt.Errorf("announce %s: a transaction can have at most %d events", e.Type(), maxPerTx)
	}
	object, previous := e.Data()
	encoded, data, err := encodeData(object, previous)
	if err != nil {
		return fmt.Errorf("announce %s: encode: %w", e.Type(), err)
	}
	entry, concerned, err := entryOf(e, object, encoded, previous)
	if err != nil {
		return fmt.Errorf("announce %s: %w", e.Type(), err)
	}
	by := OriginOf(ctx)
	sql, args := announceSQL, []any{
		tx.Org(), id.New(), n, e.Type(), by.ActorType, by.ActorID, by.RequestID, data, wire.Now(),
		DeliverKind, string(queue.Webhooks), DeliverAttempts,
	}
	if concerned {
		sql, args = announceEntrySQL, append(args, entry...)
	}
	tx.Queue(sql, args...).Query(noteJobs(tx))
	return nil
}

const sendSQL = `
WITH delivery AS (
	INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, trigger, body, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, 'test', $6, $7, $7)
)
INSERT INTO job (org_id, id, kind, args, lane, max_attempts, due, wake_at)
VALUES ($1, $2, $8, json_build_object('delivery', $2::uuid), $9, $10, true, job_wake($1, $9, $8, NULL, now()))
RETURNING id, wake_at IS NOT NULL`

// Send writes a test delivery of an event that is not stored, with its job. The job has no concurrency key, because a
// user is waiting for it: it is sent even if the circuit of the endpoint is open.
func Send(tx *postgres.Tx, delivery, endpoint id.ID, sample *Stored) {
	tx.Queue(sendSQL, tx.Org(), delivery, endpoint, sample.ID, sample.Type, sample.Bytes(), sample.CreatedAt,
		DeliverKind, string(queue.Webhooks), DeliverAttempts).Query(noteJobs(tx))
}

func noteJobs(tx *postgres.Tx) func(pgx.Rows) error {
	return queue.NoteAdded(tx, DeliverKind, queue.Webhooks, DeliverAttempts)
}
