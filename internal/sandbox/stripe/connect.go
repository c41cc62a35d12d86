package stripe

import "slices"

const (
	kindFee      kind = "application_fee"
	kindTransfer kind = "transfer"
	kindRefund   kind = "refund"
)

// transferTo sets the account that receives the payments of a subscription.
func (tx *tx) transferTo(s *subscription, p *params) {
	id := p.requiredText("destination")
	mustFind[account](tx, "transfer_data[destination]", id)
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

func (*fee) objectKind() kind { return kindFee }

func (f *fee) indexKeys() []string {
	return []string{indexKey("charge", f.Charge), indexKey("account", f.Account)}
}

func (f *fee) addDerived(_ *tx, w shown, _ expansion) {
	delete(w, "metadata")
	w["refunds"] = listResponse("/v1/application_fees/"+f.ID+"/refunds", false, nil)
}

// feeOf transfers a charge's money and collects the platform's fee: a destination charge is transferred in full to its
// account, and the fee is collected from the account that was paid.
func (tx *tx) feeOf(ch *charge, pi *intent) {
	payer := tx.account
	if pi.Transfer != nil {
		payer = pi.Transfer.Destination
		tx.sendTransfer(ch.Amount, ch.Currency, payer, ch.ID)
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
	tx.inAccount("", func() {
		tx.put(f)
		tx.recordBothSides(Movement{
			At: tx.now, Kind: "application_fee", Amount: f.Amount, Currency: f.Currency,
			Account: payer, Object: f.ID,
		})
		tx.emitEvent("application_fee.created", f, nil)
	})
}

func refundFee(tx *tx, c *call) (any, *problem) {
	f := mustFind[fee](tx, "id", c.pathID())
	amount := f.Amount - f.Refunded
	if n, ok := c.number("amount"); ok {
		amount = n
	}

	if amount <= 0 || amount > f.Amount-f.Refunded {
		refuse(invalidRequest("amount", "",
			"Refund amount is greater than the unrefunded amount of the fee."))
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

func (*transfer) objectKind() kind { return kindTransfer }

func (t *transfer) indexKeys() []string {
	return []string{indexKey("destination", t.Destination), indexKey("transfer_group", t.Group)}
}

func (t *transfer) addDerived(_ *tx, w shown, _ expansion) {
	w["reversals"] = listResponse("/v1/transfers/"+t.ID+"/reversals", false, nil)
}

func (tx *tx) sendTransfer(amount int64, currency, to, source string) *transfer {
	t := &transfer{
		head: head{ID: newID("tr")}, Amount: amount, Currency: currency, Destination: to,
		Source: text(source), Payment: text(newID("py")),
	}
	tx.put(t)
	tx.recordBothSides(Movement{
		At: tx.now, Kind: "transfer", Amount: -amount, Currency: currency,
		Account: to, Object: t.ID,
	})
	tx.emitEvent("transfer.created", t, nil)

	return t
}

func createTransfer(tx *tx, c *call) (any, *problem) {
	amount, _ := c.number("amount")
	if amount <= 0 {
		refuse(invalidRequest("amount", "parameter_invalid_integer",
			"This value must be greater than or equal to 1."))
	}

	to := mustFind[account](tx, "destination", c.requiredText("destination"))
	if !slices.Contains(to.Own.Asked, "transfers") || !to.mayTakePayments() {
		refuse(invalidRequest("destination", "insufficient_capabilities_for_transfer",
			"Your destination account needs to have the transfers capability enabled."))
	}

	source := c.text("source_transaction")
	if source != "" {
		mustFind[charge](tx, "source_transaction", source)
	}

	t := tx.sendTransfer(amount, c.requiredText("currency"), to.ID, source)
	t.Group = text(c.text("transfer_group"))
	t.About = text(c.text("description"))
	t.Metadata = c.metadata(nil)

	return t, nil
}

func reverseTransfer(tx *tx, c *call) (any, *problem) {
	t := mustFind[transfer](tx, "id", c.pathID())
	amount := t.Amount - t.Reversed
	if n, ok := c.number("amount"); ok {
		amount = n
	}

	if amount <= 0 || amount > t.Amount-t.Reversed {
		refuse(invalidRequest("amount", "", "The transfer has less left to reverse."))
	}

	before := tx.renderObject(t, nil)
	t.Reversed += amount
	t.IsReversed = t.Reversed == t.Amount
	tx.put(t)
	id := newID("trr")
	tx.recordBothSides(Movement{
		At: tx.now, Kind: "transfer_reversal", Amount: amount, Currency: t.Currency,
		Account: t.Destination, Object: id,
	})
	tx.emitEvent("transfer.reversed", t, before)

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

func (*refund) objectKind() kind { return kindRefund }
func (r *refund) indexKeys() []string {
	return []string{indexKey("charge", r.Charge), indexKey("payment_intent", r.Intent)}
}

func createRefund(tx *tx, c *call) (any, *problem) {
	id := c.text("charge")
	if id == "" {
		id = string(mustFind[intent](tx, "payment_intent", c.requiredText("payment_intent")).Charge)
	}

	ch := mustFind[charge](tx, "charge", id)
	amount := ch.Captured - ch.Refunded
	if n, ok := c.number("amount"); ok {
		amount = n
	}

	switch {
	case ch.Captured-ch.Refunded == 0:
		refuse(invalidRequest("", "charge_already_refunded", "Charge %s has already been refunded.",
			ch.ID))
	case amount <= 0 || amount > ch.Captured-ch.Refunded:
		refuse(invalidRequest("amount", "",
			"Refund amount (%d) is greater than unrefunded amount on charge (%d).", amount,
			ch.Captured-ch.Refunded))
	}

	r := &refund{
		head: head{ID: newID("re"), Metadata: c.metadata(nil)}, Amount: amount, Charge: ch.ID, Currency: ch.Currency,
		Intent: ch.Intent, Status: "succeeded",
		Reason: text(c.enumValue("reason", "duplicate", "fraudulent", "requested_by_customer")),
	}
	tx.balanceBack(r)
	tx.put(r)
	before := tx.renderObject(ch, nil)
	ch.Refunded += amount
	ch.IsRefunded = ch.Refunded == ch.Captured
	tx.put(ch)
	tx.recordMovement(Movement{
		At: tx.now, Kind: "refund", Amount: -amount, Currency: ch.Currency,
		Customer: string(ch.Customer), Invoice: string(ch.Invoice), Object: r.ID,
	})
	tx.emitEvent("charge.refunded", ch, before)
	if c.isTrue("refund_application_fee") {
		tx.refundFeeOf(ch)
	}

	return r, nil
}

// refundFeeOf refunds the platform's fee in proportion to the refunded part of its charge.
func (tx *tx) refundFeeOf(ch *charge) {
	if ch.AppFee == "" {
		refuse(invalidRequest("refund_application_fee", "", "The charge has no application fee."))
	}

	tx.inAccount("", func() {
		f := mustFind[fee](tx, "", string(ch.AppFee))
		if due := shareOfAmount(f.Amount, ch.Refunded, ch.Captured) - f.Refunded; due > 0 {
			tx.giveBack(f, due)
		}
	})
}

// giveBack refunds a part of a fee to the account that paid it.
func (tx *tx) giveBack(f *fee, amount int64) (id string) {
	before := tx.renderObject(f, nil)
	f.Refunded += amount
	f.IsRefunded = f.Refunded == f.Amount
	tx.put(f)
	id = newID("fr")
	tx.recordBothSides(Movement{
		At: tx.now, Kind: "fee_refund", Amount: -amount, Currency: f.Currency, Account: f.Account,
		Object: id,
	})
	tx.emitEvent("application_fee.refunded", f, before)

	return id
}
