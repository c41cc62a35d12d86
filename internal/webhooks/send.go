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

// Parcel is a delivery that is ready to be sent.
type Parcel struct {
	Delivery  id.ID
	Endpoint  id.ID
	EventID   id.ID // the webhook-id
	EventType string
	Trigger   string
	URL       string
	Secrets   []string // newest first
	Body      []byte   // the envelope
	Status    Status   // before this try
	Tries     int      // made so far
	Made      time.Time
	// Held is set if the endpoint's circuit is open: ask Admit.
	Held bool
	// Lost is how many workers were lost that had this delivery; each may have sent it.
	Lost int
	// Wanted is false if the endpoint or the event is gone, or the endpoint is switched off and nobody asked for
	// this very delivery.
	Wanted bool
}

// Asked says that a person asked for this delivery, by a test, a redelivery or a replay: those are sent whether or
// not the endpoint is switched on.
func (p *Parcel) Asked() bool { return p.Trigger != ByEvent }

// Test says that the parcel is a test send, which is tried once.
func (p *Parcel) Test() bool { return p.Trigger == ByTest }

// ByHand says that a person asked for this very delivery, which an open circuit does not keep back.
func (p *Parcel) ByHand() bool { return p.Test() || p.Trigger == ByRedelivery }

// SendTest writes one delivery of a made-up event of that type, live or reserved, with its job. It is sent to a
// disabled endpoint too, so that one can be tried out before it is switched on, and only once.
func (s *Service) SendTest(ctx context.Context, tx *postgres.Tx, endpoint id.ID, t events.Type) (Delivery, error) {
	if _, err := s.Get(ctx, tx, endpoint, false); err != nil {
		return Delivery{}, err
	}
	d := Delivery{ID: id.New(), WebhookID: endpoint, EventID: id.New(), EventType: t.Name, Trigger: "test", Status: Pending, Attempts: []Attempt{}}
	d.CreatedAt = wire.Now()
	d.UpdatedAt = d.CreatedAt
	sample, err := t.Sample(tx.Org(), d.EventID, d.CreatedAt)
	if err != nil {
		return Delivery{}, fmt.Errorf("make sample: %w", err)
	}
	events.Send(tx, d.ID, endpoint, sample)
	return d, nil
}
