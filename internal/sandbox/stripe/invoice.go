package stripe

import (
	"fmt"
	"strconv"
)

const kindInvoice kind = "invoice"

// Delays of invoices, in seconds.
const draftAge = 3600 // between the draft of a renewal and its payment

// retries lists the delays of payment retries, in seconds after the last try. After the last retry the subscription
// ends.
var retries = []int64{3 * 86400, 5 * 86400, 7 * 86400} //nolint:gochecknoglobals // a table

// invoice is an invoice: draft, open, paid, void or uncollectible.
type invoice struct {
	head
	Due         int64  `json:"amount_due"`
	Paid        int64  `json:"amount_paid"`
	Remaining   int64  `json:"amount_remaining"`
	Attempts    int64  `json:"attempt_count"`
	Attempted   bool   `json:"attempted"`
	Auto        bool   `json:"auto_advance"`
	Reason      string `json:"billing_reason"`
	Charge      text   `json:"charge"`
	Collection  string `json:"collection_method"`
	Currency    string `json:"currency"`
	Customer    string `json:"customer"`
	Email       text   `json:"customer_email"`
	Name        text   `json:"customer_name"`
	Card        text   `json:"default_payment_method"`
	About       text   `json:"description"`
	DueDate     moment `json:"due_date"`
	Effective   moment `json:"effective_at"`
	After       *int64 `json:"ending_balance"`
	Hosted      text   `json:"hosted_invoice_url"`
	NextTry     moment `json:"next_payment_attempt"`
	Number      text   `json:"number"`
	IsPaid      bool   `json:"paid"`
	OutOfBand   bool   `json:"paid_out_of_band"`
	Intent      text   `json:"payment_intent"`
	End         int64  `json:"period_end"`
	Start       int64  `json:"period_start"`
	Before      int64  `json:"starting_balance"`
	Status      string `json:"status"`
	Transitions struct {
		Finalized     moment `json:"finalized_at"`
		Uncollectible moment `json:"marked_uncollectible_at"`
		Paid          moment `json:"paid_at"`
		Voided        moment `json:"voided_at"`
	} `json:"status_transitions"`
	Sub      text   `json:"subscription"`
	Prorated moment `json:"subscription_proration_date,omitempty"`
	Subtotal int64  `json:"subtotal"`
	Total    int64  `json:"total"`
	Told     moment `json:"webhooks_delivered_at"`
	Fee      *int64 `json:"application_fee_amount"`
	Own      struct {
		Lines   []line `json:"lines"`
		Balance bool   `json:"balance,omitempty"` // the customer's balance was applied

		Details map[string]string `json:"details,omitempty"` // copy of the subscription's metadata
	} `json:"_"`
}

func (*invoice) kind() kind { return kindInvoice }

func (i *invoice) marks() []string {
	all := []string{
		mark("customer", i.Customer), mark("status", i.Status), mark("collection_method", i.Collection),
		mark("subscription", i.Sub),
	}
	if i.Sub == "" {
		all = all[:3]
	}
	return all
}

func (i *invoice) due() int64 {
	switch {
	case !i.Auto:
		return 0
	case i.Status == "draft":
		return i.Created + draftAge
	case i.Status == "open" && i.Collection == "send_invoice":
		return int64(i.DueDate)
	case i.Status == "open":
		return int64(i.NextTry)
	default:
		return 0
	}
}

func (i *invoice) wire(tx *tx, w shown, expand expansion) {
	w["lines"] = page("/v1/invoices/"+i.ID+"/lines", false, tx.lines(i.ID, i.Own.Lines, expand["lines"]["data"]))
	w["subtotal_excluding_tax"], w["total_excluding_tax"] = i.Subtotal, i.Total
	if i.Prorated == 0 {
		delete(w, "subscription_proration_date")
	}
	if i.Hosted != "" {
		w["invoice_pdf"] = i.Hosted
	}
	if i.Sub != "" {
		details := i.Own.Details
		if details == nil {
			details = map[string]string{}
		}
		w["subscription_details"] = shown{"metadata": details}
	}
}

func (tx *tx) lines(inv string, lines []line, expand expansion) []shown {
	data := make([]shown, 0, len(lines))
	for _, l := range lines {
		w := shape("line_item")
		overlay(w, l)
		w["object"], w["livemode"], w["invoice"], w["price"], w["plan"] = "line_item", false, inv, nil, nil
		w["amount_excluding_tax"] = l.Amount
		unit := l.Amount
		if l.Quantity > 0 {
			unit /= l.Quantity
		}
		w["unit_amount_excluding_tax"] = strconv.FormatInt(unit, 10)
		if l.Price != "" {
			p := get[price](tx, "", string(l.Price))
			w["price"] = tx.show(p, expand["price"])
			if p.Recurring != nil {
				w["plan"] = p.plan()
			}
		}
		if l.Metadata == nil {
			w["metadata"] = map[string]string{}
		}
		if l.Proration {
			w["discountable"] = false
		}
		data = append(data, w)
	}
	return data
}

func (i *invoice) total() {
	i.Subtotal = 0
	for _, l := range i.Own.Lines {
		i.Subtotal += l.Amount
	}
	i.Total = i.Subtotal
	i.Due = max(i.Total, 0)
	i.Remaining = i.Due - i.Paid
}

