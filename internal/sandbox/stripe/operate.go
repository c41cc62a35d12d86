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

// operate is like do, but returns a refusal as an error.
func (s *Sandbox) operate(ctx context.Context, account string, fn func(*tx)) error {
	refused, err := s.do(ctx, account, origin{}, func(tx *tx) *problem {
		fn(tx)
		return nil
	})
	if err == nil && refused != nil {
		return refused.err()
	}
	return err
}

// last4 returns the last four digits of the card with a conduct, or "" if there is no such conduct.
func last4(c Conduct) string {
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
	return p.s.operate(ctx, p.account, func(tx *tx) {
		if last4(to) == "" {
			refuse(invalid("card", "", "A card is ok, decline or 3ds."))
		}
		c := get[customer](tx, "customer", cus)
		if c.Own.Card == "" {
			c.Own.Card = text(tx.attach("pm_card_visa", c.ID).ID)
			tx.put(c)
		}
		m := get[card](tx, "card", string(c.Own.Card))
		before := tx.show(m, nil)
		m.Own.Conduct, m.Own.Last4 = to, last4(to)
		tx.put(m)
		tx.emit("payment_method.updated", m, before)
	})
}

// OpenInvoices returns the ids of the open invoices of an account's customers, "" for the platform's, newest first.
func (s *Sandbox) OpenInvoices(ctx context.Context, account string) (ids []string, err error) {
	_, err = s.look(ctx, account, func(tx *tx) *problem {
		ids = nil
		for _, inv := range all[invoice](tx, Query{All: []string{mark("status", "open")}}) {
			ids = append(ids, inv.ID)
		}
		return nil
	})
	return ids, err
}

// Confirm accepts or declines the bank's authentication request for a payment that requires action.
func (p Part) Confirm(ctx context.Context, intentID string, yes bool) error {
	return p.s.operate(ctx, p.account, func(tx *tx) { tx.authenticate(get[intent](tx, "intent", intentID), yes) })
}

// Pay pays an open invoice, as the customer would on its page. If the card declines, Pay returns no error and the
// invoice stays open.
func (p Part) Pay(ctx context.Context, invoiceID string) error {
	return p.s.operate(ctx, p.account, func(tx *tx) {
		inv := get[invoice](tx, "invoice", invoiceID)
		if inv.Status != "open" {
			refuse(invalid("", "", "The invoice is %s.", inv.Status))
		}
		tx.collect(inv, "", false)
	})
}
