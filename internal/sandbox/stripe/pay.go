package stripe

const (
	kindIntent kind = "payment_intent"
	kindCharge kind = "charge"
)

// intent is the payment of an invoice, or of an amount without one.
type intent struct {
	head
	Amount   int64    `json:"amount"`
	Received int64    `json:"amount_received"`
	Canceled moment   `json:"canceled_at"`
	Why      text     `json:"cancellation_reason"`
	Secret   string   `json:"client_secret"`
	Currency string   `json:"currency"`
	Customer text     `json:"customer"`
	About    text     `json:"description"`
	Invoice  text     `json:"invoice"`
	Error    *problem `json:"last_payment_error"`
	Charge   text     `json:"latest_charge"`
	Card     text     `json:"payment_method"`
	Status   string   `json:"status"`
	Fee      *int64   `json:"application_fee_amount"`
	Transfer *struct {
		Destination string `json:"destination"`
	} `json:"transfer_data"`
}

func (*intent) kind() kind { return kindIntent }

func (p *intent) marks() []string {
	return []string{mark("customer", p.Customer), mark("invoice", p.Invoice), mark("status", p.Status)}
}

func (p *intent) wire(tx *tx, w shown, _ expansion) {
	w["next_action"] = nil
	if p.Status == "requires_action" {
		w["next_action"] = shown{
			"type":            "redirect_to_url",
			"redirect_to_url": shown{"url": tx.page("payments/" + p.ID), "return_url": nil},
		}
	}
	if p.Error != nil && p.Card != "" {
		e := shown{}
		overlay(e, p.Error)
		e["payment_method"] = tx.show(get[card](tx, "", string(p.Card)), nil)
		w["last_payment_error"] = e
	}
}

// charge is one attempt to take a payment.
type charge struct {
	head
	Amount      int64  `json:"amount"`
	Captured    int64  `json:"amount_captured"`
	IsCaptured  bool   `json:"captured"`
	Currency    string `json:"currency"`
	Customer    text   `json:"customer"`
	Failure     text   `json:"failure_code"`
	FailureText text   `json:"failure_message"`
	Invoice     text   `json:"invoice"`
	IsPaid      bool   `json:"paid"`
	Intent      text   `json:"payment_intent"`
	Card        text   `json:"payment_method"`
	Status      string `json:"status"`
	Transaction text   `json:"balance_transaction"`
	AppFee      text   `json:"application_fee"`
	FeeAmount   *int64 `json:"application_fee_amount"`
	Refunded    int64  `json:"amount_refunded"`
	IsRefunded  bool   `json:"refunded"`
	About       text   `json:"description"`
}

func (*charge) kind() kind { return kindCharge }

func (c *charge) marks() []string {
	return []string{mark("customer", c.Customer), mark("payment_intent", c.Intent), mark("invoice", c.Invoice)}
}

func (c *charge) wire(tx *tx, w shown, expand expansion) {
	if m := find[card](tx, string(c.Card)); m != nil {
		details := nested(shapes()[kindCharge], "payment_method_details")
		inner := nested(details, "card")
		inner["last4"] = m.Own.Last4
		details["card"] = inner
		w["payment_method_details"] = details
	}
	data := []shown{}
	for _, r := range all[refund](tx, Query{All: []string{mark("charge", c.ID)}}) {
		data = append(data, tx.show(r, expand["refunds"]["data"]))
	}
	w["refunds"] = page("/v1/charges/"+c.ID+"/refunds", false, data)
}

// intentFor creates the payment of an invoice.
func (tx *tx) intentFor(inv *invoice, cus *customer) *intent {
	pi := tx.newIntent(inv.Due, inv.Currency)
	pi.Customer, pi.Invoice, pi.Fee = text(cus.ID), text(inv.ID), inv.Fee
	if s := find[subscription](tx, string(inv.Sub)); s != nil && s.Transfer != nil {
		pi.Transfer = &struct {
			Destination string `json:"destination"`
		}{s.Transfer.Destination}
	}
	if tx.cardOf(inv) != nil {
		pi.Status = "requires_confirmation"
		pi.Card = text(tx.cardOf(inv).ID)
	}
	tx.put(pi)
	tx.emit("payment_intent.created", pi, nil)
	return pi
}

func (tx *tx) newIntent(amount int64, currency string) *intent {
	pi := &intent{head: head{ID: newID("pi")}, Amount: amount, Currency: currency, Status: "requires_payment_method"}
	pi.Secret = pi.ID + "_secret_" + random(24)
	return pi
}

// cardOf returns the card that an invoice is charged to: its own, its subscription's or its customer's.
func (tx *tx) cardOf(inv *invoice) *card {
	names := []text{inv.Card}
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		names = append(names, s.Card)
	}
	names = append(names, get[customer](tx, "", inv.Customer).Own.Card)
	for _, name := range names {
		if m := find[card](tx, string(name)); m != nil && m.Customer != "" {
			return m
		}
	}
	return nil
}

