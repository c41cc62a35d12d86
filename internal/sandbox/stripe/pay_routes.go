package stripe

func payInvoice(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	switch inv.Status {
	case "draft":
		tx.finaliseInvoice(inv)
	case "paid":
		refuse(invalidRequest("", "invoice_already_paid", "Invoice is already paid"))
	case "void":
		refuse(invalidRequest("", "", "Invoice is void"))
	}

	c.isTrue("off_session")
	card := c.text("payment_method")
	if inv.Status == "paid" {
		return inv, nil
	}

	if c.isTrue("paid_out_of_band") {
		inv.OutOfBand = true
		if pi := find[intent](tx, string(inv.Intent)); pi != nil {
			tx.cancelIntent(pi, "")
		}

		tx.recordMovement(Movement{
			At: tx.now, Kind: "out_of_band", Amount: inv.Due, Currency: inv.Currency,
			Customer: inv.Customer, Invoice: inv.ID, Object: inv.ID,
		})
		tx.markPaid(inv)
		return inv, nil
	}

	if refused := tx.collectInvoice(inv, card, false); refused != nil {
		out := *refused
		out.Intent = tx.renderObject(mustFind[intent](tx, "", string(inv.Intent)), nil)
		return nil, &out
	}

	return inv, nil
}

// createIntent creates a payment without an invoice.
func createIntent(tx *tx, c *call) (any, *problem) {
	amount, _ := c.number("amount")
	if amount < minimumCharge(c.text("currency")) {
		refuse(invalidRequest("amount", "amount_too_small", "Amount must be at least %d.",
			minimumCharge(c.text("currency"))))
	}

	pi := tx.newIntent(amount, c.requiredText("currency"))
	pi.Metadata = c.metadata(nil)
	pi.About = text(c.text("description"))
	if id := c.text("customer"); id != "" {
		pi.Customer = text(mustFind[customer](tx, "customer", id).ID)
	}
	if n, ok := c.number("application_fee_amount"); ok {
		pi.Fee = &n
	}

	c.group("automatic_payment_methods").isTrue("enabled")
	c.texts("payment_method_types")
	if name := c.text("payment_method"); name != "" {
		pi.Card = text(tx.payingCard(name, string(pi.Customer)).ID)
		pi.Status = "requires_confirmation"
	}

	tx.put(pi)
	tx.emitEvent("payment_intent.created", pi, nil)
	if c.isTrue("confirm") {
		return tx.confirmPresent(pi, string(pi.Card))
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

	return mustFind[card](tx, "payment_method", name)
}

func confirmIntent(tx *tx, c *call) (any, *problem) {
	pi := mustFind[intent](tx, "intent", c.pathID())
	name := string(pi.Card)
	if v := c.text("payment_method"); v != "" {
		name = tx.payingCard(v, string(pi.Customer)).ID
	}

	c.text("return_url")
	c.isTrue("off_session")
	switch pi.Status {
	case "succeeded", "canceled":
		refuse(invalidRequest("", "payment_intent_unexpected_state",
			"This PaymentIntent's status is %s.", pi.Status))
	}

	if name == "" {
		refuse(invalidRequest("", "payment_intent_unexpected_state",
			"You cannot confirm this PaymentIntent because it's missing a payment method."))
	}

	return tx.confirmPresent(pi, name)
}

// confirmPresent confirms a payment while the customer is present: a required action is a result, not an error.
func (tx *tx) confirmPresent(pi *intent, name string) (any, *problem) {
	refused := tx.chargeCard(pi, mustFind[card](tx, "payment_method", name), false)
	if refused == nil || pi.Status == "requires_action" {
		return pi, nil
	}

	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil {
		inv.Attempts++
		tx.put(inv)
		tx.emitEvent("invoice.payment_failed", inv, nil)
	}

	out := *refused
	out.Intent = tx.renderObject(pi, nil)

	return nil, &out
}

func cancelIntent(tx *tx, c *call) (any, *problem) {
	pi := mustFind[intent](tx, "intent", c.pathID())
	switch {
	case pi.Status == "succeeded" || pi.Status == "canceled":
		refuse(invalidRequest("", "payment_intent_unexpected_state",
			"You cannot cancel this PaymentIntent because it has a status of %s.", pi.Status))
	case pi.Invoice != "":
		refuse(invalidRequest("", "",
			"You cannot cancel a PaymentIntent that belongs to an invoice: void the invoice."))
	}

	tx.cancelIntent(pi,
		text(c.enumValue("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer",
			"abandoned")))

	return pi, nil
}

// recordAuthentication records the customer's answer to the bank's authentication request.
func (tx *tx) recordAuthentication(pi *intent, yes bool) {
	if pi.Status != "requires_action" {
		refuse(invalidRequest("", "payment_intent_unexpected_state", "Nothing is to be confirmed."))
	}

	if yes {
		tx.chargeCard(pi, mustFind[card](tx, "", string(pi.Card)), true)
		return
	}

	pi.Status = "requires_payment_method"
	pi.Error = &problem{
		Status: 402, Type: "card_error", Code: "payment_intent_authentication_failure",
		Message: "The provided PaymentMethod has failed authentication.",
	}
	tx.put(pi)
	tx.emitEvent("payment_intent.payment_failed", pi, nil)
	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil {
		tx.emitEvent("invoice.payment_failed", inv, nil)
	}
}
