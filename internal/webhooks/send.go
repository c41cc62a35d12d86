package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// DeliveryRequest is a loaded delivery, ready to send.
type DeliveryRequest struct {
	Delivery  id.ID
	Endpoint  id.ID
	EventID   id.ID // the webhook-id
	EventType string
	Trigger   string
	URL       string
	Secrets   []string // newest first
	Body      []byte   // the envelope
	Status    Status   // before this attempt
	Tries     int      // attempts so far
	Made      time.Time
	// Held reports that the endpoint's circuit is open: call Admit.
	Held bool
	// Lost is the number of workers that died with this delivery; each may have sent it.
	Lost int
	// Wanted is false if the endpoint or the event no longer exists, or if the endpoint is disabled and the delivery
	// was triggered by an event.
	Wanted bool
}

// Asked reports whether a caller requested this delivery, by a test, a redelivery or a replay. Such deliveries are also
// sent to a disabled endpoint.
func (r *DeliveryRequest) Asked() bool { return r.Trigger != ByEvent }

// Test reports whether the delivery is a test, which is attempted once.
func (r *DeliveryRequest) Test() bool { return r.Trigger == ByTest }

// ByHand reports whether a caller requested this single delivery, so that an open circuit does not block it.
func (r *DeliveryRequest) ByHand() bool { return r.Test() || r.Trigger == ByRedelivery }

// SendTest creates one delivery of a sample event of the given type, live or reserved, with its job. It is attempted
// once, and also sent to a disabled endpoint, so that an endpoint can be tested before it is enabled.
func (s *Service) SendTest(ctx context.Context, tx *postgres.Tx, endpoint id.ID, t events.Type) (Delivery, error) {
	if _, err := s.Get(ctx, tx, endpoint, false); err != nil {
		return Delivery{}, err
	}
	d := Delivery{
		ID: id.New(), WebhookID: endpoint, EventID: id.New(), EventType: t.Name, Trigger: "test",
		Status: Pending, Attempts: []DeliveryAttempt{},
	}
	d.CreatedAt = wire.Now()
	d.UpdatedAt = d.CreatedAt
	sample, err := t.Sample(tx.Org(), d.EventID, d.CreatedAt)
	if err != nil {
		return Delivery{}, fmt.Errorf("make sample: %w", err)
	}
	events.Send(tx, d.ID, endpoint, sample)
	return d, nil
}
