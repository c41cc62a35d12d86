package api_test

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// tellOfWebhooks records webhooks, their deliveries, and events.
func (r *recorder) tellOfWebhooks(c *caller) {
	r.Helper()
	hook := r.made(c, "webhooks.create", `{"url":"https://example.com/webhooks/crm",`+
		`"events":["contact.created","deal.won"],"description":"CRM to newsletter"}`)
	r.plain(c, "webhooks", hook, `{"rate_limit":20}`)
	r.call(c, "webhooks.test", `{"type":"contact.created"}`, hook)
	r.call(c, "webhooks.rotate_secret", `{"overlap_hours":24}`, hook)
	r.call(c, "webhooks.list_deliveries", nil, hook)
	delivery := c.first(hooksPath + "/" + hook + "/deliveries")
	r.call(c, "webhook_deliveries.list", nil)
	r.call(c, "webhook_deliveries.get", nil, delivery)
	r.call(c, "webhook_deliveries.redeliver", nil, delivery)
	var replay struct{ ID string }
	r.call(c, "webhooks.replay", map[string]any{
		"from": time.Now().Add(-time.Hour), "to": time.Now(), "types": []string{"contact.created"},
	}, hook).into(r, &replay)
	r.call(c, "webhooks.get_replay", nil, hook, replay.ID)
	r.call(c, "events.list", nil)
	r.call(c, "event_types.list", nil)
}

// tellOfBilling records plans, and changes of the plan of a new org.
func (r *recorder) tellOfBilling(c *caller) {
	r.Helper()
	r.call(c, "billing.list_plans", nil)
	r.call(c, "billing.preview_plan_change", `{"plan":"solo_pro","interval":"month"}`)
	r.call(c, "billing.change_plan", `{"plan":"solo_pro","interval":"month"}`)
	r.call(c, "billing.get_subscription", nil)
	r.call(c, "billing.get_entitlements", nil)
	r.call(c, "billing.list_invoices", nil)
	r.call(c, "billing.create_portal_link", nil)
	down := c.do("POST", "/billing/change-plan", plan("solo_starter", "month")).change(r, 200, "scheduled")
	r.call(c, "billing.get_change", nil, *down.ID)
	r.call(c, "billing.undo_change", nil, *down.ID)
	r.call(c, "billing.cancel", nil)
	r.call(c, "billing.resume", nil)
	r.tellOfEvents(c)
}

// tellOfEvents records events of the payment processor, which it signs.
func (r *recorder) tellOfEvents(c *caller) {
	r.Helper()
	out, err := r.Stripe.Outbox(c.Context(), 1)
	if err != nil || len(out) == 0 {
		r.Fatalf("%d events of the payment processor, %v", len(out), err)
	}
	const kind = "application/octet-stream"
	const body = `"{\"id\":\"evt_EXAMPLE\",\"type\":\"customer.subscription.updated\"}"`
	for operation, secret := range map[string]string{
		"stripe.receive_event": r.StripeSecret, "stripe.receive_connect_event": r.ConnectSecret,
	} {
		_, path := r.locate(operation)
		r.record(operation, kind, body, r.stranger().do("POST", path, out[0].Body, "Stripe-Signature",
			stripe.Sign(secret, time.Now(), out[0].Body)))
	}
}
