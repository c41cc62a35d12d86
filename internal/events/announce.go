package events

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Event is one thing that happened to one object.
type Event interface {
	// Type is the name on the wire, such as contact.created.
	Type() string
	// Data answers the object after the change and, for an update, the changed fields as they were.
	Data() (object, previous any)
}

// Each delivery is one job of this kind in the lane of webhooks; jobs/webhookdeliver defines the kind by these
// names, because Announce writes its rows in SQL and may not import a job.
const (
	DeliverKind     = "webhook.deliver"
	DeliverAttempts = 10
)

// Deliver are the arguments of a delivery's job. The job's id is the delivery's.
type Deliver struct {
	Delivery id.ID `json:"delivery"`
}

// maxPerTx is what event_seq has room for.
const maxPerTx = 4096

// announceSQL writes the event and, for each enabled endpoint of the org that wants its type, one delivery and
// one job in that endpoint's line: T1 of the job protocol, made by a SELECT. An org without endpoints pays for an empty index range.
const (
	announceSQL      = announceEvent + announceJobs
	announceEntrySQL = announceEvent + timelineSQL + announceJobs // of an event about contacts
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
SELECT $1, d.id, $10, json_build_object('delivery', d.id), $11, $12, d.endpoint_id, true, job_wake($1, $11, $10, d.endpoint_id, now())
FROM delivery d
RETURNING id, wake_at IS NOT NULL`

// Announce writes e, one line on the timeline of each contact that it concerns, and one delivery with its job for each
// endpoint of the org that wants it, all in tx and without a round trip of its own: an error of the database shows at the commit. Jobs with a free slot are
// pushed after the commit.
//
// A type that is not in the catalogue, or only reserved, is an error, and so is a transaction's 4097th event:
// split such work.
func Announce(ctx context.Context, tx *postgres.Tx, e Event) error {
	if t, ok := Lookup(e.Type()); !ok || !t.Live {
		return fmt.Errorf("announce %s: not a live event type", e.Type())
	}
	n := tx.Ordinal()
	if n >= maxPerTx {
		return fmt.Errorf("announce %s: a transaction has room for %d events", e.Type(), maxPerTx)
	}
	object, previous := e.Data()
	data, err := json.Marshal(Data{Object: object, Previous: previous})
	if err != nil {
		return fmt.Errorf("announce %s: encode: %w", e.Type(), err)
	}
	entry, concerned, err := entryOf(e, object, previous)
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

// Send writes a test delivery of an event that is not stored, with its job, as Announce does for those that are.
// The job is in no line: somebody waits for it, and it is sent though the endpoint's line may be held.
func Send(tx *postgres.Tx, delivery, endpoint id.ID, sample *Stored) {
	tx.Queue(sendSQL, tx.Org(), delivery, endpoint, sample.ID, sample.Type, sample.Bytes(), sample.CreatedAt,
		DeliverKind, string(queue.Webhooks), DeliverAttempts).Query(noteJobs(tx))
}

func noteJobs(tx *postgres.Tx) func(pgx.Rows) error {
	return queue.NoteAdded(tx, DeliverKind, queue.Webhooks, DeliverAttempts)
}
