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
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Outcome is the result of one attempt.
type Outcome struct {
	Status  Status // the delivery's new status
	Class   string // "" for a success
	Error   string // shown to the org
	Next    time.Time
	Gone    bool          // the receiver returned 410
	Down    bool          // a failure of the endpoint, not of this event
	Asked   time.Duration // Retry-After of a 429 or 503
	Probe   bool          // sent through an open circuit; a failure does not count as an attempt
	Started time.Time
	Header  http.Header // as sent
	Answer  outbound.Answer
}

// countsAsAttempt reports whether the attempt counts toward the delivery's attempts.
func (o *Outcome) countsAsAttempt() bool { return !o.Probe || o.Status == Delivered || o.Gone }

// headerJSON returns the header as JSON.
func (o *Outcome) headerJSON() ([]byte, error) {
	header := make(map[string]string, len(o.Header))
	for k := range o.Header {
		header[k] = o.Header.Get(k)
	}
	sent, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("encode headers: %w", err)
	}
	return sent, nil
}

const (
	attemptSQL = `
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, answer,
answer_cut, location,
	error_class, error, dns_us, connect_us, tls_us, first_byte_us, total_us, remote_addr, started_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	// Inserts the attempts of lost workers, with unknown outcome, unless the log already has them.
	lostSQL = `
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, error_class, error, started_at)
SELECT $1, uuidv7_at($2), $3, $4, $5, '{}', 'interrupted', $6, $2
FROM generate_series(1, $7 - (SELECT count(*)::int FROM webhook_attempt WHERE org_id = $1 AND delivery_id = $3
AND id >= $8 AND error_class = 'interrupted'))`
	lostText = "We lost the process that had this try before it said how it ended; the receiver may have got it. " +
		"It does not count, and was repeated."

	statusSQL = `