// draft creates an invoice of a subscription and claims the invoice items among its lines.
func (tx *tx) draft(s *subscription, reason string, lines []line, start, end int64) *invoice {
	cus := get[customer](tx, "", s.Customer)
	inv := &invoice{
		head: head{ID: newID("in")}, Reason: reason, Collection: s.Collection, Currency: s.Currency, Customer: cus.ID,
		Email: cus.Email, Name: cus.Name,
		Card: s.Card, Start: start, End: end, Status: "draft", Sub: text(s.ID), Auto: true,
	}
	inv.Own.Lines, inv.Own.Details = lines, s.Metadata
	for _, l := range lines {
		if l.Item == "" {
			continue
		}
		i := get[invoiceItem](tx, "", string(l.Item))
		i.Invoice = text(inv.ID)
		tx.put(i)
		if l.Proration && l.Period.Start > int64(inv.Prorated) {
			inv.Prorated = moment(l.Period.Start)
		}
	}
	inv.total()
	if s.Own.Fee != 0 {
		fee := part(max(inv.Total, 0), s.Own.Fee, 10000)
		inv.Fee = &fee
	}
	inv.Created = tx.now
	tx.put(inv)
	s.Latest = text(inv.ID)
	tx.put(s)
	tx.emit("invoice.created", inv, nil)
	return inv
}

// bill creates, finalises and collects an invoice.
func (tx *tx) bill(s *subscription, reason string, lines []line, start, end int64) *invoice {
	inv := tx.draft(s, reason, lines, start, end)
	tx.finalise(inv)
	if inv.Status == "open" && inv.Collection == "charge_automatically" {
		tx.collect(inv, "", false)
	}
	return inv
}

// finalise makes an invoice final: it gets its number, the customer's balance is applied, and the rest is due. An
// invoice with nothing due is paid.
func (tx *tx) finalise(inv *invoice) {
	cus := get[customer](tx, "", inv.Customer)
	inv.total()
	st := settle(inv.Total, cus.Balance, inv.Currency)
	if st.appliedBalance != 0 {
		was := tx.show(cus, nil)
		why := "applied_to_invoice"
		if inv.Total < 0 || st.belowSmallest {
			why = "invoice_too_small"
		}
		if inv.Total < 0 {
			why = "applied_to_invoice"
		}
		tx.balance(cus, st.appliedBalance, why, inv.ID)
		tx.emit("customer.updated", cus, was)
	}
	inv.Own.Balance = true
	inv.Number = text(fmt.Sprintf("%s-%04d", cus.Prefix, cus.Next))
	cus.Next++
	tx.put(cus)
	inv.Before, inv.After, inv.Due, inv.Remaining = st.before, &st.after, st.due, st.due
	inv.Status, inv.Transitions.Finalized, inv.Effective, inv.Told = "open", moment(tx.now), moment(tx.now),
		moment(tx.now)
	inv.Hosted = tx.page("invoices/" + inv.ID)
	if inv.Collection == "send_invoice" {
		if s := find[subscription](tx, string(inv.Sub)); s != nil {
			inv.DueDate = moment(tx.now + int64(s.Days)*86400)
		}
	}
	if inv.Due > 0 {
		inv.Intent = text(tx.intentFor(inv, cus).ID)
	}
	tx.put(inv)
	tx.emit("invoice.finalized", inv, nil)
	if inv.Collection == "send_invoice" && inv.Due > 0 {
		tx.emit("invoice.sent", inv, nil)
	}
	if inv.Due == 0 {
		tx.settled(inv)
	}
}

// settled marks an invoice as paid, and applies what was waiting for the payment.
func (tx *tx) settled(inv *invoice) {
	before := tx.show(inv, nil)
	inv.Status, inv.IsPaid, inv.Auto, inv.NextTry, inv.Attempted = "paid", true, false, 0, true
	inv.Paid, inv.Remaining, inv.Transitions.Paid = inv.Due, 0, moment(tx.now)
	tx.put(inv)
	tx.emit("invoice.updated", inv, before)
	tx.emit("invoice.paid", inv, nil)
	tx.emit("invoice.payment_succeeded", inv, nil)
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		tx.moneyCame(s, inv)
	}
}

// moneyCame applies a paid invoice to its subscription.
func (tx *tx) moneyCame(s *subscription, inv *invoice) {
	before := tx.show(s, nil)
	if p := s.Own.Pending; p != nil && p.Invoice == inv.ID {
		s.Own.Pending = nil
		tx.apply(s, p.Change)
		tx.put(s)
		tx.emit("customer.subscription.pending_update_applied", s, before)
	}
	if s.Status == "incomplete" || (s.Status == "past_due" || s.Status == "unpaid") && s.Latest == text(inv.ID) {
		s.Status = "active"
	}
	tx.changed(s, before)
}

// moneyMissing applies a failed payment to a subscription.
func (tx *tx) moneyMissing(s *subscription, inv *invoice) {
	if s.Status != "active" && s.Status != "trialing" || s.Own.Pending != nil && s.Own.Pending.Invoice == inv.ID {
		return
	}
	before := tx.show(s, nil)
	s.Status = "past_due"
	tx.changed(s, before)
}

// void voids an open invoice, and restores the balance that it had used.
func (tx *tx) void(inv *invoice) {
	before := tx.show(inv, nil)
	tx.release(inv)
	inv.Status, inv.Auto, inv.NextTry, inv.Transitions.Voided = "void", false, 0, moment(tx.now)
	tx.put(inv)
	tx.emit("invoice.updated", inv, before)
	tx.emit("invoice.voided", inv, nil)
}

// release cancels the intent and restores the balance of an invoice that will not be paid.
func (tx *tx) release(inv *invoice) {
	if inv.Intent != "" {
		if pi := get[intent](tx, "", string(inv.Intent)); pi.Status != "succeeded" && pi.Status != "canceled" {
			tx.cancelIntent(pi, "void_invoice")
		}
	}
	if inv.After != nil && inv.Own.Balance {
		cus := get[customer](tx, "", inv.Customer)
		tx.balance(cus, inv.Before-*inv.After, "unapplied_from_invoice", inv.ID)
		inv.Own.Balance = false
	}
}
