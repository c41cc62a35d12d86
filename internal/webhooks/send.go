package webhooks

import (
	"context"
	"encoding/json"
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
func (p *Parcel) Asked() bool { return p.Trigger != "event" }

// Test says that the parcel is a test send, which is tried once.
func (p *Parcel) Test() bool { return p.Trigger == "test" }

// ByHand says that a person asked for this very delivery, which an open circuit does not keep back.
func (p *Parcel) ByHand() bool { return p.Test() || p.Trigger == "redelivery" }

// planOnce stands before statements that find partitions by a key. Left to itself Postgres plans those anew each
// time, because a plan for one key names one partition and looks cheaper; planning the join below takes ten times as
// long as running it.
const planOnce = `SET LOCAL plan_cache_mode = force_generic_plan`

const loadSQL = `
	SELECT d.endpoint_id, d.event_id, d.event_type, d.trigger, d.body, d.status, d.attempts, d.created_at,
		e.url, e.secret, e.previous_secret, e.previous_until, e.enabled, e.archived_at IS NOT NULL,
		ev.seq, ev.actor_type, ev.actor_id, ev.request_id, ev.data, ev.created_at,
		h.opened_at IS NOT NULL, coalesce(j.losses, 0)
	FROM webhook_delivery d
	JOIN webhook_endpoint e ON e.org_id = d.org_id AND e.id = d.endpoint_id
	LEFT JOIN webhook_health h ON h.org_id = d.org_id AND h.endpoint_id = d.endpoint_id
	LEFT JOIN job j ON j.org_id = d.org_id AND j.id = d.id
	LEFT JOIN event ev ON ev.org_id = d.org_id AND ev.id = d.event_id AND d.body IS NULL
	WHERE d.org_id = $1 AND d.id = $2`

// Load reads a delivery with its endpoint and its event in one round trip. None where it is not there.
func (s *Service) Load(ctx context.Context, tx *postgres.Tx, delivery id.ID) (*Parcel, error) {
	p := &Parcel{Delivery: delivery}
	var (
		sealed, previous    []byte
		previousUntil       *time.Time
		enabled, archived   bool
		body                json.RawMessage
		seq                 *int64
		actor, actorID, req *string
		data                json.RawMessage
		at                  *wire.Time
		made                wire.Time
	)
	tx.Queue(planOnce)
	err := tx.QueryRow(ctx, loadSQL, []any{tx.Org(), delivery},
		&p.Endpoint, &p.EventID, &p.EventType, &p.Trigger, &body, &p.Status, &p.Tries, &made,
		&p.URL, &sealed, &previous, &previousUntil, &enabled, &archived,
		&seq, &actor, &actorID, &req, &data, &at, &p.Held, &p.Lost)
	if err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	p.Made, p.Body = made.Time, body
	if p.Body == nil && seq != nil {
		stored := events.Stored{OrgID: tx.Org(), ID: p.EventID, Seq: *seq, Type: p.EventType, ActorType: *actor, ActorID: *actorID, RequestID: *req, Data: data, CreatedAt: *at}
		p.Body = stored.Bytes()
	}
	if p.Wanted = p.Body != nil && !archived && (enabled || p.Asked()); !p.Wanted {
		return p, nil
	}
	if previousUntil == nil || !previousUntil.After(time.Now()) {
		previous = nil
	}
	for _, one := range [][]byte{sealed, previous} {
		if one == nil {
			continue
		}
		plain, err := s.Box.Open(one, about(tx.Org(), p.Endpoint))
		if err != nil {
			return nil, fmt.Errorf("open secret: %w", err)
		}
		p.Secrets = append(p.Secrets, string(plain))
	}
	return p, nil
}

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