UPDATE webhook_delivery
SET status = $3, attempts = $4, last_status = $5, last_error = $6, next_attempt_at = $7, updated_at = $8
WHERE org_id = $1 AND id = $2`
)

// Record writes an attempt, the delivery's new status, and the endpoint's health, all in tx. A 410 disables the
// endpoint, unless its URL has changed meanwhile, and announces webhook.disabled; disabled is then true, and the caller
// notifies the org's people.
func (s *Service) Record(ctx context.Context, tx *postgres.Tx, p *DeliveryRequest, o Outcome) (disabled bool,
	err error,
) {
	if err := queueAttempt(tx, p, &o); err != nil {
		return false, err
	}
	switch {
	case o.Status == Delivered:
		s.recordSuccess(tx, p)
		return false, nil
	case o.Gone:
		disabled, err = s.disableEndpoint(ctx, tx, p.Endpoint, p.URL, "gone")
		return disabled, err
	case p.Test():
		return false, nil // tests do not affect the endpoint's health
	}
	return false, s.recordFailure(ctx, tx, p, &o)
}

// queueAttempt writes the attempt and the delivery's new status.
func queueAttempt(tx *postgres.Tx, p *DeliveryRequest, o *Outcome) error {
	sent, err := o.headerJSON()
	if err != nil {
		return err
	}
	var code *int
	if o.Answer.Status != 0 {
		code = &o.Answer.Status
	}
	answer := o.Answer.Body
	if answer == nil {
		answer = []byte{}
	}
	trigger, tries, t := p.Trigger, p.Tries, o.Answer.Timings
	if o.Probe {
		trigger = ByProbe
	}
	if o.countsAsAttempt() {
		tries++
	}
	tx.Queue(postgres.PlanByDay)
	if p.Lost > 0 {
		tx.Queue(lostSQL, tx.Org(), wire.At(o.Started.Add(-time.Millisecond)), p.Delivery, p.Tries+1, p.Trigger,
			lostText, p.Lost, id.Floor(p.Delivery.Time().Add(-eventSlack)))
	}
	tx.Queue(attemptSQL, tx.Org(), id.New(), p.Delivery, p.Tries+1, trigger, sent, code, answer, o.Answer.Cut,
		redirectOf(o.Answer),
		o.Class, o.Error, t.DNS.Microseconds(), t.Connect.Microseconds(), t.TLS.Microseconds(),
		t.FirstByte.Microseconds(), t.Total.Microseconds(),
		o.Answer.RemoteAddr, wire.At(o.Started))
	tx.Queue(statusSQL, tx.Org(), p.Delivery, string(o.Status), tries, code, o.Class, orNull(o.Next), wire.Now())
	return nil
}

// recordSuccess updates the endpoint's health after a success.
func (s *Service) recordSuccess(tx *postgres.Tx, p *DeliveryRequest) {
	if p.Held {
		s.resetHealth(tx, p.Endpoint)
		return
	}
	tx.Queue(relieveSQL, tx.Org(), []id.ID{p.Endpoint})
}

// recordFailure updates the endpoint's health after a failure, and opens or closes its circuit.
func (s *Service) recordFailure(ctx context.Context, tx *postgres.Tx, p *DeliveryRequest, o *Outcome) error {
	h, now, err := lockHealth(ctx, tx, p.Endpoint)
	if err != nil {
		return err
	}
	c := h.recordFailure(now, failureSignal{down: o.Down, first: p.Status == Pending, alone: p.Held, asked: o.Asked})
	saveHealth(tx, p.Endpoint, &h)
	if c.hold > 0 {
		queue.OpenCircuit(tx, p.Endpoint, c.hold)
	}
	if c.free {
		queue.CloseCircuit(tx, p.Endpoint)
	}
	return nil
}

// Discard marks an unfinished delivery as discarded.
func (s *Service) Discard(tx *postgres.Tx, delivery id.ID) {
	tx.Queue(postgres.PlanByDay)
	tx.Queue(`
		UPDATE webhook_delivery SET status = 'discarded', next_attempt_at = NULL, updated_at = $3
		WHERE org_id = $1 AND id = $2 AND status IN ('pending', 'failed')`, tx.Org(), delivery, wire.Now())
}

// disableEndpoint disables an endpoint on the platform's behalf if it is enabled and still has that URL, and announces
// webhook.disabled to the org's other endpoints. The endpoint's pending deliveries are discarded when they are due.
func (s *Service) disableEndpoint(ctx context.Context, tx *postgres.Tx, endpoint id.ID, url, reason string) (done bool,
	err error,
) {
	v, err := readEndpoint(ctx, tx, `
		UPDATE webhook_endpoint SET enabled = false, disabled_reason = $4, computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND url = $3 AND enabled AND archived_at IS NULL
		RETURNING `+endpointColumns, tx.Org(), endpoint, url, reason)
	if errors.Is(err, errNoEndpoint) { // changed, disabled or archived meanwhile
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.resetHealth(tx, endpoint)
	return true, events.Announce(ctx, tx, events.WebhookDisabled{Endpoint: v.Endpoint})
}

// resetHealth resets an endpoint's health and closes its circuit.
func (s *Service) resetHealth(tx *postgres.Tx, endpoint id.ID) {
	tx.Queue(healSQL, tx.Org(), endpoint)
	queue.CloseCircuit(tx, endpoint)
}

// Hold blocks an endpoint's deliveries for d. It is for a delivery that started although the circuit was open.
func (s *Service) Hold(tx *postgres.Tx, endpoint id.ID, d time.Duration) {
	queue.OpenCircuit(tx, endpoint, d)
}

func redirectOf(a outbound.Answer) string {
	if a.Status < 300 || a.Status > 399 || a.Header == nil {
		return ""
	}
	at := a.Header.Get("Location")
	if len(at) > 2048 {
		at = at[:2048]
	}
	return cleanText(at)
}

// cleanText makes untrusted text valid for a text column.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
}
