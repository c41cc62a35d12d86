package stripe

import (
	"encoding/json"
	"slices"
)

const kindSubscription kind = "subscription"

// Delays of subscriptions, in seconds.
const (
	incompleteAge = 23 * 3600     // until the first payment; then incomplete_expired
	pendingAge23  = 23 * 3600     // until a pending update is dropped
	trialWarning  = 3 * 24 * 3600 // trial_will_end precedes the end by this
	upcomingAhead = 3 * 24 * 3600 // invoice.upcoming precedes the renewal by this
)

// subscription is a customer's subscription.
type subscription struct {
	head
	Anchor     int64  `json:"billing_cycle_anchor"`
	CancelAt   moment `json:"cancel_at"`
	AtEnd      bool   `json:"cancel_at_period_end"`
	CanceledAt moment `json:"canceled_at"`
	Details    struct {
		Comment  text `json:"comment"`
		Feedback text `json:"feedback"`
		Reason   text `json:"reason"`
	} `json:"cancellation_details"`
	Collection string `json:"collection_method"`
	Currency   string `json:"currency"`
	End        int64  `json:"current_period_end"`
	Start      int64  `json:"current_period_start"`
	Customer   string `json:"customer"`
	Days       moment `json:"days_until_due"`
	Card       text   `json:"default_payment_method"`
	About      text   `json:"description"`
	Ended      moment `json:"ended_at"`
	Latest     text   `json:"latest_invoice"`
	Schedule   text   `json:"schedule"`
	StartDate  int64  `json:"start_date"`
	Status     string `json:"status"`
	TrialEnd   moment `json:"trial_end"`
	TrialStart moment `json:"trial_start"`
	Transfer   *struct {
		Percent     any    `json:"amount_percent"`
		Destination string `json:"destination"`
	} `json:"transfer_data"`
	Own struct {
		Items     []item         `json:"items"`
		Pending   *pendingUpdate `json:"pending,omitempty"`
		Fee       int64          `json:"fee,omitempty"` // application_fee_percent in hundredths
		Warned    int64          `json:"warned,omitempty"`
		Announced int64          `json:"announced,omitempty"`
		Phase     int64          `json:"phase,omitempty"` // end of the schedule's current phase
	} `json:"_"`
}

// item is a price of a subscription and its quantity.
type item struct {
	ID       string            `json:"id"`
	Created  int64             `json:"created"`
	Metadata map[string]string `json:"metadata"`
	Price    string            `json:"price"`
	Quantity int64             `json:"quantity"`
}

// pendingUpdate is a change that waits for its payment.
type pendingUpdate struct {
	Expires int64    `json:"expires"`
	Invoice string   `json:"invoice"`
	Swept   []string `json:"swept,omitempty"` // older invoice items that its invoice claimed
	Change  change   `json:"change"`
}

func (*subscription) objectKind() kind { return kindSubscription }

func (s *subscription) indexKeys() []string {
	all := []string{
		indexKey("customer", s.Customer), indexKey("status", s.Status),
		indexKey("collection_method", s.Collection),
	}
	if !s.hasEnded() {
		all = append(all, "live=true")
	}

	for _, it := range s.Own.Items {
		all = append(all, indexKey("price", it.Price))
	}

	return slices.Compact(all)
}

// hasEnded reports whether the subscription has ended for good.
func (s *subscription) hasEnded() bool {
	return s.Status == "canceled" || s.Status == "incomplete_expired"
}

func (s *subscription) nextDue() int64 {
	switch {
	case s.hasEnded():
		return 0
	case s.Status == "incomplete":
		return s.Created + incompleteAge
	}

	next := s.End
	for _, at := range []int64{
		int64(s.CancelAt), s.Own.Phase, s.trialWarningDue(),
		s.upcomingDue(),
	} {
		if at != 0 {
			next = min(next, at)
		}
	}

	if s.Own.Pending != nil {
		next = min(next, s.Own.Pending.Expires)
	}

	return next
}

// trialWarningDue returns when trial_will_end is due, 0 if it was sent.
func (s *subscription) trialWarningDue() int64 {
	if s.Status != "trialing" || s.Own.Warned == int64(s.TrialEnd) {
		return 0
	}
	return max(int64(s.TrialEnd)-trialWarning, s.Created)
}

// upcomingDue returns when invoice.upcoming is due, 0 if it was sent or nothing will be billed.
func (s *subscription) upcomingDue() int64 {
	if s.AtEnd || s.CancelAt != 0 || s.Own.Announced == s.End || s.End-s.Start <= upcomingAhead {
		return 0
	}
	return max(s.End-upcomingAhead, s.Start+1)
}