// collect tries to charge an invoice to the named card, or to the default card if name is "". It returns the refusal,
// if any; the effects are kept in either case.
//
// The first attempt and those of the retry schedule (clock) are counted; the customer's own attempts are not.
func (tx *tx) collect(inv *invoice, name string, clock bool) *problem {
	m := tx.cardOf(inv)
	if name != "" {
		m = get[card](tx, "payment_method", name)
	}
	counted := clock || inv.Attempts == 0
	if counted {
		inv.Attempts++
	}
	inv.Attempted = true
	tx.put(inv)
	pi := get[intent](tx, "", string(inv.Intent))
	var refused *problem
	if m == nil {
		pi.Error = &problem{
			Status: 400, Type: "invalid_request_error", Code: "resource_missing",
			Message: "This customer has no attached payment source or default payment method.", kept: true,
		}
		tx.put(pi)
		refused = pi.Error
	} else {
		refused = tx.confirm(pi, m, false)
	}
	if refused == nil {
		return nil
	}
	if counted && inv.Auto && inv.Collection == "charge_automatically" {
		if tries := int(inv.Attempts) - 1; tries < len(retries) &&
			(inv.Reason == "subscription_cycle" || inv.Reason == "subscription_update") {
			inv.NextTry = moment(tx.now + retries[tries])
		} else {
			inv.NextTry = 0
		}
	}
	if s := find[subscription](tx, string(inv.Sub)); s != nil && s.Own.Pending != nil &&
		s.Own.Pending.Invoice == inv.ID {
		inv.NextTry = 0 // the customer has to act before the pending update expires
	}
	tx.put(inv)
	if pi.Status == "requires_action" {
		tx.emit("invoice.payment_action_required", inv, nil)
	}
	tx.emit("invoice.payment_failed", inv, nil)
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		tx.moneyMissing(s, inv)
		if counted && inv.Attempts > int64(len(retries)) && inv.NextTry == 0 && s.Status == "past_due" {
			tx.cancel(s, "payment_failed", false)
		}
	}
	return refused
}

// confirm charges a card. authenticated means that the customer has confirmed the payment.
func (tx *tx) confirm(pi *intent, m *card, authenticated bool) *problem {
	pi.Card = text(m.ID)
	if m.Own.Conduct == ThreeDS && !authenticated {
		pi.Status, pi.Error = "requires_action", nil
		tx.put(pi)
		tx.emit("payment_intent.requires_action", pi, nil)
		p := actionRequired()
		p.kept = true
		return p
	}
	ch := &charge{
		head: head{ID: newID("ch"), Metadata: pi.Metadata}, Amount: pi.Amount, Currency: pi.Currency,
		Customer: pi.Customer, Invoice: pi.Invoice, Intent: text(pi.ID),
		Card: text(m.ID), Status: "succeeded", FeeAmount: pi.Fee,
	}
	pi.Charge = text(ch.ID)
	if m.Own.Conduct == Decline {
		p := cardDeclined()
		p.Charge, p.kept = ch.ID, true
		ch.Status, ch.Failure, ch.FailureText = "failed", text(p.Code), text(p.Message)
		pi.Status, pi.Error = "requires_payment_method", p
		tx.put(ch)
		tx.put(pi)
		tx.emit("charge.failed", ch, nil)
		tx.emit("payment_intent.payment_failed", pi, nil)
		return p
	}
	ch.IsPaid, ch.IsCaptured, ch.Captured = true, true, pi.Amount
	pi.Status, pi.Received, pi.Error = "succeeded", pi.Amount, nil
	tx.put(ch)
	tx.put(pi)
	tx.book(Movement{
		At: tx.now, Kind: "charge", Amount: pi.Amount, Currency: pi.Currency,
		Customer: string(pi.Customer), Invoice: string(pi.Invoice), Object: ch.ID,
	})
	var fee int64
	if tx.account != "" && pi.Fee != nil {
		fee = *pi.Fee
	}
	tx.balanceOf(ch, fee)
	tx.feeOf(ch, pi)
	tx.emit("charge.succeeded", ch, nil)
	tx.emit("payment_intent.succeeded", pi, nil)
	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil &&
		(inv.Status == "open" || inv.Status == "uncollectible") {
		inv.Charge = text(ch.ID)
		tx.settled(inv)
	}
	return nil
}

func (tx *tx) cancelIntent(pi *intent, why text) {
	pi.Status, pi.Canceled, pi.Why = "canceled", moment(tx.now), why
	tx.put(pi)
	tx.emit("payment_intent.canceled", pi, nil)
}

