package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
)

// stripeIn is an event from the payment processor. The signature covers the raw bytes.
type stripeIn struct {
	Signature string `header:"Stripe-Signature" doc:"t=<seconds>,v1=<hex>: HMAC of the body with the endpoint's secret"`
	RawBody   []byte
}

type receivedOut struct {
	Body struct {
		Received bool `json:"received"`
	}
}

// mountStripe mounts the payment processor's webhook endpoints. They verify, store and acknowledge an event; jobs
// process it.
func (a *App) mountStripe() {
	events := sync.New(a.Billing)
	for _, connect := range []bool{false, true} {
		path, title := "/billing/stripe/webhook", "Take an event of the payment processor"
		if connect {
			path, title = "/billing/stripe/connect-webhook", "Take an event of a connected account"
		}
		httpx.Route(a.Server, httpx.Op{
			Method:  http.MethodPost,
			Path:    path,
			Need:    httpx.Public,
			Part:    httpx.PartBilling,
			Signed:  true,
			Tag:     billingTag,
			Title:   title,
			MaxBody: sync.EventBytes,
			Writes:  []string{"stripe.event"},
		}, func(ctx context.Context, in *stripeIn) (*receivedOut, error) {
			if err := events.Intake(ctx, in.RawBody, in.Signature, connect); err != nil {
				return nil, err
			}
			out := &receivedOut{}
			out.Body.Received = true
			return out, nil
		})
	}
}
