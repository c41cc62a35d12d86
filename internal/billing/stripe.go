package billing

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Account is how Stripe is reached.
type Account struct {
	Key string // secret key
	URL string // "" for Stripe's own; the sandbox has one of its own
	// HTTP carries the requests; nil: a client that gives up after 15 s.
	HTTP *http.Client
	Log  *slog.Logger
}

// callTime is what one request to Stripe may take. It is less than a request of ours may take, so that the answer to
// a lost one is ours.
const callTime = 15 * time.Second

// open makes the client. It tries each request once more when the line broke, under the same Idempotency-Key.
func (a Account) open() *client.API {
	h := a.HTTP
	if h == nil {
		h = &http.Client{Timeout: callTime}
	}
	cfg := &stripe.BackendConfig{HTTPClient: h, MaxNetworkRetries: stripe.Int64(1), LeveledLogger: quiet{a.Log}, EnableTelemetry: stripe.Bool(false)}
	if a.URL != "" {
		cfg.URL = stripe.String(a.URL)
	}
	return client.New(a.Key, &stripe.Backends{
		API: stripe.GetBackendWithConfig(stripe.APIBackend, cfg), Connect: stripe.GetBackendWithConfig(stripe.ConnectBackend, cfg),
		Uploads: stripe.GetBackendWithConfig(stripe.UploadsBackend, cfg),
	})
}

// quiet keeps the library's own words, which may quote a request, out of the log, but for their number.
type quiet struct{ log *slog.Logger }

func (quiet) Debugf(string, ...any) {}
func (quiet) Infof(string, ...any)  {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// sort is what an error of Stripe means to the one who asked.
type sort int

const (
	away     sort = iota // Stripe did not answer, or asks for another try under the same key: the outcome is unknown
	busy                 // 429: not done, later
	declined             // the card was refused: not done
	missing              // there is no such object
	refused              // the request is wrong: not done, and never will be
)

// sortOf reads an error. Only what Stripe says for certain not to have done is anything but away.
func sortOf(err error) sort {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return away
	}
	switch {
	case e.HTTPStatusCode == http.StatusTooManyRequests && e.Code != stripe.ErrorCodeLockTimeout:
		return busy
	case e.Code == stripe.ErrorCodeLockTimeout, e.Code == stripe.ErrorCodeIdempotencyKeyInUse, e.HTTPStatusCode == http.StatusConflict:
		return away
	case e.HTTPStatusCode >= http.StatusInternalServerError, e.HTTPStatusCode == 0:
		return away
	case e.Type == stripe.ErrorTypeCard, e.HTTPStatusCode == http.StatusPaymentRequired:
		return declined
	case e.Code == stripe.ErrorCodeResourceMissing, e.HTTPStatusCode == http.StatusNotFound:
		return missing
	case e.HTTPStatusCode == http.StatusUnauthorized, e.HTTPStatusCode == http.StatusForbidden:
		return away // our key is wrong, not the request: an operator mends it
	default:
		return refused
	}
}

// isStripe tells whether Stripe itself answered err.
func isStripe(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e)
}

// stored tells whether Stripe keeps err as the answer to its Idempotency-Key: asking again answers the same 500 for a
// day, so that only a look at the object tells what happened.
func stored(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.HTTPStatusCode == http.StatusInternalServerError
}

// passes tells whether the same request may succeed a moment later: Stripe was away, or busy, or the key was in use.
func passes(err error) bool {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return lost(err)
	}
	if e.HTTPStatusCode == http.StatusUnauthorized || e.HTTPStatusCode == http.StatusForbidden {
		return false
	}
	what := sortOf(err)
	return what == away || what == busy
}

// retryAfter is how long Stripe asks to wait; 0 where it does not say.
func retryAfter(err error) time.Duration {
	var e *stripe.Error
	if !errors.As(err, &e) || e.LastResponse == nil {
		return 0
	}
	s, _ := strconv.Atoi(strings.TrimSpace(e.LastResponse.Header.Get("Retry-After")))
	return time.Duration(max(s, 0)) * time.Second
}

// outward is err as the caller of the API may see it, where nothing was changed.
func outward(err error) error {
	if err == nil || fault.Of(err) != nil {
		return err
	}
	var e *stripe.Error
	if !errors.As(err, &e) && !lost(err) {
		return err // ours
	}
	switch sortOf(err) {
	case declined:
		return fault.New(fault.PaymentDeclined, "The payment was declined. Give another payment method by the billing portal and try again.").Because(redacted(err))
	case busy, away:
		return unavailable(err)
	default:
		return err
	}
}

// unavailable is the answer while Stripe cannot be asked.
func unavailable(err error) error {
	f := fault.New(fault.Unavailable, "The payment processor cannot be reached. Nothing is lost: ask again shortly.").Because(redacted(err))
	f.RetryAfter = max(retryAfter(err), 5*time.Second)
	return f
}

// lost tells whether err is a line that broke, rather than an error of our own rows.
func lost(err error) bool {
	var w *broken
	return errors.As(err, &w)
}

// broken marks an error of a request to Stripe that is none of Stripe's own.
type broken struct{ error }

func (b *broken) Unwrap() error { return b.error }

// asked marks what a request to Stripe answered, so that its errors are told from those of our own database.
func asked[T any](v T, err error) (T, error) {
	if err == nil {
		return v, nil
	}
	var e *stripe.Error
	if errors.As(err, &e) {
		return v, err
	}
	return v, &broken{err}
}

// redacted is err without what Stripe may have echoed: its kind, code and request id.
func redacted(err error) error {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return err
	}
	return errors.New("stripe: " + strconv.Itoa(e.HTTPStatusCode) + " " + string(e.Type) + " " + string(e.Code) + " " + string(e.DeclineCode) + " " + e.RequestID)
}

// given is the part of every request: its context, and the Idempotency-Key of one that acts.
func given(ctx context.Context, key string) stripe.Params {
	p := stripe.Params{Context: ctx}
	if key != "" {
		p.SetIdempotencyKey(key)
	}
	return p
}
