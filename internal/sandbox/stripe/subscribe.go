package stripe

import (
	"maps"
	"slices"
	"strings"
)

var behaviours = []string{
	"allow_incomplete", "default_incomplete", "error_if_incomplete",
	"pending_if_incomplete",
} //nolint:gochecknoglobals // a table

// createSubscription creates a subscription. payment_behavior decides whether the first invoice is paid at once or left
// to the customer.
func createSubscription(tx *tx, c *call) (any, *problem) {
	if tx.account != "" {
		tx.inAccount("", func() {
			if !tx.accountAt(c.account).mayTakePayments() {
				refuse(invalidRequest("", "", "Your account cannot currently make charges."))
			}
		})
	}

	cus := mustFind[customer](tx, "customer", c.requiredText("customer"))
	s := &subscription{
		head: head{ID: newID("sub")}, Customer: cus.ID, Status: "active",
		Collection: "charge_automatically", StartDate: tx.now,
	}
	s.Created = tx.now
	if v := c.enumValue("collection_method", "charge_automatically", "send_invoice"); v != "" {
		s.Collection = v
	}

	if !c.has("items") {
		refuse(invalidRequest("items", "parameter_missing", "Missing required param: items."))
	}

	s.Own.Items = tx.itemsAfter(s, c.list("items"))
	prices := tx.readPrices(s.Own.Items)
	sameCycle(prices)
	s.Currency = prices[0].Currency
	if cus.Currency == "" {
		cus.Currency = text(s.Currency)
		tx.put(cus)
	} else if cus.Currency != text(s.Currency) {
		refuse(invalidRequest("currency", "",
			"You cannot combine currencies on a single customer. This customer has had a subscription, coupon, or "+
				"invoice item with currency %s.", cus.Currency))
	}

	tx.setFreeParams(s, c)
	behaviour := c.enumValue("payment_behavior", behaviours...)
	if behaviour == "pending_if_incomplete" {
		refuse(invalidRequest("payment_behavior", "", "pending_if_incomplete is for updates."))
	}

	c.enumValue("proration_behavior", "none", "create_prorations", "always_invoice")
	trial := tx.trialOf(c)
	s.Start = tx.now
	s.Anchor = tx.now
	if trial > tx.now {
		s.Status = "trialing"
		s.TrialStart = moment(tx.now)
		s.TrialEnd = moment(trial)
		s.Anchor = trial
		s.End = trial
	} else {
		s.End = tx.cycleOf(s.Own.Items).endAfter(s.Anchor, s.Start)
	}

	if trial <= tx.now && s.Collection == "charge_automatically" &&
		tx.periodAmount(s.Own.Items) > 0 {
		s.Status = "incomplete" // until it is paid
	}

	tx.put(s)
	tx.emitEvent("customer.subscription.created", s, nil)
	lines := tx.periodLines(s.ID, s.Own.Items, s.Start, s.End)
	if trial > tx.now {
		for i := range lines {
			lines[i].Amount = 0
			lines[i].About = strings.Replace(lines[i].About, lines[i].About,
				"Trial period for "+tx.describePrice(prices[i], lines[i].Quantity), 1)
		}
	}

	inv := tx.draftInvoice(s, "subscription_create", append(tx.pendingLines(s), lines...), s.Start,
		s.Start)
	tx.finaliseInvoice(inv)
	if inv.Status == "open" && behaviour != "default_incomplete" && s.Collection == "charge_automatically" {
		if refused := tx.collectInvoice(inv, "", false); refused != nil &&
			behaviour == "error_if_incomplete" {
			refused.kept = false // undo the creation
			return nil, refused
		}
	}

	return s, nil
}

func (tx *tx) trialOf(c *call) int64 {
	if days, ok := c.number("trial_period_days"); ok {
		return tx.now + days*86400
	}

	if c.text("trial_end") == "now" {
		return tx.now
	}

	end, ok := c.number("trial_end")
	if ok && end < tx.now {
		refuse(invalidRequest("trial_end", "", "trial_end must be in the future."))
	}

	return end
}

