package sync

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Limits on incoming events.
const (
	// EventBytes is the maximum size of an event.
	EventBytes = 256 << 10
	past       = 300 * time.Second // maximum age of a signature
	future     = 60 * time.Second  // maximum lead of a signature over our clock
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

	e, err := s.verifySignature(body, signature, key)
	if err != nil {
		s.Metrics.Events.WithLabelValues("refused").Inc()
		return err
	}

	return s.storeEvent(ctx, e, body, connect, "webhook")
}

// verifySignature is the library's check, with an additional limit on signatures in the future. It uses the real clock.
func (s *Service) verifySignature(body []byte, signature, key string) (*stripe.Event, error) {
	forged := fault.New(fault.InvalidSignature, "The signature does not match the body.")
	at, ok := signatureTime(signature)
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

// signatureTime returns the timestamp t of a Stripe-Signature.
func signatureTime(signature string) (time.Time, bool) {
	for part := range strings.SplitSeq(signature, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "t="); ok {
			n, err := strconv.ParseInt(v, 10, 64)
			return time.Unix(n, 0), err == nil && n > 0
		}
	}
	return time.Time{}, false
}