func (s *subscription) addDerived(tx *tx, w shown, expand expansion) {
	w["items"] = listResponse("/v1/subscription_items?subscription="+s.ID, false,
		tx.renderItems(s.ID, s.Own.Items, expand["items"]["data"]))
	w["pending_update"] = nil
	if p := s.Own.Pending; p != nil {
		w["pending_update"] = shown{
			"billing_cycle_anchor": moment(p.Change.AnchorSet), "expires_at": p.Expires,
			"trial_end": moment(p.Change.TrialSet), "trial_from_plan": nil,
			"subscription_items": tx.renderItems(s.ID, p.Change.Items, nil),
		}
	}

	if s.Own.Fee != 0 {
		w["application_fee_percent"] = json.RawMessage(formatDecimal(s.Own.Fee))
	}
}

func (tx *tx) renderItems(sub string, items []item, expand expansion) []shown {
	data := make([]shown, 0, len(items))
	for _, it := range items {
		w := newShape("subscription_item")
		setMembers(w, it)
		p := mustFind[price](tx, "", it.Price)
		w["object"] = "subscription_item"
		w["subscription"] = sub
		w["price"] = tx.renderObject(p, expand["price"])
		w["plan"] = p.asPlan()
		if it.Metadata == nil {
			w["metadata"] = map[string]string{}
		}

		data = append(data, w)
	}

	return data
}

// readPrices returns the prices of items, in order.
func (tx *tx) readPrices(items []item) []*price {
	all := make([]*price, 0, len(items))
	for _, it := range items {
		all = append(all, mustFind[price](tx, "", it.Price))
	}
	return all
}

// periodAmount returns the price of a full period of items.
func (tx *tx) periodAmount(items []item) (sum int64) {
	for i, p := range tx.readPrices(items) {
		sum += p.Unit * items[i].Quantity
	}
	return sum
}

func (tx *tx) cycleOf(items []item) cycle {
	return mustFind[price](tx, "", items[0].Price).Recurring.cycle
}

// storeChanged stores a subscription and emits an event; before is its former rendering.
func (tx *tx) storeChanged(s *subscription, before shown) {
	tx.put(s)
	if len(changedMembers(before, tx.renderObject(s, nil))) > 0 {
		tx.emitEvent("customer.subscription.updated", s, before)
	}
}

// endSubscription ends a subscription now. With invoiceNow, pending items are invoiced; otherwise pending prorations
// are dropped. Open invoices stay open but are no longer collected.
func (tx *tx) endSubscription(s *subscription, reason text, invoiceNow bool) {
	if s.Own.Pending != nil {
		tx.dropPending(s)
	}

	if s.Schedule != "" {
		tx.endSchedule(s, "canceled")
	}

	was := s.Status
	s.Status = "canceled"
	s.Ended = moment(tx.now)
	if was == "incomplete" {
		s.Status = "incomplete_expired"
	}
	if s.CanceledAt == 0 {
		s.CanceledAt = moment(tx.now)
	}
	if s.Details.Reason == "" {
		s.Details.Reason = reason
	}

	tx.put(s)
	tx.emitEvent("customer.subscription.deleted", s, nil)
	tx.stopCollecting(s)
	if invoiceNow && len(tx.pendingItems(s)) > 0 {
		tx.billNow(s, "subscription_cycle", tx.pendingLines(s), tx.now, tx.now)
		return
	}

	for _, i := range tx.pendingItems(s) {
		if i.Proration && i.Sub == text(s.ID) {
			tx.emitEvent("invoiceitem.deleted", i, nil)
			tx.drop(i)
		}
	}
}

// stopCollecting stops collecting the open invoices of a subscription that has ended.
func (tx *tx) stopCollecting(s *subscription) {
	for _, inv := range findAll[invoice](tx,
		Query{All: []string{indexKey("subscription", s.ID), indexKey("status", "open")}}) {
		if inv.Auto {
			inv.Auto = false
			inv.NextTry = 0
			tx.put(inv)
		}
	}
}

func cancelSubscription(tx *tx, c *call) (any, *problem) {
	s := mustFind[subscription](tx, "id", c.pathID())
	if s.hasEnded() {
		refuse(noSuchObject(kindSubscription, "id", s.ID))
	}

	readCancelDetails(s, c.params)
	now := c.isTrue("invoice_now")
	prorate := c.isTrue("prorate")
	if prorate && s.Status != "trialing" {
		tx.createInvoiceItems(s, tx.creditLines(s, s.Own.Items, tx.now))
	}

	tx.endSubscription(s, "cancellation_requested", now)

	return s, nil
}

func readCancelDetails(s *subscription, p *params) {
	d := p.group("cancellation_details")
	for name, at := range map[string]*text{"comment": &s.Details.Comment, "feedback": &s.Details.Feedback} {
		if v, ok := d.optionalText(name); ok {
			*at = text(v)
		}
	}
}
