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

// Account configures the connection to Stripe.
type Account struct {
	Key string // secret key
	URL string // "": Stripe's own API; set for the sandbox
	// HTTP sends the requests; nil means a client with a timeout of 15 s.
	HTTP *http.Client
	Log  *slog.Logger
}

// callTime is the timeout of one request to Stripe. It is shorter than the timeout of our own requests, so that we can
// still respond when Stripe does not.
const callTime = 15 * time.Second

// open returns the client. It retries each request once after a network error, with the same idempotency key.
func (a Account) open() *client.API {
	h := a.HTTP
	if h == nil {
		h = &http.Client{Timeout: callTime}
	}
	cfg := &stripe.BackendConfig{
		HTTPClient: h, MaxNetworkRetries: stripe.Int64(1), LeveledLogger: quiet{a.Log},
		EnableTelemetry: stripe.Bool(false),
	}
	if a.URL != "" {
		cfg.URL = stripe.String(a.URL)
	}
	return client.New(a.Key, &stripe.Backends{
		API:     stripe.GetBackendWithConfig(stripe.APIBackend, cfg),
		Connect: stripe.GetBackendWithConfig(stripe.ConnectBackend, cfg),
		Uploads: stripe.GetBackendWithConfig(stripe.UploadsBackend, cfg),
	})
}

// quiet drops the library's log messages, because they may quote a request.
type quiet struct{ log *slog.Logger }

func (quiet) Debugf(string, ...any) {}
func (quiet) Infof(string, ...any)  {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// sort classifies an error of Stripe by its meaning for the caller.
type sort int

const (
	away     sort = iota // no response, or retry with the same key: outcome unknown
	busy                 // 429: not executed, retry later
	declined             // the card was declined: not executed
	missing              // the object does not exist
	refused              // the request is invalid: never executed
)

// sortOf classifies err. It returns away unless Stripe certainly did not execute the request.
func sortOf(err error) sort {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return away
	}
	switch {
	case e.HTTPStatusCode == http.StatusTooManyRequests && e.Code != stripe.ErrorCodeLockTimeout:
		return busy
	case e.Code == stripe.ErrorCodeLockTimeout, e.Code == stripe.ErrorCodeIdempotencyKeyInUse,
		e.HTTPStatusCode == http.StatusConflict:
		return away
	case e.HTTPStatusCode >= http.StatusInternalServerError, e.HTTPStatusCode == 0:
		return away
	case e.Type == stripe.ErrorTypeCard, e.HTTPStatusCode == http.StatusPaymentRequired:
		return declined
	case e.Code == stripe.ErrorCodeResourceMissing, e.HTTPStatusCode == http.StatusNotFound:
		return missing
	case e.HTTPStatusCode == http.StatusUnauthorized, e.HTTPStatusCode == http.StatusForbidden:
		return away // our API key is invalid, not the request: an operator has to fix it
	default:
		return refused
	}
}

// isStripe reports whether err is a response of Stripe.
func isStripe(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e)
}

// stored reports whether Stripe has stored err as the response to its idempotency key. A retry gets the same 500 for a
// day, so only reading the object shows the outcome.
func stored(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.HTTPStatusCode == http.StatusInternalServerError
}

// passes reports whether a retry of the same request may soon succeed: Stripe was unavailable or busy, or the key was
// in use.
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

// retryAfter returns the delay that Stripe requests, or 0.
func retryAfter(err error) time.Duration {
	var e *stripe.Error
	if !errors.As(err, &e) || e.LastResponse == nil {
		return 0
	}
	s, _ := strconv.Atoi(strings.TrimSpace(e.LastResponse.Header.Get("Retry-After")))
	return time.Duration(max(s, 0)) * time.Second
}

// outward converts err into the fault that the API's caller may see, if nothing was changed.
func outward(err error) error {
	if err == nil || fault.Of(err) != nil {
		return err
	}
	var e *stripe.Error
	if !errors.As(err, &e) && !lost(err) {
		return err // not from Stripe
	}
	switch sortOf(err) {
	case declined:
		return fault.New(fault.PaymentDeclined,
			"The payment was declined. Add another payment method in the billing portal and try again.").
			Because(redacted(err))
	case busy, away:
		return unavailable(err)
	default:
		return err
	}
}

// unavailable returns the fault for a Stripe that cannot be reached.
func unavailable(err error) error {
	f := fault.New(fault.Unavailable, "The payment processor cannot be reached. Nothing is lost: retry shortly.").
		Because(redacted(err))
	f.RetryAfter = max(retryAfter(err), 5*time.Second)
	return f
}

// lost reports whether err is a failed request to Stripe rather than an error of our database.
func lost(err error) bool {
	var w *broken
	return errors.As(err, &w)
}

// broken marks an error of a request to Stripe that is not a response of Stripe.
type broken struct{ error }

func (b *broken) Unwrap() error { return b.error }

// asked marks the errors of a request to Stripe, to distinguish them from errors of our database.
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

// redacted returns err without text that Stripe may have echoed: only its status, type, codes and request id.
func redacted(err error) error {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return err
	}
	return errors.New("stripe: " + strconv.Itoa(e.HTTPStatusCode) + " " + string(e.Type) + " " + string(e.Code) + " " +
		string(e.DeclineCode) + " " + e.RequestID)
}

// given returns the common parameters of a request: the context, and an idempotency key if the request writes.
func given(ctx context.Context, key string) stripe.Params {
	p := stripe.Params{Context: ctx}
	if key != "" {
		p.SetIdempotencyKey(key)
	}
	return p
}
