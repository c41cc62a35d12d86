package stripe

import "slices"

const (
	kindFee      kind = "application_fee"
	kindTransfer kind = "transfer"
	kindRefund   kind = "refund"
)

// transferTo sets the account that receives the payments of a subscription.
func (tx *tx) transferTo(s *subscription, p *params) {
	id := p.need("destination")
	get[account](tx, "transfer_data[destination]", id)
	s.Transfer = &struct {
		Percent     any    `json:"amount_percent"`
		Destination string `json:"destination"`
	}{nil, id}
}

// fee is the platform's fee on a charge.
type fee struct {
	head
	Account     string `json:"account"`
	Amount      int64  `json:"amount"`
	Refunded    int64  `json:"amount_refunded"`
	Application string `json:"application"`
	Charge      string `json:"charge"`
	Currency    string `json:"currency"`
	IsRefunded  bool   `json:"refunded"`
}

func (*fee) kind() kind { return kindFee }

func (f *fee) marks() []string { return []string{mark("charge", f.Charge), mark("account", f.Account)} }

func (f *fee) wire(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	w["refunds"] = page("/v1/application_fees/"+f.ID+"/refunds", false, nil)
}

// feeOf transfers a charge's money and collects the platform's fee: a destination charge is transferred in full to its
// account, and the fee is collected from the account that was paid.
func (tx *tx) feeOf(ch *charge, pi *intent) {
	payer := tx.account
	if pi.Transfer != nil {
		payer = pi.Transfer.Destination
		tx.transfer(ch.Amount, ch.Currency, payer, ch.ID)
	}
	if payer == "" || pi.Fee == nil || *pi.Fee == 0 {
		return
	}
	f := &fee{
		head: head{ID: newID("fee")}, Account: payer, Amount: *pi.Fee, Application: "ca_sandbox", Charge: ch.ID,
		Currency: ch.Currency,
	}
	ch.AppFee = text(f.ID)
	tx.put(ch)
	tx.in("", func() {
		tx.put(f)
		tx.across(Movement{
			At: tx.now, Kind: "application_fee", Amount: f.Amount, Currency: f.Currency,
			Account: payer, Object: f.ID,
		})
		tx.emit("application_fee.created", f, nil)
	})
}

func refundFee(tx *tx, c *call) (any, *problem) {
	f := get[fee](tx, "id", c.id1())
	amount := f.Amount - f.Refunded
	if n, ok := c.number("amount"); ok {
		amount = n
	}
	if amount <= 0 || amount > f.Amount-f.Refunded {
		refuse(invalid("amount", "", "Refund amount is greater than the unrefunded amount of the fee."))
	}
	id := tx.giveBack(f, amount)
	return shown{
		"id": id, "object": "fee_refund", "amount": amount, "balance_transaction": nil, "created": tx.now,
		"currency": f.Currency, "fee": f.ID, "metadata": c.metadata(nil),
	}, nil
}

// transfer is a transfer from the platform to an account.
type transfer struct {
	head
	Amount      int64  `json:"amount"`
	Reversed    int64  `json:"amount_reversed"`
	Currency    string `json:"currency"`
	Destination string `json:"destination"`
	Group       text   `json:"transfer_group"`
	Source      text   `json:"source_transaction"`
	IsReversed  bool   `json:"reversed"`
	About       text   `json:"description"`
	Payment     text   `json:"destination_payment"`
}

func (*transfer) kind() kind { return kindTransfer }

func (t *transfer) marks() []string {
	return []string{mark("destination", t.Destination), mark("transfer_group", t.Group)}
}

func (t *transfer) wire(_ *tx, w shown, _ expansion) {
	w["reversals"] = page("/v1/transfers/"+t.ID+"/reversals", false, nil)
}

func (tx *tx) transfer(amount int64, currency, to, source string) *transfer {
	t := &transfer{
		head: head{ID: newID("tr")}, Amount: amount, Currency: currency, Destination: to,
		Source: text(source), Payment: text(newID("py")),
	}
	tx.put(t)
	tx.across(Movement{At: tx.now, Kind: "transfer", Amount: -amount, Currency: currency, Account: to, Object: t.ID})
	tx.emit("transfer.created", t, nil)
	return t
}

func createTransfer(tx *tx, c *call) (any, *problem) {
	amount, _ := c.number("amount")
	if amount <= 0 {
		refuse(invalid("amount", "parameter_invalid_integer", "This value must be greater than or equal to 1."))
	}
	to := get[account](tx, "destination", c.need("destination"))
	if !slices.Contains(to.Own.Asked, "transfers") || !to.enabled() {
		refuse(invalid("destination", "insufficient_capabilities_for_transfer",
			"Your destination account needs to have the transfers capability enabled."))
	}
	source := c.text("source_transaction")
	if source != "" {
		get[charge](tx, "source_transaction", source)
	}
	t := tx.transfer(amount, c.need("currency"), to.ID, source)
	t.Group, t.About, t.Metadata = text(c.text("transfer_group")), text(c.text("description")), c.metadata(nil)
	return t, nil
}

