package stripe

import "context"

// The following methods are the actions of a customer, a bank or an operator outside of the API, for the page's buttons
// and for tests.

// On returns the part of the sandbox of one account; "" is the platform.
func (s *Sandbox) On(account string) Part { return Part{s, account} }

// Part is the part of the sandbox that belongs to one account.
type Part struct {
	s       *Sandbox
	account string
}

// updateAsOperator is like updateState, but returns a refusal as an error.
func (s *Sandbox) updateAsOperator(ctx context.Context, account string, fn func(*tx)) error {
	refused, err := s.updateState(ctx, account, origin{}, func(tx *tx) *problem {
		fn(tx)
		return nil
	})
	if err == nil && refused != nil {
		return refused.asError()
	}

	return err
}

// lastDigits returns the last four digits of the card with a conduct, or "" if there is no such conduct.
func lastDigits(c Conduct) string {
	return map[Conduct]string{Works: "4242", Decline: "0002", ThreeDS: "3184"}[c]
}

// SetCard calls SetCard of On("").
func (s *Sandbox) SetCard(ctx context.Context, cus string, to Conduct) error {
	return s.On("").SetCard(ctx, cus, to)
}

// Confirm calls Confirm of On("").
func (s *Sandbox) Confirm(ctx context.Context, intentID string, yes bool) error {
	return s.On("").Confirm(ctx, intentID, yes)
}

// Pay calls Pay of On("").
func (s *Sandbox) Pay(ctx context.Context, invoiceID string) error {
	return s.On("").Pay(ctx, invoiceID)
}

// SetCard sets the conduct of a customer's default card.
func (p Part) SetCard(ctx context.Context, cus string, to Conduct) error {
	return p.s.updateAsOperator(ctx, p.account, func(tx *tx) {
		if lastDigits(to) == "" {
			refuse(invalidRequest("card", "", "A card is ok, decline or 3ds."))
		}

		c := mustFind[customer](tx, "customer", cus)
		if c.Own.Card == "" {
			c.Own.Card = text(tx.attachToCustomer("pm_card_visa", c.ID).ID)
			tx.put(c)
		}

		m := mustFind[card](tx, "card", string(c.Own.Card))
		before := tx.renderObject(m, nil)
		m.Own.Conduct = to
		m.Own.Last4 = lastDigits(to)
		tx.put(m)
		tx.emitEvent("payment_method.updated", m, before)
	})
}

// OpenInvoices returns the ids of the open invoices of an account's customers, "" for the platform's, newest first.
func (s *Sandbox) OpenInvoices(ctx context.Context, account string) (ids []string, err error) {
	_, err = s.viewState(ctx, account, func(tx *tx) *problem {
		ids = nil
		for _, inv := range findAll[invoice](tx, Query{All: []string{indexKey("status", "open")}}) {
			ids = append(ids, inv.ID)
		}
		return nil
	})
	return ids, err
}

// Confirm accepts or declines the bank's authentication request for a payment that requires action.
func (p Part) Confirm(ctx context.Context, intentID string, yes bool) error {
	return p.s.updateAsOperator(ctx, p.account,
		func(tx *tx) { tx.recordAuthentication(mustFind[intent](tx, "intent", intentID), yes) })
}

// Pay pays an open invoice, as the customer would on its page. If the card declines, Pay returns no error and the
// invoice stays open.
func (p Part) Pay(ctx context.Context, invoiceID string) error {
	return p.s.updateAsOperator(ctx, p.account, func(tx *tx) {
		inv := mustFind[invoice](tx, "invoice", invoiceID)
		if inv.Status != "open" {
			refuse(invalidRequest("", "", "The invoice is %s.", inv.Status))
		}
		tx.collectInvoice(inv, "", false)
	})
}
