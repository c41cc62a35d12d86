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
		tx.in("", func() {
			if !tx.accountAt(c.account).enabled() {
				refuse(invalid("", "", "Your account cannot currently make charges."))
			}
		})
	}
	cus := get[customer](tx, "customer", c.need("customer"))
	s := &subscription{
		head: head{ID: newID("sub")}, Customer: cus.ID, Status: "active",
		Collection: "charge_automatically", StartDate: tx.now,
	}
	s.Created = tx.now
	if v := c.word("collection_method", "charge_automatically", "send_invoice"); v != "" {
		s.Collection = v
	}
	if !c.has("items") {
		refuse(invalid("items", "parameter_missing", "Missing required param: items."))
	}
	s.Own.Items = tx.wanted(s, c.list("items"))
	prices := tx.prices(s.Own.Items)
	sameCycle(prices)
	if s.Currency = prices[0].Currency; cus.Currency == "" {
		cus.Currency = text(s.Currency)
		tx.put(cus)
	} else if cus.Currency != text(s.Currency) {
		refuse(invalid("currency", "",
			"You cannot combine currencies on a single customer. This customer has had a subscription, coupon, or "+
				"invoice item with currency %s.", cus.Currency))
	}
	tx.take(s, c)
	behaviour := c.word("payment_behavior", behaviours...)
	if behaviour == "pending_if_incomplete" {
		refuse(invalid("payment_behavior", "", "pending_if_incomplete is for updates."))
	}
	c.word("proration_behavior", "none", "create_prorations", "always_invoice")
	trial := tx.trialOf(c)
	s.Start, s.Anchor = tx.now, tx.now
	if trial > tx.now {
		s.Status, s.TrialStart, s.TrialEnd, s.Anchor, s.End = "trialing", moment(tx.now), moment(trial), trial, trial
	} else {
		s.End = tx.cycleOf(s.Own.Items).end(s.Anchor, s.Start)
	}
	if trial <= tx.now && s.Collection == "charge_automatically" && tx.worth(s.Own.Items) > 0 {
		s.Status = "incomplete" // until it is paid
	}
	tx.put(s)
	tx.emit("customer.subscription.created", s, nil)
	lines := tx.recurring(s.ID, s.Own.Items, s.Start, s.End)
	if trial > tx.now {
		for i := range lines {
			lines[i].Amount, lines[i].About = 0,
				strings.Replace(lines[i].About, lines[i].About,
					"Trial period for "+tx.named(prices[i], lines[i].Quantity), 1)
		}
	}
	inv := tx.draft(s, "subscription_create", append(tx.sweep(s), lines...), s.Start, s.Start)
	tx.finalise(inv)
	if inv.Status == "open" && behaviour != "default_incomplete" && s.Collection == "charge_automatically" {
		if refused := tx.collect(inv, "", false); refused != nil && behaviour == "error_if_incomplete" {
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
		refuse(invalid("trial_end", "", "trial_end must be in the future."))
	}
	return end
}

// take sets the parameters that creation and update share and that are free of charge.
func (tx *tx) take(s *subscription, c *call) {
	if v, ok := c.opt("description"); ok {
		s.About = text(v)
	}
	if v, ok := c.opt("default_payment_method"); ok {
		if s.Card = ""; v != "" {
			m := get[card](tx, "default_payment_method", v)
			if m.Customer != text(s.Customer) {
				refuse(invalid("default_payment_method", "",
					"The customer does not have a payment method with the ID %s.", v))
			}
			s.Card = text(m.ID)
		}
	}
	if n, ok := c.number("days_until_due"); ok {
		s.Days = moment(n)
	}
	if (s.Days != 0) != (s.Collection == "send_invoice") {
		refuse(invalid("days_until_due", "",
			"days_until_due goes with collection_method send_invoice, and only with it."))
	}
	if n, ok := c.hundredths("application_fee_percent"); ok {
		if n > 10000 {
			refuse(invalid("application_fee_percent", "", "application_fee_percent is at most 100."))
		}
		if tx.account == "" && n > 0 && !c.has("transfer_data") && s.Transfer == nil {
			refuse(invalid("application_fee_percent", "",
				"An application fee needs a connected account: set Stripe-Account or transfer_data."))
		}
		s.Own.Fee = n
	}
	if c.has("transfer_data") {
		tx.transferTo(s, c.of("transfer_data"))
	}
	if c.has("cancel_at_period_end") {
		tx.endAtPeriod(s, c.yes("cancel_at_period_end"))
	}
	if at, ok := c.number("cancel_at"); ok {
		if at <= tx.now {
			refuse(invalid("cancel_at", "", "cancel_at must be in the future."))
		}
		s.CancelAt, s.CanceledAt = moment(at), moment(tx.now)
	} else if c.has("cancel_at") {
		c.text("cancel_at")
		s.CancelAt, s.CanceledAt, s.AtEnd = 0, 0, false
	}
	details(s, c.params)
	s.Metadata = c.metadata(s.Metadata)
	// Parameters without effect in the sandbox.
	c.yes("off_session")
	c.of("automatic_tax").word("enabled", "false")
	settings := c.of("payment_settings")
	settings.word("save_default_payment_method", "on_subscription", "off")
	for _, t := range settings.texts("payment_method_types") {
		if t != "card" {
			refuse(invalid("payment_settings[payment_method_types]", "", "The sandbox has cards only."))
		}
	}
}

