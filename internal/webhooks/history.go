package webhooks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// PastDelivery is a delivery that has ended: its last attempt succeeded, or there is no further one. Its ID is a UUIDv7
// of At.
type PastDelivery struct {
	ID, Endpoint, Event id.ID
	EventType           string
	At                  wire.Time
	Attempts            []PastAttempt // oldest first, at least one
}

// PastAttempt is one attempt of a past delivery. A Status of zero means that no response came, for the reason Class.
type PastAttempt struct {
	ID     id.ID // a UUIDv7 of At
	At     wire.Time
	Status int
	Class  outbound.Class
	Error  string // shown to the org
	Answer string
	Took   time.Duration
}

const recordDeliverySQL = `
INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, status, attempts, last_status,
last_error, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

// RecordPast queues deliveries of the past with their attempts. It adds no job, so nothing is sent, and it leaves the
// health of the endpoints alone.
func RecordPast(tx *postgres.Tx, all []PastDelivery) error {
	for i := range all {
		d := &all[i]
		sent, err := json.Marshal(map[string]string{
			"Content-Type": "application/json", "User-Agent": "Funnelwork-Webhooks/1", "Webhook-Id": d.Event.String(),
		})
		if err != nil {
			return fmt.Errorf("encode headers: %w", err)
		}
		last := &d.Attempts[len(d.Attempts)-1]
		status := Exhausted
		if last.succeeded() {
			status = Delivered
		}
		tx.Queue(recordDeliverySQL, tx.Org(), d.ID, d.Endpoint, d.Event, d.EventType, string(status), len(d.Attempts),
			last.statusCode(), last.errorClass(), d.At, last.At)
		for n := range d.Attempts {
			a := &d.Attempts[n]
			took := a.Took.Microseconds()
			tx.Queue(attemptSQL, tx.Org(), a.ID, d.ID, n+1, ByEvent, sent, a.statusCode(), []byte(a.Answer), false, "",
				a.errorClass(), a.Error, 0, took/8, 0, took*7/8, took, "", a.At)
		}
	}
	return nil
}

func (a *PastAttempt) succeeded() bool { return a.Status >= 200 && a.Status < 300 }

// statusCode returns the status code, or nil if no response came.
func (a *PastAttempt) statusCode() *int {
	if a.Status == 0 {
		return nil
	}
	return &a.Status
}

// errorClass returns the error class as it is stored.
func (a *PastAttempt) errorClass() string {
	switch {
	case a.succeeded():
		return ""
	case a.Status != 0:
		return Refused
	default:
		return string(a.Class)
	}
}

// SetCreated queues setting created_at and updated_at of an endpoint to a time of the past.
func SetCreated(tx *postgres.Tx, endpoint id.ID, at wire.Time) {
	tx.Queue(`UPDATE webhook_endpoint SET created_at = $3, updated_at = $3 WHERE org_id = $1 AND id = $2`,
		tx.Org(), endpoint, at)
}
