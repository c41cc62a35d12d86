package billing

import (
	"context"
	"fmt"

	"github.com/stripe/stripe-go/v76"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Subscription is an org's billing as stored, without a request to Stripe.
type Subscription struct {
	Rights          *plans.Stored
	Open, Scheduled *Change // nil if none
	Moved           int64   // number of timeline steps; grows with each change of state
}

// Read returns the subscription of tx's org.
func Read(ctx context.Context, tx *postgres.Tx) (*Subscription, error) {
	rights, err := plans.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	s := &Subscription{Rights: rights}
	open, err := unsettled(ctx, tx)
	if err != nil {
		return nil, err
	}
	d := accountState{open: open}
	s.Open, s.Scheduled = d.waiting(), d.scheduled()
	err = tx.QueryRow(ctx, `SELECT count(*) FROM plan_change_step WHERE org_id = $1`, []any{tx.Org()}, &s.Moved)
	if err != nil {
		return nil, fmt.Errorf("count steps: %w", err)
	}
	return s, nil
}

// Known is the outcome of an earlier request with the same idempotency key of the caller.
type Known struct {
	Answer      *Answer
	Fingerprint []byte
}

// ByKey returns the change that a caller's key created, or nil.
func ByKey(ctx context.Context, tx *postgres.Tx, key string) (*Known, error) {
	all, err := changes(ctx, tx, "client_key = $2", key)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	k := &Known{Answer: answered(all[0])}
	err = tx.QueryRow(ctx, `SELECT fingerprint FROM plan_change WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), all[0].ID}, &k.Fingerprint)
	return k, err
}

// Recall returns the answer to a repeated request, including the confirmation data if the customer has to confirm.
func (s *Service) Recall(ctx context.Context, k *Known) (*Answer, error) {
	if k.Answer.Status != ActionRequired {
		return k.Answer, nil
	}
	a, err := s.confirming(ctx, k.Answer.Change)
	return a, outward(err)
}

// Portal returns a link to Stripe's billing portal, where the customer manages payment methods and invoices. back is
// the URL that the portal links back to.
func (s *Service) Portal(ctx context.Context, org id.ID, back string) (string, error) {
	d, err := s.ensureCustomer(ctx, org)
	if err != nil {
		return "", outward(err)
	}
	p := &stripe.BillingPortalSessionParams{Params: given(ctx, ""), Customer: &d.customer, ReturnURL: &back}
	got, err := asked(s.stripe.BillingPortalSessions.New(p))
	if err != nil {
		return "", outward(err)
	}
	return got.URL, nil
}
