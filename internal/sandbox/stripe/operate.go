package stripe

import "context"

// What follows is what a customer, a bank or an operator does outside of the API: the page's buttons, and tests.

// On is one account's part of the sandbox, "" for the platform's own.
func (s *Sandbox) On(account string) Part { return Part{s, account} }

// Part is where a customer lives.
type Part struct {
	s       *Sandbox
	account string
}

// operate is do with a refusal as an error.
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

// last4 is how the card of a conduct ends, "" for none such.
func last4(c Conduct) string {
	return map[Conduct]string{Works: "4242", Decline: "0002", ThreeDS: "3184"}[c]
}

// SetCard is On("")'s.
func (s *Sandbox) SetCard(ctx context.Context, cus string, to Conduct) error {
	return s.On("").SetCard(ctx, cus, to)
}

// Confirm is On("")'s.
func (s *Sandbox) Confirm(ctx context.Context, intentID string, yes bool) error {
	return s.On("").Confirm(ctx, intentID, yes)
}

// Pay is On("")'s.
func (s *Sandbox) Pay(ctx context.Context, invoiceID string) error {
	return s.On("").Pay(ctx, invoiceID)
}

// SetCard has a customer's usual card do something else from now on.
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

// OpenInvoices are the ids of what an account's customers have to pay, "" for the platform's own, newest first.
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

// Confirm answers the bank's question about a payment that requires action.
func (p Part) Confirm(ctx context.Context, intentID string, yes bool) error {
	return p.s.operate(ctx, p.account, func(tx *tx) { tx.authenticate(get[intent](tx, "intent", intentID), yes) })
}

// Pay is the customer paying an open invoice on its page. A card that declines is no error; the invoice stays open.
func (p Part) Pay(ctx context.Context, invoiceID string) error {
	return p.s.operate(ctx, p.account, func(tx *tx) {
		inv := get[invoice](tx, "invoice", invoiceID)
		if inv.Status != "open" {
			refuse(invalid("", "", "The invoice is %s.", inv.Status))
		}
		tx.collect(inv, "", false)
	})
}
