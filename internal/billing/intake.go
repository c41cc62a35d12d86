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

// What is believed of an event that comes in.
const (
	// EventBytes is how large one may be.
	EventBytes = 256 << 10
	past       = 300 * time.Second // how old a signature may be
	future     = 60 * time.Second  // and how far ahead of our clock
	courtesy   = 30 * time.Second  // for which an event leaves a change to who asked for it
)

// Intake takes an event as Stripe sent it: raw body and Stripe-Signature. A nil error is the acknowledgement: the event
// is stored, with a job that works it, or was stored before. Nobody else is asked.
//
// Errors: fault.InvalidSignature for a forged, old or future one, fault.BadRequest for one of another API version or
// that is none. Of Connect's endpoint is connect.
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

// verify is the library's check, with a bound on the future that it does not have, by the real clock.
func (s *Service) verify(body []byte, signature, key string) (*stripe.Event, error) {
	forged := fault.New(fault.InvalidSignature, "The signature does not fit the body.")
	at, ok := stamped(signature)
	if key == "" || !ok {
		return nil, forged
	}
	if age := s.Wall().Sub(at); age > past || age < -future {
		return nil, fault.New(fault.InvalidSignature, "The signature's time is too far from now.")
	}
	if err := webhook.ValidatePayloadIgnoringTolerance(body, signature, key); err != nil {
		return nil, forged.Because(err)
	}
	e := &stripe.Event{}
	if err := json.Unmarshal(body, e); err != nil || !strings.HasPrefix(e.ID, "evt_") || e.Type == "" || e.Data == nil {
		return nil, fault.New(fault.BadRequest, "This is no event.")
	}
	if e.APIVersion != stripe.APIVersion {
		return nil, fault.Newf(fault.BadRequest, "Events are taken in API version %s; set that on the endpoint.", stripe.APIVersion)
	}
	return e, nil
}

// stamped reads the t of a Stripe-Signature.
func stamped(signature string) (time.Time, bool) {
	for part := range strings.SplitSeq(signature, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "t="); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			return time.Unix(n, 0), err == nil && n > 0
		}
	}
	return time.Time{}, false
}

// store writes an event and its job. An event that is known already is left as it is.
func (s *Service) store(ctx context.Context, e *stripe.Event, body []byte, connect bool, source string) error {
	customer, object := concerns(e)
	var org id.ID
	var err error
	switch {
	case connect: // whatever it says of its customer, it is the account's
		org, err = s.whoseAccount(ctx, e.Account)
	case strings.HasPrefix(string(e.Type), "application_fee."): // ours, of what one of them was paid
		account, _ := e.Data.Object["account"].(string)
		org, err = s.whoseAccount(ctx, account)
	case customer != "" && e.Account == "":
		org, err = s.whose(ctx, customer)
	}
	if err != nil {
		return err
	}
	result := "stored"
	err = s.System.Tx(ctx, org, func(tx *postgres.Tx) error { // one round trip: what came before is refused by its id
		tx.Queue(`INSERT INTO stripe_event (org_id, id, connect, account, type, customer, object_id, created_at, source, payload)
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

// whose is the org of a customer, the zero one where it is nobody's yet. A customer stays its org's, so that an answer is
// remembered.
func (s *Service) whose(ctx context.Context, customer string) (org id.ID, err error) {
	if known, ok := s.owners.get(customer); ok {
		return known, nil
	}
	err = s.System.View(ctx, org, func(tx *postgres.Tx) error {
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

// owners are customers with their orgs. It is bounded: when it is full it begins anew.
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

// concerns answers the customer that an event is about, "" for none, and its object.
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
