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

func (*subscription) kind() kind { return kindSubscription }

func (s *subscription) marks() []string {
	all := []string{mark("customer", s.Customer), mark("status", s.Status), mark("collection_method", s.Collection)}
	if !s.over() {
		all = append(all, "live=true")
	}
	for _, it := range s.Own.Items {
		all = append(all, mark("price", it.Price))
	}
	return slices.Compact(all)
}

// over reports whether the subscription has ended for good.
func (s *subscription) over() bool {
	return s.Status == "canceled" || s.Status == "incomplete_expired"
}

func (s *subscription) due() int64 {
	switch {
	case s.over():
		return 0
	case s.Status == "incomplete":
		return s.Created + incompleteAge
	}
	next := s.End
	for _, at := range []int64{int64(s.CancelAt), s.Own.Phase, s.warning(), s.announcement()} {
		if at != 0 {
			next = min(next, at)
		}
	}
	if s.Own.Pending != nil {
		next = min(next, s.Own.Pending.Expires)
	}
	return next
}

// warning returns when trial_will_end is due, 0 if it was sent.
func (s *subscription) warning() int64 {
	if s.Status != "trialing" || s.Own.Warned == int64(s.TrialEnd) {
		return 0
	}
	return max(int64(s.TrialEnd)-trialWarning, s.Created)
}

// announcement returns when invoice.upcoming is due, 0 if it was sent or nothing will be billed.
func (s *subscription) announcement() int64 {
	if s.AtEnd || s.CancelAt != 0 || s.Own.Announced == s.End || s.End-s.Start <= upcomingAhead {
		return 0
	}
	return max(s.End-upcomingAhead, s.Start+1)
}

func (s *subscription) wire(tx *tx, w shown, expand expansion) {
	w["items"] = page("/v1/subscription_items?subscription="+s.ID, false,
		tx.items(s.ID, s.Own.Items, expand["items"]["data"]))
	w["pending_update"] = nil
	if p := s.Own.Pending; p != nil {
		w["pending_update"] = shown{
			"billing_cycle_anchor": moment(p.Change.AnchorSet), "expires_at": p.Expires,
			"trial_end": moment(p.Change.TrialSet), "trial_from_plan": nil,
			"subscription_items": tx.items(s.ID, p.Change.Items, nil),
		}
	}
	if s.Own.Fee != 0 {
		w["application_fee_percent"] = json.RawMessage(decimal(s.Own.Fee))
	}
}

func (tx *tx) items(sub string, items []item, expand expansion) []shown {
	data := make([]shown, 0, len(items))
	for _, it := range items {
		w := shape("subscription_item")
		overlay(w, it)
		p := get[price](tx, "", it.Price)
		w["object"], w["subscription"], w["price"], w["plan"] = "subscription_item", sub, tx.show(p, expand["price"]),
			p.plan()
		if it.Metadata == nil {
			w["metadata"] = map[string]string{}
		}
		data = append(data, w)
	}
	return data
}

// prices returns the prices of items, in order.
func (tx *tx) prices(items []item) []*price {
	all := make([]*price, 0, len(items))
	for _, it := range items {
		all = append(all, get[price](tx, "", it.Price))
	}
	return all
}

// worth returns the price of a full period of items.
func (tx *tx) worth(items []item) (sum int64) {
	for i, p := range tx.prices(items) {
		sum += p.Unit * items[i].Quantity
	}
	return sum
}

func (tx *tx) cycleOf(items []item) cycle { return get[price](tx, "", items[0].Price).Recurring.cycle }

// changed stores a subscription and emits an event; before is its former rendering.
func (tx *tx) changed(s *subscription, before shown) {
	tx.put(s)
	if len(differences(before, tx.show(s, nil))) > 0 {
		tx.emit("customer.subscription.updated", s, before)
	}
}

// cancel ends a subscription now. With invoiceNow, pending items are invoiced; otherwise pending prorations are
// dropped. Open invoices stay open but are no longer collected.
func (tx *tx) cancel(s *subscription, reason text, invoiceNow bool) {
	if s.Own.Pending != nil {
		tx.dropPending(s)
	}
	if s.Schedule != "" {
		tx.detach(s, "canceled")
	}
	was := s.Status
	s.Status, s.Ended = "canceled", moment(tx.now)
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
	tx.emit("customer.subscription.deleted", s, nil)
	tx.hold(s)
	if invoiceNow && len(tx.waiting(s)) > 0 {
		tx.bill(s, "subscription_cycle", tx.sweep(s), tx.now, tx.now)
		return
	}
	for _, i := range tx.waiting(s) {
		if i.Proration && i.Sub == text(s.ID) {
			tx.emit("invoiceitem.deleted", i, nil)
			tx.drop(i)
		}
	}
}

// hold stops collecting the open invoices of a subscription that has ended.
func (tx *tx) hold(s *subscription) {
	for _, inv := range all[invoice](tx, Query{All: []string{mark("subscription", s.ID), mark("status", "open")}}) {
		if inv.Auto {
			inv.Auto, inv.NextTry = false, 0
			tx.put(inv)
		}
	}
}

func cancelSubscription(tx *tx, c *call) (any, *problem) {
	s := get[subscription](tx, "id", c.id1())
	if s.over() {
		refuse(missing(kindSubscription, "id", s.ID))
	}
	details(s, c.params)
	now, prorate := c.yes("invoice_now"), c.yes("prorate")
	if prorate && s.Status != "trialing" {
		tx.record(s, tx.credits(s, s.Own.Items, tx.now))
	}
	tx.cancel(s, "cancellation_requested", now)
	return s, nil
}

func details(s *subscription, p *params) {
	d := p.of("cancellation_details")
	for name, at := range map[string]*text{"comment": &s.Details.Comment, "feedback": &s.Details.Feedback} {
		if v, ok := d.opt(name); ok {
			*at = text(v)
		}
	}
}
