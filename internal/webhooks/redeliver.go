package webhooks

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

var errArchived = fault.New(fault.Conflict, "The webhook is archived. Restore it first.")

// Redeliver sends the event of a delivery to its endpoint again, regardless of the delivery's status, and also to a
// disabled endpoint. It creates a new delivery with the same event id, the receiver's webhook-id. The original delivery
// keeps its attempts, its status and its planned retry. An archived endpoint, and an event that is no longer stored,
// are conflicts.
func (s *Service) Redeliver(ctx context.Context, tx *postgres.Tx, delivery id.ID) (Delivery, error) {
	before, err := s.GetDelivery(ctx, tx, delivery)
	if err != nil {
		return Delivery{}, err
	}
	var archived, kept bool
	tx.Queue(postgres.PlanByDay)
	err = tx.QueryRow(ctx, `
		SELECT e.archived_at IS NOT NULL, d.body IS NOT NULL OR EXISTS (SELECT FROM event ev WHERE ev.org_id = $1
		AND ev.id = $3)
		FROM webhook_delivery d JOIN webhook_endpoint e ON e.org_id = d.org_id AND e.id = d.endpoint_id
		WHERE d.org_id = $1 AND d.id = $2`, []any{tx.Org(), delivery, before.EventID}, &archived, &kept)
	switch {
	case err != nil:
		return Delivery{}, fmt.Errorf("read delivery: %w", err)
	case archived:
		return Delivery{}, errArchived
	case !kept:
		return Delivery{},
			fault.New(fault.Conflict,
				"The event is no longer stored: events are deleted after 30 days, and with the contact that they are "+
					"about.")
	}
	d := Delivery{
		ID: id.New(), WebhookID: before.WebhookID, EventID: before.EventID, EventType: before.EventType,
		Trigger: "redelivery", Status: Pending, Attempts: []DeliveryAttempt{},
	}
	d.CreatedAt = wire.Now()
	d.UpdatedAt = d.CreatedAt
	events.Redeliver(tx, delivery, d.ID, d.CreatedAt)
	return d, nil
}
