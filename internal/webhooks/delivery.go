package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Status is the status of a delivery.
type Status string

// The statuses.
const (
	Pending   Status = "pending"   // not attempted yet
	Delivered Status = "delivered" // a 2xx response
	Failed    Status = "failed"    // a retry is planned
	Exhausted Status = "exhausted" // no further retry
	Discarded Status = "discarded" // endpoint archived or disabled
)

// The triggers of an attempt. ByProbe occurs only for attempts, not for deliveries: a probe is an attempt that an open
// circuit permits.
const (
	ByEvent      = "event"
	ByTest       = "test"
	ByRedelivery = "redelivery"
	ByReplay     = "replay"
	ByProbe      = "probe"
)

// Error classes in addition to those of calls without a response.
const (
	Refused     = "http_status" // an error status without its own class
	Redirected  = "redirect"
	Gone        = "gone"        // 410
	Interrupted = "interrupted" // the worker died during the attempt
)

// Delivery is the delivery of one event to one endpoint.
type Delivery struct {
	ID             id.ID             `json:"id" format:"uuid" doc:"ID of the delivery"`
	WebhookID      id.ID             `json:"webhook_id" format:"uuid" doc:"ID of the webhook"`
	EventID        id.ID             `json:"event_id" format:"uuid"`
	EventType      string            `json:"event_type" doc:"Type of the event, such as contact.created"`
	ReplayID       *id.ID            `json:"replay_id" format:"uuid" nullable:"true"`
	Trigger        string            `json:"trigger" enum:"event,test,redelivery,replay"`
	Status         Status            `json:"status" enum:"pending,delivered,failed,exhausted,discarded"`
	AttemptCount   int               `json:"attempt_count" doc:"number of attempts, without failed probes"`
	LastStatusCode *int              `json:"last_status_code" doc:"status code of the last response; null if none"`
	LastErrorClass *string           `json:"last_error_class" doc:"of the last attempt; null after a success"`
	NextAttemptAt  *wire.Time        `json:"next_attempt_at" format:"date-time" doc:"approximate; null without a retry"`
	CreatedAt      wire.Time         `json:"created_at" format:"date-time" doc:"When the delivery was created"`
	UpdatedAt      wire.Time         `json:"updated_at" format:"date-time" doc:"When status or attempts changed"`
	Attempts       []DeliveryAttempt `json:"attempts" doc:"The attempts, oldest first"`
}

// Descriptions implements wire.Describer.
func (Delivery) Descriptions() map[string]string {
	return map[string]string{
		"status":    "failed: a retry is planned; exhausted: none is; discarded: webhook archived or disabled",
		"trigger":   "What caused the delivery: the event itself, a test, a redelivery or a replay",
		"event_id":  "ID of the event, sent as the header webhook-id of every attempt",
		"replay_id": "The replay that created the delivery; null: none",
	}
}

// DeliveryAttempt is one attempt of a delivery.
type DeliveryAttempt struct {
	ID             id.ID             `json:"id" format:"uuid" doc:"ID of the attempt"`
	Number         int               `json:"number" doc:"from 1; a failed probe and the next attempt share a number"`
	Trigger        string            `json:"trigger" enum:"event,test,redelivery,replay,probe"`
	StartedAt      wire.Time         `json:"started_at" format:"date-time" doc:"When the attempt started"`
	StatusCode     *int              `json:"status_code" doc:"HTTP status code of the response; null: there was none"`
	ErrorClass     *string           `json:"error_class"`
	Error          *string           `json:"error" doc:"Message of the error, for people; null for a success"`
	Timings        AttemptTimings    `json:"timings" doc:"Durations of the phases, in milliseconds"`
	RequestHeaders map[string]string `json:"request_headers" doc:"Headers that were sent, by name"`
	ResponseBody   *string           `json:"response_body" doc:"first 16 KiB; null in lists and without a response"`
	ResponseCut    bool              `json:"response_truncated" doc:"Whether the response was longer than 16 KiB"`
	Location       *string           `json:"location" doc:"target of a redirect, which is not followed"`
}

// Descriptions implements wire.Describer.
func (DeliveryAttempt) Descriptions() map[string]string {
	return map[string]string{
		"trigger": "probe: sent through an open circuit",
		"error_class": "null for a success. Without a response: address_not_allowed, dns_error, connection_failed, " +
			"tls_error, timeout, connection_closed or invalid_response. With a response: http_status, redirect or " +
			"gone. If the worker was lost: interrupted. Other values may be added",
	}
}

// AttemptTimings are in milliseconds. A phase that did not occur, for example on a reused connection, is 0.
type AttemptTimings struct {
	DNS       float64 `json:"dns_ms" doc:"Milliseconds to resolve the host name; 0: not done"`
	Connect   float64 `json:"connect_ms" doc:"Milliseconds to connect; 0: a connection was reused"`
	TLS       float64 `json:"tls_ms" doc:"Milliseconds of the TLS handshake; 0: none"`
	FirstByte float64 `json:"first_byte_ms"`
	Total     float64 `json:"total_ms" doc:"Milliseconds from the start of the attempt to its end"`
}

// Descriptions implements wire.Describer.
func (AttemptTimings) Descriptions() map[string]string {
	return map[string]string{
		"first_byte_ms": "Milliseconds from the start of the attempt to the first byte of the response",
	}
}

const deliveryColumns = `id, ` + deliveryValues

const deliveryValues = `endpoint_id, event_id, event_type, replay_id, trigger, status, attempts, last_status, ` +
	`last_error, next_attempt_at, created_at, updated_at`

func collectDelivery(r pgx.CollectableRow) (d Delivery, err error) {
	var class string
	err = r.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventType, &d.ReplayID, &d.Trigger, &d.Status, &d.AttemptCount,
		&d.LastStatusCode, &class, &d.NextAttemptAt, &d.CreatedAt, &d.UpdatedAt)
	d.LastErrorClass, d.Attempts = orNil(class), []DeliveryAttempt{}
	return d, err
}

// GetDelivery returns one delivery with all its attempts.
func (s *Service) GetDelivery(ctx context.Context, tx *postgres.Tx, delivery id.ID) (Delivery, error) {
	tx.Queue(postgres.PlanByDay)
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_delivery WHERE org_id = $1 AND id = $2`,
		tx.Org(), delivery)
	if err != nil {
		return Delivery{}, fmt.Errorf("read delivery: %w", err)
	}
	d, err := pgx.CollectExactlyOneRow(rows, collectDelivery)
	if postgres.None(err) {
		return d, fault.New(fault.NotFound, "There is no such delivery.")
	}
	if err != nil {
		return d, fmt.Errorf("read delivery: %w", err)
	}
	all := []Delivery{d}
	err = attachAttempts(ctx, tx, all, true)
	return all[0], err
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