func payInvoice(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	switch inv.Status {
	case "draft":
		tx.finalise(inv)
	case "paid":
		refuse(invalid("", "invoice_already_paid", "Invoice is already paid"))
	case "void":
		refuse(invalid("", "", "Invoice is void"))
	}
	c.yes("off_session")
	card := c.text("payment_method")
	if inv.Status == "paid" {
		return inv, nil
	}
	if c.yes("paid_out_of_band") {
		inv.OutOfBand = true
		if pi := find[intent](tx, string(inv.Intent)); pi != nil {
			tx.cancelIntent(pi, "")
		}
		tx.book(Movement{
			At: tx.now, Kind: "out_of_band", Amount: inv.Due, Currency: inv.Currency,
			Customer: inv.Customer, Invoice: inv.ID, Object: inv.ID,
		})
		tx.settled(inv)
		return inv, nil
	}
	if refused := tx.collect(inv, card, false); refused != nil {
		out := *refused
		out.Intent = tx.show(get[intent](tx, "", string(inv.Intent)), nil)
		return nil, &out
	}
	return inv, nil
}

// createIntent creates a payment without an invoice.
func createIntent(tx *tx, c *call) (any, *problem) {
	amount, _ := c.number("amount")
	if amount < smallest(c.text("currency")) {
		refuse(invalid("amount", "amount_too_small", "Amount must be at least %d.", smallest(c.text("currency"))))
	}
	pi := tx.newIntent(amount, c.need("currency"))
	pi.Metadata, pi.About = c.metadata(nil), text(c.text("description"))
	if id := c.text("customer"); id != "" {
		pi.Customer = text(get[customer](tx, "customer", id).ID)
	}
	if n, ok := c.number("application_fee_amount"); ok {
		pi.Fee = &n
	}
	c.of("automatic_payment_methods").yes("enabled")
	c.texts("payment_method_types")
	if name := c.text("payment_method"); name != "" {
		pi.Card, pi.Status = text(tx.payingCard(name, string(pi.Customer)).ID), "requires_confirmation"
	}
	tx.put(pi)
	tx.emit("payment_intent.created", pi, nil)
	if c.yes("confirm") {
		return tx.confirmed(pi, string(pi.Card))
	}
	return pi, nil
}

// payingCard returns a card by its id, or a new one by its test name.
func (tx *tx) payingCard(name, cus string) *card {
	if _, test := tests[name]; test {
		m := newCard(name)
		m.Customer = text(cus)
		tx.put(m)
		return m
	}
	return get[card](tx, "payment_method", name)
}

func confirmIntent(tx *tx, c *call) (any, *problem) {
	pi := get[intent](tx, "intent", c.id1())
	name := string(pi.Card)
	if v := c.text("payment_method"); v != "" {
		name = tx.payingCard(v, string(pi.Customer)).ID
	}
	c.text("return_url")
	c.yes("off_session")
	switch pi.Status {
	case "succeeded", "canceled":
		refuse(invalid("", "payment_intent_unexpected_state", "This PaymentIntent's status is %s.", pi.Status))
	}
	if name == "" {
		refuse(invalid("", "payment_intent_unexpected_state",
			"You cannot confirm this PaymentIntent because it's missing a payment method."))
	}
	return tx.confirmed(pi, name)
}

// confirmed confirms a payment while the customer is present: a required action is a result, not an error.
func (tx *tx) confirmed(pi *intent, name string) (any, *problem) {
	refused := tx.confirm(pi, get[card](tx, "payment_method", name), false)
	if refused == nil || pi.Status == "requires_action" {
		return pi, nil
	}
	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil {
		inv.Attempts++
		tx.put(inv)
		tx.emit("invoice.payment_failed", inv, nil)
	}
	out := *refused
	out.Intent = tx.show(pi, nil)
	return nil, &out
}

func cancelIntent(tx *tx, c *call) (any, *problem) {
	pi := get[intent](tx, "intent", c.id1())
	switch {
	case pi.Status == "succeeded" || pi.Status == "canceled":
		refuse(invalid("", "payment_intent_unexpected_state",
			"You cannot cancel this PaymentIntent because it has a status of %s.", pi.Status))
	case pi.Invoice != "":
		refuse(invalid("", "", "You cannot cancel a PaymentIntent that belongs to an invoice: void the invoice."))
	}
	tx.cancelIntent(pi,
		text(c.word("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer", "abandoned")))
	return pi, nil
}

// authenticate records the customer's answer to the bank's authentication request.
func (tx *tx) authenticate(pi *intent, yes bool) {
	if pi.Status != "requires_action" {
		refuse(invalid("", "payment_intent_unexpected_state", "Nothing is to be confirmed."))
	}
	if yes {
		tx.confirm(pi, get[card](tx, "", string(pi.Card)), true)
		return
	}
	pi.Status = "requires_payment_method"
	pi.Error = &problem{
		Status: 402, Type: "card_error", Code: "payment_intent_authentication_failure",
		Message: "The provided PaymentMethod has failed authentication.",
	}
	tx.put(pi)
	tx.emit("payment_intent.payment_failed", pi, nil)
	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil {
		tx.emit("invoice.payment_failed", inv, nil)
	}
}
