package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits on incoming events.
const (
	// EventBytes is the maximum size of an event.
	EventBytes = 256 << 10
	past       = 300 * time.Second // maximum age of a signature
	future     = 60 * time.Second  // maximum lead of a signature over our clock
	courtesy   = 30 * time.Second  // how long an event leaves a change to the request that made it
)

// Intake stores an event as Stripe sent it: the raw body and the Stripe-Signature. connect selects the endpoint of
// connected accounts. A nil error acknowledges the event: it is stored with a job that processes it, or it was stored
// before. Intake makes no request to Stripe.
//
// Errors: fault.InvalidSignature if the signature is forged, too old or in the future; fault.BadRequest if the body is
// not an event or has another API version.
func (s *Service) Intake(ctx context.Context, body []byte, signature string, connect bool) error {
	key := s.Secret
	if connect {
		key = s.ConnectSecret
	}
	e, err := s.verify(body, signature, key)
	if err != nil {
		s.Metrics.events.WithLabelValues("refused").Inc()
		return err
	}
	return s.store(ctx, e, body, connect, "webhook")
}

// verify is the library's check, with an additional limit on signatures in the future. It uses the real clock.
func (s *Service) verify(body []byte, signature, key string) (*stripe.Event, error) {
	forged := fault.New(fault.InvalidSignature, "The signature does not match the body.")
	at, ok := stamped(signature)
	if key == "" || !ok {
		return nil, forged
	}
	if age := s.Wall().Sub(at); age > past || age < -future {
		return nil, fault.New(fault.InvalidSignature, "The signature's timestamp is too far from the current time.")
	}
	if err := webhook.ValidatePayloadIgnoringTolerance(body, signature, key); err != nil {
		return nil, forged.Because(err)
	}
	e := &stripe.Event{}
	if err := json.Unmarshal(body, e); err != nil || !strings.HasPrefix(e.ID, "evt_") || e.Type == "" || e.Data == nil {
		return nil, fault.New(fault.BadRequest, "The body is not an event.")
	}
	if e.APIVersion != stripe.APIVersion {
		return nil,
			fault.Newf(fault.BadRequest, "Events are taken in API version %s; set that on the endpoint.",
				stripe.APIVersion)
	}
	return e, nil
}

// stamped returns the timestamp t of a Stripe-Signature.
func stamped(signature string) (time.Time, bool) {
	for part := range strings.SplitSeq(signature, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "t="); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			return time.Unix(n, 0), err == nil && n > 0
		}
	}
	return time.Time{}, false
}

// store writes an event and enqueues its job. A known event is left unchanged.
func (s *Service) store(ctx context.Context, e *stripe.Event, body []byte, connect bool, source string) error {
	customer, object := concerns(e)
	var org id.ID
	var err error
	switch {
	case connect: // the account decides, regardless of the customer
		org, err = s.whoseAccount(ctx, e.Account)
	case strings.HasPrefix(string(e.Type), "application_fee."): // the platform's own event about a connected account
		account, _ := e.Data.Object["account"].(string)
		org, err = s.whoseAccount(ctx, account)
	case customer != "" && e.Account == "":
		org, err = s.whose(ctx, customer)
	}
	if err != nil {
		return err
	}
	result := "stored"
	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error { // one round trip; a unique index rejects duplicates
		tx.Queue(`INSERT INTO stripe_event (org_id, id, connect, account, type, customer, object_id, created_at,
			source, payload)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			org, e.ID, connect, e.Account, string(e.Type), customer, object, unix(e.Created), source, string(body))
		return s.Arrived(ctx, tx, e.ID)
	})
	if postgres.Violates(err, "stripe_event_id_key") || postgres.Violates(err, "stripe_event_pkey") {
		result, err = "known", nil
	}
	if err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if result == "stored" && source == "sync" {
		result = "fetched"
		s.Metrics.repairs.WithLabelValues("missed_event").Inc()
	}
	s.Metrics.events.WithLabelValues(result).Inc()
	return nil
}

// whose returns the org of a customer, or the zero id if the customer has no org yet. A customer never changes its org,
// so a hit is cached.
func (s *Service) whose(ctx context.Context, customer string) (org id.ID, err error) {
	if known, ok := s.owners.get(customer); ok {
		return known, nil
	}
	err = s.System.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx, `SELECT org_id FROM billing_customer WHERE stripe_id = $1`, []any{customer}, &org)
	})
	switch {
	case postgres.None(err):
		return org, nil
	case err != nil:
		return org, fmt.Errorf("find customer: %w", err)
	}
	s.owners.put(customer, org)
	return org, nil
}

// owners caches the org of each customer. It is bounded: when it is full, it is cleared.
type owners struct {
	mu  sync.Mutex
	org map[string]id.ID
}

const mostOwners = 1 << 14

func (o *owners) get(customer string) (id.ID, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	org, ok := o.org[customer]
	return org, ok
}

func (o *owners) put(customer string, org id.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.org == nil || len(o.org) >= mostOwners {
		o.org = make(map[string]id.ID)
	}
	o.org[customer] = org
}

// concerns returns the customer of an event ("" if none) and the id of its object.
func concerns(e *stripe.Event) (customer, object string) {
	text := func(key string) string {
		switch v := e.Data.Object[key].(type) {
		case string:
			return v
		case map[string]any:
			id, _ := v["id"].(string)
			return id
		default:
			return ""
		}
	}
	object = text("id")
	if text("object") == "customer" {
		return object, object
	}
	return text("customer"), object
}