// setFreeParams sets the parameters that creation and update share and that are free of charge.
func (tx *tx) setFreeParams(s *subscription, c *call) {
	if v, ok := c.optionalText("description"); ok {
		s.About = text(v)
	}

	if v, ok := c.optionalText("default_payment_method"); ok {
		s.Card = ""
		if v != "" {
			m := mustFind[card](tx, "default_payment_method", v)
			if m.Customer != text(s.Customer) {
				refuse(invalidRequest("default_payment_method", "",
					"The customer does not have a payment method with the ID %s.", v))
			}
			s.Card = text(m.ID)
		}
	}

	if n, ok := c.number("days_until_due"); ok {
		s.Days = moment(n)
	}

	if (s.Days != 0) != (s.Collection == "send_invoice") {
		refuse(invalidRequest("days_until_due", "",
			"days_until_due goes with collection_method send_invoice, and only with it."))
	}

	if n, ok := c.parseHundredths("application_fee_percent"); ok {
		if n > 10000 {
			refuse(invalidRequest("application_fee_percent", "",
				"application_fee_percent is at most 100."))
		}

		if tx.account == "" && n > 0 && !c.has("transfer_data") && s.Transfer == nil {
			refuse(invalidRequest("application_fee_percent", "",
				"An application fee needs a connected account: set Stripe-Account or transfer_data."))
		}

		s.Own.Fee = n
	}

	if c.has("transfer_data") {
		tx.transferTo(s, c.group("transfer_data"))
	}

	if c.has("cancel_at_period_end") {
		tx.endAtPeriod(s, c.isTrue("cancel_at_period_end"))
	}

	if at, ok := c.number("cancel_at"); ok {
		if at <= tx.now {
			refuse(invalidRequest("cancel_at", "", "cancel_at must be in the future."))
		}
		s.CancelAt = moment(at)
		s.CanceledAt = moment(tx.now)
	} else if c.has("cancel_at") {
		c.text("cancel_at")
		s.CancelAt = 0
		s.CanceledAt = 0
		s.AtEnd = false
	}

	readCancelDetails(s, c.params)
	s.Metadata = c.metadata(s.Metadata)
	// Parameters without effect in the sandbox.
	c.isTrue("off_session")
	c.group("automatic_tax").enumValue("enabled", "false")
	settings := c.group("payment_settings")
	settings.enumValue("save_default_payment_method", "on_subscription", "off")
	for _, t := range settings.texts("payment_method_types") {
		if t != "card" {
			refuse(invalidRequest("payment_settings[payment_method_types]", "",
				"The sandbox has cards only."))
		}
	}
}

// endAtPeriod sets or clears the cancellation at the end of the paid period.
func (tx *tx) endAtPeriod(s *subscription, end bool) {
	switch {
	case end && !s.AtEnd:
		if s.Schedule != "" {
			refuse(invalidRequest("cancel_at_period_end", "",
				"The subscription is managed by the subscription schedule `%s`, and updating any cancelation "+
					"behavior directly is not allowed.", s.Schedule))
		}

		s.AtEnd = true
		s.CancelAt = moment(s.End)
		s.CanceledAt = moment(tx.now)
		s.Details.Reason = "cancellation_requested"
	case !end && s.AtEnd:
		s.AtEnd = false
		s.CancelAt = 0
		s.CanceledAt = 0
		s.Details.Reason = ""
	}
}

// pendingParams lists the parameters that are allowed with pending_if_incomplete.
var pendingParams = []string{ //nolint:gochecknoglobals // a table
	"expand", "payment_behavior", "proration_behavior", "proration_date", "billing_cycle_anchor", "items",
	"trial_end", "trial_from_plan", "add_invoice_items", "off_session",
}

