package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
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
	Tries     int      // made so far
	Made      time.Time
	// Wanted is false if the endpoint or the event is gone, or the endpoint is switched off and this is no test.
	Wanted bool
}

// Test says that the parcel is a test send, which is tried once.
func (p *Parcel) Test() bool { return p.Trigger == "test" }

const loadSQL = `
	SELECT d.endpoint_id, d.event_id, d.event_type, d.trigger, d.body, d.attempts, d.created_at,
		e.url, e.secret, e.previous_secret, e.previous_until, e.enabled, e.archived_at IS NOT NULL,
		ev.seq, ev.actor_type, ev.actor_id, ev.request_id, ev.data, ev.created_at
	FROM webhook_delivery d
	JOIN webhook_endpoint e ON e.org_id = d.org_id AND e.id = d.endpoint_id
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
	err := tx.QueryRow(ctx, loadSQL, []any{tx.Org(), delivery},
		&p.Endpoint, &p.EventID, &p.EventType, &p.Trigger, &body, &p.Tries, &made,
		&p.URL, &sealed, &previous, &previousUntil, &enabled, &archived,
		&seq, &actor, &actorID, &req, &data, &at)
	if err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	p.Made, p.Body = made.Time, body
	if p.Body == nil && seq != nil {
		stored := events.Stored{OrgID: tx.Org(), ID: p.EventID, Seq: *seq, Type: p.EventType, ActorType: *actor, ActorID: *actorID, RequestID: *req, Data: data, CreatedAt: *at}
		p.Body = stored.Bytes()
	}
	if p.Wanted = p.Body != nil && !archived && (enabled || p.Test()); !p.Wanted {
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

// Outcome is what one try came to.
type Outcome struct {
	Status  Status // of the delivery from now on
	Class   string // "" for a success
	Error   string // for the org
	Next    time.Time
	Gone    bool // the receiver answered 410
	Started time.Time
	Header  http.Header // as sent
	Answer  outbound.Answer
}

// Record writes a try and where it leaves the delivery, all in tx. A 410 also disables the endpoint, unless its
// URL is another by now, and announces that.
func (s *Service) Record(ctx context.Context, tx *postgres.Tx, p *Parcel, o Outcome) error {
	header := make(map[string]string, len(o.Header))
	for k := range o.Header {
		header[k] = o.Header.Get(k)
	}
	sent, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("encode headers: %w", err)
	}
	var (
		code *int
		next *time.Time
		t    = o.Answer.Timings
		now  = wire.Now()
	)
	if o.Answer.Status != 0 {
		code = &o.Answer.Status
	}
	if !o.Next.IsZero() {
		next = &o.Next
	}
	answer := o.Answer.Body
	if answer == nil {
		answer = []byte{}
	}
	tx.Queue(`
		INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, answer, answer_cut, location,
			error_class, error, dns_us, connect_us, tls_us, first_byte_us, total_us, remote_addr, started_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		tx.Org(), id.New(), p.Delivery, p.Tries+1, p.Trigger, sent, code, answer, o.Answer.Cut, location(o.Answer),
		o.Class, o.Error, t.DNS.Microseconds(), t.Connect.Microseconds(), t.TLS.Microseconds(), t.FirstByte.Microseconds(), t.Total.Microseconds(),
		o.Answer.RemoteAddr, wire.At(o.Started))
	tx.Queue(`
		UPDATE webhook_delivery
		SET status = $3, attempts = $4, last_status = $5, last_error = $6, next_attempt_at = $7, updated_at = $8
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), p.Delivery, string(o.Status), p.Tries+1, code, o.Class, next, now)
	if !o.Gone {
		return nil
	}
	return s.disable(ctx, tx, p, "gone")
}

// Discard ends a delivery that nobody wants any more.
func (s *Service) Discard(tx *postgres.Tx, delivery id.ID) {
	tx.Queue(`
		UPDATE webhook_delivery SET status = 'discarded', next_attempt_at = NULL, updated_at = $3
		WHERE org_id = $1 AND id = $2 AND status IN ('pending', 'failed')`, tx.Org(), delivery, wire.Now())
}

func (s *Service) disable(ctx context.Context, tx *postgres.Tx, p *Parcel, reason string) error {
	v, err := one(ctx, tx, `
		UPDATE webhook_endpoint SET enabled = false, disabled_reason = $4, computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND url = $3 AND enabled AND archived_at IS NULL
		RETURNING `+endpointColumns, tx.Org(), p.Endpoint, p.URL, reason)
	if errors.Is(err, errNoEndpoint) { // changed, disabled or archived meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	return events.Announce(ctx, tx, events.WebhookDisabled{Endpoint: v.Endpoint})
}

func location(a outbound.Answer) string {
	if a.Status < 300 || a.Status > 399 || a.Header == nil {
		return ""
	}
	at := a.Header.Get("Location")
	if len(at) > 2048 {
		at = at[:2048]
	}
	return clean(at)
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

// clean makes text that a stranger sent fit for a text column.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
}
