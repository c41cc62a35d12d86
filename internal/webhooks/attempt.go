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

// Outcome is what one try came to.
type Outcome struct {
	Status  Status // of the delivery from now on
	Class   string // "" for a success
	Error   string // for the org
	Next    time.Time
	Gone    bool          // the receiver answered 410
	Down    bool          // a failure of the endpoint's, not of this event's
	Asked   time.Duration // by Retry-After of a 429 or 503
	Probe   bool          // sent through an open circuit: a failure spends none of the delivery's tries
	Started time.Time
	Header  http.Header // as sent
	Answer  outbound.Answer
}

// spends tells whether the try counts in the delivery's plan.
func (o *Outcome) spends() bool { return !o.Probe || o.Status == Delivered || o.Gone }

// sent is the header as JSON.
func (o *Outcome) sent() ([]byte, error) {
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
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, status, answer, answer_cut, location,
	error_class, error, dns_us, connect_us, tls_us, first_byte_us, total_us, remote_addr, started_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	// The tries of lost workers, of which nobody knows how they ended, as far as they are not in the log yet.
	lostSQL = `
INSERT INTO webhook_attempt (org_id, id, delivery_id, number, trigger, request_headers, error_class, error, started_at)
SELECT $1, uuidv7_at($2), $3, $4, $5, '{}', 'interrupted', $6, $2
FROM generate_series(1, $7 - (SELECT count(*)::int FROM webhook_attempt WHERE org_id = $1 AND delivery_id = $3 AND error_class = 'interrupted'))`
	lostText = "We lost the process that had this try before it said how it ended; the receiver may have got it. It does not count, and was repeated."

	statusSQL = `
UPDATE webhook_delivery
SET status = $3, attempts = $4, last_status = $5, last_error = $6, next_attempt_at = $7, updated_at = $8
WHERE org_id = $1 AND id = $2`
)

// Record writes a try, where it leaves the delivery, and what it says about the endpoint's health, all in tx. A
// 410 disables the endpoint, unless its URL is another by now, and announces that: disabled is then true, and the
// caller tells people.
func (s *Service) Record(ctx context.Context, tx *postgres.Tx, p *Parcel, o Outcome) (disabled bool, err error) {
	if err := log(tx, p, &o); err != nil {
		return false, err
	}
	switch {
	case o.Status == Delivered:
		s.relieve(tx, p)
		return false, nil
	case o.Gone:
		disabled, err = s.disable(ctx, tx, p.Endpoint, p.URL, "gone")
		return disabled, err
	case p.Test():
		return false, nil // what a test comes to says nothing about the rule
	}
	return false, s.suffered(ctx, tx, p, &o)
}

// log writes the attempt and the delivery's new status.
func log(tx *postgres.Tx, p *Parcel, o *Outcome) error {
	sent, err := o.sent()
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
	if o.spends() {
		tries++
	}
	tx.Queue(planOnce)
	if p.Lost > 0 {
		tx.Queue(lostSQL, tx.Org(), wire.At(o.Started.Add(-time.Millisecond)), p.Delivery, p.Tries+1, p.Trigger, lostText, p.Lost)
	}
	tx.Queue(attemptSQL, tx.Org(), id.New(), p.Delivery, p.Tries+1, trigger, sent, code, answer, o.Answer.Cut, location(o.Answer),
		o.Class, o.Error, t.DNS.Microseconds(), t.Connect.Microseconds(), t.TLS.Microseconds(), t.FirstByte.Microseconds(), t.Total.Microseconds(),
		o.Answer.RemoteAddr, wire.At(o.Started))
	tx.Queue(statusSQL, tx.Org(), p.Delivery, string(o.Status), tries, code, o.Class, orNull(o.Next), wire.Now())
	return nil
}

// relieve is what a success does for the endpoint's health.
func (s *Service) relieve(tx *postgres.Tx, p *Parcel) {
	if p.Held {
		s.renew(tx, p.Endpoint)
		return
	}
	tx.Queue(relieveSQL, tx.Org(), []id.ID{p.Endpoint})
}

// suffered is what a failure does to it.
func (s *Service) suffered(ctx context.Context, tx *postgres.Tx, p *Parcel, o *Outcome) error {
	h, now, err := lockHealth(ctx, tx, p.Endpoint)
	if err != nil {
		return err
	}
	c := h.suffer(now, misfortune{down: o.Down, first: p.Status == Pending, alone: p.Held, asked: o.Asked})
	saveHealth(tx, p.Endpoint, &h)
	if c.hold > 0 {
		queue.HoldLine(tx, p.Endpoint, c.hold)
	}
	if c.free {
		queue.FreeLine(tx, p.Endpoint)
	}
	return nil
}

// Discard ends a delivery that nobody wants any more.
func (s *Service) Discard(tx *postgres.Tx, delivery id.ID) {
	tx.Queue(`
		UPDATE webhook_delivery SET status = 'discarded', next_attempt_at = NULL, updated_at = $3
		WHERE org_id = $1 AND id = $2 AND status IN ('pending', 'failed')`, tx.Org(), delivery, wire.Now())
}

// disable switches an endpoint off in the platform's name, if it is on and still has that URL, and announces it,
// which reaches the org's other endpoints. What waits for it is discarded when its turn comes.
func (s *Service) disable(ctx context.Context, tx *postgres.Tx, endpoint id.ID, url, reason string) (done bool, err error) {
	v, err := one(ctx, tx, `
		UPDATE webhook_endpoint SET enabled = false, disabled_reason = $4, computed = computed + 1
		WHERE org_id = $1 AND id = $2 AND url = $3 AND enabled AND archived_at IS NULL
		RETURNING `+endpointColumns, tx.Org(), endpoint, url, reason)
	if errors.Is(err, errNoEndpoint) { // changed, disabled or archived meanwhile
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.renew(tx, endpoint)
	return true, events.Announce(ctx, tx, events.WebhookDisabled{Endpoint: v.Endpoint})
}

// renew forgets how an endpoint has been doing, and lets its deliveries through.
func (s *Service) renew(tx *postgres.Tx, endpoint id.ID) {
	tx.Queue(healSQL, tx.Org(), endpoint)
	queue.FreeLine(tx, endpoint)
}

// Hold lets none of an endpoint's deliveries begin for so long. It is for a delivery that should not have begun.
func (s *Service) Hold(tx *postgres.Tx, endpoint id.ID, d time.Duration) {
	queue.HoldLine(tx, endpoint, d)
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

// clean makes text that a stranger sent fit for a text column.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
}
