package billing

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// ErrMoved reports that the rows changed after they were read. The caller reads them again and retries.
var ErrMoved = errors.New("billing changed concurrently")

// Tries is the number of attempts when concurrent transactions keep changing the rows.
const Tries = 5

// KeyLife is how long an idempotency key may be used. Stripe forgets a key after 24 hours and would then execute the
// request a second time.
const KeyLife = 23 * time.Hour

// FinalAfter is the age of a change after which a stored 500 is final: by then Stripe has finished processing the
// request.
const FinalAfter = 30 * time.Second

// ListingDelay is how long after its timestamp Stripe may list an object. A fetch of missed events starts that long
// before the end of the last one.
const ListingDelay = 5 * time.Minute

// Away reports whether err means that the payment processor is unavailable, so that a retry may succeed.
func Away(err error) bool {
	return fault.Is(err, fault.Unavailable) || isStripeFailure(err) ||
		isStripe(err) && (Classify(err) == OutcomeUnknown || Classify(err) == TooManyRequests)
}

// Patience returns the backoff until the next attempt to reach the payment processor, which has been awaited since
// since.
func Patience(since time.Time) time.Duration {
	switch waited := time.Since(since); {
	case waited < 2*time.Minute:
		return 5 * time.Second
	case waited < time.Hour:
		return 30 * time.Second
	default:
		return 5 * time.Minute
	}
}

// ErrorClass is the meaning of an error of Stripe for the caller.
type ErrorClass int

// The classes of errors.
const (
	OutcomeUnknown  ErrorClass = iota // no response, or retry with the same key: outcome unknown
	TooManyRequests                   // 429: not executed, retry later
	CardDeclined                      // the card was declined: not executed
	NotFound                          // the object does not exist
	Rejected                          // the request is invalid: never executed
)

// Classify returns the class of err. It is OutcomeUnknown unless Stripe certainly did not execute the request.
func Classify(err error) ErrorClass {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return OutcomeUnknown
	}

	switch {
	case e.HTTPStatusCode == http.StatusTooManyRequests && e.Code != stripe.ErrorCodeLockTimeout:
		return TooManyRequests
	case e.Code == stripe.ErrorCodeLockTimeout, e.Code == stripe.ErrorCodeIdempotencyKeyInUse,
		e.HTTPStatusCode == http.StatusConflict:
		return OutcomeUnknown
	case e.HTTPStatusCode >= http.StatusInternalServerError, e.HTTPStatusCode == 0:
		return OutcomeUnknown
	case e.Type == stripe.ErrorTypeCard, e.HTTPStatusCode == http.StatusPaymentRequired:
		return CardDeclined
	case e.Code == stripe.ErrorCodeResourceMissing, e.HTTPStatusCode == http.StatusNotFound:
		return NotFound
	case e.HTTPStatusCode == http.StatusUnauthorized, e.HTTPStatusCode == http.StatusForbidden:
		return OutcomeUnknown // our API key is invalid, not the request: an operator has to fix it
	default:
		return Rejected
	}
}

// isStripe reports whether err is a response of Stripe.
func isStripe(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e)
}

// IsStored reports whether Stripe has stored err as the response to its idempotency key. A retry gets the same 500 for
// a day, so only reading the object shows the outcome.
func IsStored(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.HTTPStatusCode == http.StatusInternalServerError
}

// IsTemporary reports whether a retry of the same request may soon succeed: Stripe was unavailable or busy, or the key
// was in use.
func IsTemporary(err error) bool {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return isStripeFailure(err)
	}
	if e.HTTPStatusCode == http.StatusUnauthorized || e.HTTPStatusCode == http.StatusForbidden {
		return false
	}

	what := Classify(err)
	return what == OutcomeUnknown || what == TooManyRequests
}

// RetryAfter returns the delay that Stripe requests, or 0.
func RetryAfter(err error) time.Duration {
	var e *stripe.Error
	if !errors.As(err, &e) || e.LastResponse == nil {
		return 0
	}
	s, _ := strconv.Atoi(strings.TrimSpace(e.LastResponse.Header.Get("Retry-After")))
	return time.Duration(max(s, 0)) * time.Second
}

// AsFault converts err into the fault that the API's caller may see, if nothing was changed.
func AsFault(err error) error {
	if err == nil || fault.Of(err) != nil {
		return err
	}

	var e *stripe.Error
	if !errors.As(err, &e) && !isStripeFailure(err) {
		return err // not from Stripe
	}

	switch Classify(err) {
	case CardDeclined:
		return fault.New(fault.PaymentDeclined,
			"The payment was declined. Add another payment method in the billing portal and try again.").
			Because(Redacted(err))
	case TooManyRequests, OutcomeUnknown:
		return Unavailable(err)
	default:
		return err
	}
}

// Unavailable returns the fault for a Stripe that cannot be reached.
func Unavailable(err error) error {
	f := fault.New(fault.Unavailable, "The payment processor cannot be reached. Nothing is lost: retry shortly.").
		Because(Redacted(err))
	f.RetryAfter = max(RetryAfter(err), 5*time.Second)
	return f
}

// isStripeFailure reports whether err is a failed request to Stripe rather than an error of our database.
func isStripeFailure(err error) bool {
	var w *broken
	return errors.As(err, &w)
}

// broken marks an error of a request to Stripe that is not a response of Stripe.
type broken struct{ error }

func (b *broken) Unwrap() error { return b.error }

// FromStripe marks the errors of a request to Stripe, to distinguish them from errors of our database.
func FromStripe[T any](v T, err error) (T, error) {
	if err == nil {
		return v, nil
	}

	var e *stripe.Error
	if errors.As(err, &e) {
		return v, err
	}

	return v, &broken{err}
}

// Redacted returns err without text that Stripe may have echoed: only its status, type, codes and request id.
func Redacted(err error) error {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return err
	}
	return errors.New("stripe: " + strconv.Itoa(e.HTTPStatusCode) + " " + string(e.Type) + " " + string(e.Code) + " " +
		string(e.DeclineCode) + " " + e.RequestID)
}