func reverseTransfer(tx *tx, c *call) (any, *problem) {
	t := get[transfer](tx, "id", c.id1())
	amount := t.Amount - t.Reversed
	if n, ok := c.number("amount"); ok {
		amount = n
	}
	if amount <= 0 || amount > t.Amount-t.Reversed {
		refuse(invalid("amount", "", "The transfer has less left to reverse."))
	}
	before := tx.show(t, nil)
	t.Reversed += amount
	t.IsReversed = t.Reversed == t.Amount
	tx.put(t)
	id := newID("trr")
	tx.across(Movement{
		At: tx.now, Kind: "transfer_reversal", Amount: amount, Currency: t.Currency,
		Account: t.Destination, Object: id,
	})
	tx.emit("transfer.reversed", t, before)
	return shown{
		"id": id, "object": "transfer_reversal", "amount": amount, "balance_transaction": nil,
		"created": tx.now, "currency": t.Currency, "destination_payment_refund": nil, "metadata": c.metadata(nil),
		"source_refund": nil, "transfer": t.ID,
	}, nil
}

// refund is a refund of a charge.
type refund struct {
	head
	Amount   int64  `json:"amount"`
	Charge   string `json:"charge"`
	Currency string `json:"currency"`
	Intent   text   `json:"payment_intent"`
	Reason   text   `json:"reason"`
	Status   string `json:"status"`

	Transaction text `json:"balance_transaction"`
}

func (*refund) kind() kind { return kindRefund }
func (r *refund) marks() []string {
	return []string{mark("charge", r.Charge), mark("payment_intent", r.Intent)}
}

func createRefund(tx *tx, c *call) (any, *problem) {
	id := c.text("charge")
	if id == "" {
		id = string(get[intent](tx, "payment_intent", c.need("payment_intent")).Charge)
	}
	ch := get[charge](tx, "charge", id)
	amount := ch.Captured - ch.Refunded
	if n, ok := c.number("amount"); ok {
		amount = n
	}
	switch {
	case ch.Captured-ch.Refunded == 0:
		refuse(invalid("", "charge_already_refunded", "Charge %s has already been refunded.", ch.ID))
	case amount <= 0 || amount > ch.Captured-ch.Refunded:
		refuse(invalid("amount", "", "Refund amount (%d) is greater than unrefunded amount on charge (%d).", amount,
			ch.Captured-ch.Refunded))
	}
	r := &refund{
		head: head{ID: newID("re"), Metadata: c.metadata(nil)}, Amount: amount, Charge: ch.ID, Currency: ch.Currency,
		Intent: ch.Intent, Status: "succeeded",
		Reason: text(c.word("reason", "duplicate", "fraudulent", "requested_by_customer")),
	}
	tx.balanceBack(r)
	tx.put(r)
	before := tx.show(ch, nil)
	ch.Refunded += amount
	ch.IsRefunded = ch.Refunded == ch.Captured
	tx.put(ch)
	tx.book(Movement{
		At: tx.now, Kind: "refund", Amount: -amount, Currency: ch.Currency,
		Customer: string(ch.Customer), Invoice: string(ch.Invoice), Object: r.ID,
	})
	tx.emit("charge.refunded", ch, before)
	if c.yes("refund_application_fee") {
		tx.refundFeeOf(ch)
	}
	return r, nil
}

// refundFeeOf refunds the platform's fee in proportion to the refunded part of its charge.
func (tx *tx) refundFeeOf(ch *charge) {
	if ch.AppFee == "" {
		refuse(invalid("refund_application_fee", "", "The charge has no application fee."))
	}
	tx.in("", func() {
		f := get[fee](tx, "", string(ch.AppFee))
		if due := part(f.Amount, ch.Refunded, ch.Captured) - f.Refunded; due > 0 {
			tx.giveBack(f, due)
		}
	})
}

// giveBack refunds a part of a fee to the account that paid it.
func (tx *tx) giveBack(f *fee, amount int64) (id string) {
	before := tx.show(f, nil)
	f.Refunded += amount
	f.IsRefunded = f.Refunded == f.Amount
	tx.put(f)
	id = newID("fr")
	tx.across(Movement{
		At: tx.now, Kind: "fee_refund", Amount: -amount, Currency: f.Currency, Account: f.Account,
		Object: id,
	})
	tx.emit("application_fee.refunded", f, before)
	return id
}
