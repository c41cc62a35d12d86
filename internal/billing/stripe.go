package billing

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// Account configures the connection to Stripe.
type Account struct {
	Key string // secret key
	URL string // "": Stripe's own API; set for the sandbox
	// HTTP sends the requests; nil means NewHTTP().
	HTTP *http.Client
	Log  *slog.Logger
}

// callTime is the timeout of one request to Stripe. It is shorter than the timeout of our own requests, so that we can
// still respond when Stripe does not.
const callTime = 15 * time.Second

// maxAnswer is the largest response that is read, in bytes. A page of a list has 100 objects of a few KiB. The library
// reads responses whole.
const maxAnswer = 4 << 20

// NewHTTP returns a client for requests to Stripe. Each request times out after 15 s.
func NewHTTP() *http.Client {
	t := outbound.NewTransport(http.ProxyFromEnvironment)
	return &http.Client{
		Transport: outbound.BoundBodies(t, func(*http.Response) int64 { return maxAnswer }), Timeout: callTime,
	}
}

// openClient returns the client. It retries each request once after a network error, with the same idempotency key.
func (a Account) openClient() *client.API {
	h := a.HTTP
	if h == nil {
		h = NewHTTP()
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

// Params returns the common parameters of a request: the context, and an idempotency key if the request writes.
func Params(ctx context.Context, key string) stripe.Params {
	p := stripe.Params{Context: ctx}
	if key != "" {
		p.SetIdempotencyKey(key)
	}
	return p
}