// updateSubscription updates a subscription. A change of items is computed first; then, depending on payment_behavior,
// it is applied in any case or only once it is paid.
func updateSubscription(tx *tx, c *call) (any, *problem) {
	s := mustFind[subscription](tx, "id", c.pathID())
	behaviour := c.enumValue("payment_behavior", behaviours...)
	pending := behaviour == "pending_if_incomplete"
	if pending {
		onlyPending(s, c)
	}

	changes := c.has("items") || c.has("billing_cycle_anchor") || c.has("trial_end") || c.has("proration_date")
	switch {
	case s.hasEnded() && (changes || c.has("cancel_at_period_end")):
		refuse(invalidRequest("", "", "A canceled subscription can only update its cancellation_details and metadata."))
	case s.Status == "incomplete" && changes:
		refuse(invalidRequest("", "",
			"You cannot update a subscription in `incomplete` status in this way. Only the default source or "+
				"metadata can be updated."))
	case s.Schedule != "" && pending:
		refuse(invalidRequest("payment_behavior", "",
			"The subscription is managed by the subscription schedule `%s`: release it before an update with "+
				"pending_if_incomplete.", s.Schedule))
	}

	before := tx.renderObject(s, nil)
	wish := tx.readChangeRequest(c.params, c.list("items"), "")
	tx.setFreeParams(s, c)
	if !changes {
		tx.storeChanged(s, before)
		return s, nil
	}

	if s.Own.Pending != nil { // the newer change replaces it
		tx.dropPending(s)
	}

	ch := tx.computeChange(s, wish)
	if !ch.bill {
		tx.applyChange(s, ch)
		tx.storeChanged(s, before)
		tx.createInvoiceItems(s, ch.prorated)
		return s, nil
	}

	if !pending {
		tx.applyChange(s, ch)
		tx.storeChanged(s, before)
		before = tx.renderObject(s, nil)
	}

	swept := tx.pendingLines(s)
	tx.createInvoiceItems(s, ch.prorated)
	inv := tx.draftInvoice(s, "subscription_update", slices.Concat(swept, ch.prorated, ch.full),
		ch.Start, ch.End)
	if pending {
		s.Own.Pending = &pendingUpdate{Invoice: inv.ID, Change: ch, Expires: tx.pendingUntil(s)}
		for _, l := range swept {
			s.Own.Pending.Swept = append(s.Own.Pending.Swept, string(l.Item))
		}
	}

	tx.put(s)
	tx.finaliseInvoice(inv)
	if inv.Status == "open" && s.Collection == "charge_automatically" && behaviour != "default_incomplete" {
		if refused := tx.collectInvoice(inv, "", false); refused != nil &&
			behaviour == "error_if_incomplete" {
			refused.kept = false // undo the update
			return nil, refused
		}
	}

	if s.Own.Pending != nil {
		tx.storeChanged(s, before)
	}

	return s, nil
}

// pendingUntil returns the end of the period, the end of the trial, or 23 hours from now, whichever is first.
func (tx *tx) pendingUntil(s *subscription) int64 {
	until := min(tx.now+pendingAge23, s.End)
	if int64(s.TrialEnd) > tx.now {
		until = min(until, int64(s.TrialEnd))
	}
	return until
}

func onlyPending(s *subscription, c *call) {
	for _, name := range slices.Sorted(maps.Keys(c.kids)) {
		if !slices.Contains(pendingParams, name) {
			refuse(invalidRequest(name, "",
				"When `payment_behavior` is set to `pending_if_incomplete`, you can only pass supported params: "+
					"%s. Unsupported param: %s.", strings.Join(pendingParams, ", "), name))
		}
	}

	for _, it := range c.list("items") {
		for _, name := range slices.Sorted(maps.Keys(it.kids)) {
			if !slices.Contains([]string{"id", "price", "quantity", "deleted"}, name) {
				refuse(invalidRequest(it.name, "",
					"With pending_if_incomplete items take price and quantity. Unsupported param: %s.", name))
			}
		}
	}

	if s.Collection != "charge_automatically" {
		refuse(invalidRequest("payment_behavior", "",
			"pending_if_incomplete needs a subscription with collection_method=charge_automatically."))
	}
}

// dropPending drops a pending update: its invoice is voided, and the items that the invoice had claimed are pending
// again.
func (tx *tx) dropPending(s *subscription) {
	p := s.Own.Pending
	s.Own.Pending = nil
	tx.put(s)
	if inv := mustFind[invoice](tx, "", p.Invoice); inv.Status == "open" || inv.Status == "draft" {
		tx.voidOpenInvoice(inv)
		for _, id := range p.Swept {
			it := mustFind[invoiceItem](tx, "", id)
			it.Invoice = ""
			tx.put(it)
		}
	}
}
