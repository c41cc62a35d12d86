package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/billing/sync"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// stripeIn is an event from the payment processor. The signature covers the raw bytes.
type stripeIn struct {
	Signature string `header:"Stripe-Signature" doc:"t=<seconds>,v1=<hex>: HMAC of the body with the endpoint's secret"`
	RawBody   []byte
}

type noticeReceiptOut struct {
	Body struct {
		Received bool `json:"received" doc:"Always true: the event is stored and will be processed"`
	}
}

// mountStripe mounts the payment processor's webhook endpoints. They verify, store and acknowledge an event; jobs
// process it.
func (a *App) mountStripe() {
	events := sync.New(a.Billing)
	for _, connect := range []bool{false, true} {
		name, path := "stripe.receive_event", "/billing/stripe/webhook"
		title := "Take an event of the payment processor"
		if connect {
			name, path = "stripe.receive_connect_event", "/billing/stripe/connect-webhook"
			title = "Take an event of a connected account"
		}

		httpx.Route(a.Server, httpx.Op{
			ID:      name,
			Method:  http.MethodPost,
			Path:    path,
			Need:    httpx.Public,
			Part:    httpx.PartBilling,
			Signed:  true,
			Tag:     billingTag,
			Title:   title,
			MaxBody: sync.EventBytes,
			Writes:  []string{"stripe.event"},
		}, func(ctx context.Context, in *stripeIn) (*noticeReceiptOut, error) {
			if err := events.Intake(ctx, in.RawBody, in.Signature, connect); err != nil {
				if fault.Is(err, fault.InvalidSignature) {
					httpx.Unverified(ctx)
				}
				return nil, err
			}
			out := &noticeReceiptOut{}
			out.Body.Received = true
			return out, nil
		})
	}
}