// endAtPeriod sets or clears the cancellation at the end of the paid period.
func (tx *tx) endAtPeriod(s *subscription, end bool) {
	switch {
	case end && !s.AtEnd:
		if s.Schedule != "" {
			refuse(invalid("cancel_at_period_end", "",
				"The subscription is managed by the subscription schedule `%s`, and updating any cancelation "+
					"behavior directly is not allowed.", s.Schedule))
		}
		s.AtEnd, s.CancelAt, s.CanceledAt, s.Details.Reason = true, moment(s.End), moment(tx.now),
			"cancellation_requested"
	case !end && s.AtEnd:
		s.AtEnd, s.CancelAt, s.CanceledAt, s.Details.Reason = false, 0, 0, ""
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
	s := get[subscription](tx, "id", c.id1())
	behaviour := c.word("payment_behavior", behaviours...)
	pending := behaviour == "pending_if_incomplete"
	if pending {
		onlyPending(s, c)
	}
	changes := c.has("items") || c.has("billing_cycle_anchor") || c.has("trial_end") || c.has("proration_date")
	switch {
	case s.over() && (changes || c.has("cancel_at_period_end")):
		refuse(invalid("", "", "A canceled subscription can only update its cancellation_details and metadata."))
	case s.Status == "incomplete" && changes:
		refuse(invalid("", "",
			"You cannot update a subscription in `incomplete` status in this way. Only the default source or "+
				"metadata can be updated."))
	case s.Schedule != "" && pending:
		refuse(invalid("payment_behavior", "",
			"The subscription is managed by the subscription schedule `%s`: release it before an update with "+
				"pending_if_incomplete.", s.Schedule))
	}
	before := tx.show(s, nil)
	wish := tx.wished(c.params, c.list("items"), "")
	tx.take(s, c)
	if !changes {
		tx.changed(s, before)
		return s, nil
	}
	if s.Own.Pending != nil { // the newer change replaces it
		tx.dropPending(s)
	}
	ch := tx.plan(s, wish)
	if !ch.bill {
		tx.apply(s, ch)
		tx.changed(s, before)
		tx.record(s, ch.prorated)
		return s, nil
	}
	if !pending {
		tx.apply(s, ch)
		tx.changed(s, before)
		before = tx.show(s, nil)
	}
	swept := tx.sweep(s)
	tx.record(s, ch.prorated)
	inv := tx.draft(s, "subscription_update", slices.Concat(swept, ch.prorated, ch.full), ch.Start, ch.End)
	if pending {
		s.Own.Pending = &pendingUpdate{Invoice: inv.ID, Change: ch, Expires: tx.pendingUntil(s)}
		for _, l := range swept {
			s.Own.Pending.Swept = append(s.Own.Pending.Swept, string(l.Item))
		}
	}
	tx.put(s)
	tx.finalise(inv)
	if inv.Status == "open" && s.Collection == "charge_automatically" && behaviour != "default_incomplete" {
		if refused := tx.collect(inv, "", false); refused != nil && behaviour == "error_if_incomplete" {
			refused.kept = false // undo the update
			return nil, refused
		}
	}
	if s.Own.Pending != nil {
		tx.changed(s, before)
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
			refuse(invalid(name, "",
				"When `payment_behavior` is set to `pending_if_incomplete`, you can only pass supported params: "+
					"%s. Unsupported param: %s.", strings.Join(pendingParams, ", "), name))
		}
	}
	for _, it := range c.list("items") {
		for _, name := range slices.Sorted(maps.Keys(it.kids)) {
			if !slices.Contains([]string{"id", "price", "quantity", "deleted"}, name) {
				refuse(invalid(it.name, "",
					"With pending_if_incomplete items take price and quantity. Unsupported param: %s.", name))
			}
		}
	}
	if s.Collection != "charge_automatically" {
		refuse(invalid("payment_behavior", "",
			"pending_if_incomplete needs a subscription with collection_method=charge_automatically."))
	}
}

// dropPending drops a pending update: its invoice is voided, and the items that the invoice had claimed are pending
// again.
func (tx *tx) dropPending(s *subscription) {
	p := s.Own.Pending
	s.Own.Pending = nil
	tx.put(s)
	if inv := get[invoice](tx, "", p.Invoice); inv.Status == "open" || inv.Status == "draft" {
		tx.void(inv)
		for _, id := range p.Swept {
			it := get[invoiceItem](tx, "", id)
			it.Invoice = ""
			tx.put(it)
		}
	}
}
