package change

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Call describes how a request arrived: with or without the caller's idempotency key.
type Call struct {
	Key         string
	Fingerprint []byte
	// Check runs first in TX1; an error aborts the change before it is recorded. Keep runs last in the transaction that
	// closes the change, with the answer. Both may be nil.
	Check func(ctx context.Context, tx *postgres.Tx) error
	Keep  func(ctx context.Context, tx *postgres.Tx, a *Answer) error
}

// Answer is the outcome of a request.
type Answer struct {
	Change         *billing.Change // nil: nothing to change
	Status         string          // the change's state, or Unchanged
	Plan, Interval string
	AmountDue      int64 // charged, or due once the customer confirms
	Currency       string
	EffectiveAt    time.Time
	// ClientSecret and HostedURL let the customer confirm the payment until Until; set while ActionRequired.
	ClientSecret, HostedURL string
	Until                   *time.Time
}

// inFlight returns the fault.ChangeInFlight for a concurrent change.
func inFlight(c *billing.Change) error {
	f := fault.New(fault.ChangeInFlight, "Another change of plan is in progress. Wait for it, or undo it.")
	f.RetryAfter = 2 * time.Second
	if c != nil {
		f.ExistingID = c.ID.String()
	}
	return f
}

// answerFor returns the Answer for a change's row.
func answerFor(c *billing.Change) *Answer {
	a := &Answer{
		Change: c, Status: c.State, Plan: c.ToPlan, Interval: c.ToInterval, AmountDue: c.AmountDue,
		Currency: c.Currency, EffectiveAt: c.CreatedAt,
	}
	if c.EffectiveAt != nil {
		a.EffectiveAt = *c.EffectiveAt
	}
	if c.Kind == billing.Cancel {
		a.Plan = c.FromPlan
		a.Interval = c.FromInterval
	}

	return a
}

func stalePreview() error {
	return fault.New(fault.PreviewStale, "The subscription has changed since this preview. Request a new one.")
}

func turnedDown() error {
	return fault.New(fault.PaymentDeclined,
		"The payment was declined, and nothing was changed. Add another payment method in the billing portal and "+
			"try again.")
}

func noSubscription() error {
	return fault.New(fault.NoSubscription, "There is no subscription; POST /billing/change-plan starts one.")
}

func pastDue() error {
	return fault.New(fault.PaymentPastDue,
		"An invoice is unpaid. Pay it in the billing portal first, or change the plan at the end of the period.")
}
