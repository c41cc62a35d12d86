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

func (*invoice) objectKind() kind { return kindInvoice }

func (i *invoice) indexKeys() []string {
	all := []string{
		indexKey("customer", i.Customer), indexKey("status",
			i.Status), indexKey("collection_method", i.Collection),
		indexKey("subscription", i.Sub),
	}
	if i.Sub == "" {
		all = all[:3]
	}

	return all
}

func (i *invoice) nextDue() int64 {
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

func (i *invoice) addDerived(tx *tx, w shown, expand expansion) {
	w["lines"] = listResponse("/v1/invoices/"+i.ID+"/lines", false,
		tx.renderLines(i.ID, i.Own.Lines, expand["lines"]["data"]))
	w["subtotal_excluding_tax"] = i.Subtotal
	w["total_excluding_tax"] = i.Total
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

func (tx *tx) renderLines(inv string, lines []line, expand expansion) []shown {
	data := make([]shown, 0, len(lines))
	for _, l := range lines {
		w := newShape("line_item")
		setMembers(w, l)
		w["object"] = "line_item"
		w["livemode"] = false
		w["invoice"] = inv
		w["price"] = nil
		w["plan"] = nil
		w["amount_excluding_tax"] = l.Amount
		unit := l.Amount
		if l.Quantity > 0 {
			unit /= l.Quantity
		}

		w["unit_amount_excluding_tax"] = strconv.FormatInt(unit, 10)
		if l.Price != "" {
			p := mustFind[price](tx, "", string(l.Price))
			w["price"] = tx.renderObject(p, expand["price"])
			if p.Recurring != nil {
				w["plan"] = p.asPlan()
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

func (i *invoice) updateTotals() {
	i.Subtotal = 0
	for _, l := range i.Own.Lines {
		i.Subtotal += l.Amount
	}

	i.Total = i.Subtotal
	i.Due = max(i.Total, 0)
	i.Remaining = i.Due - i.Paid
}

// draftInvoice creates an invoice of a subscription and claims the invoice items among its lines.
func (tx *tx) draftInvoice(s *subscription, reason string, lines []line, start,
	end int64,
) *invoice {
	cus := mustFind[customer](tx, "", s.Customer)
	inv := &invoice{
		head: head{ID: newID("in")}, Reason: reason, Collection: s.Collection, Currency: s.Currency, Customer: cus.ID,
		Email: cus.Email, Name: cus.Name,
		Card: s.Card, Start: start, End: end, Status: "draft", Sub: text(s.ID), Auto: true,
	}
	inv.Own.Lines = lines
	inv.Own.Details = s.Metadata
	for _, l := range lines {
		if l.Item == "" {
			continue
		}

		i := mustFind[invoiceItem](tx, "", string(l.Item))
		i.Invoice = text(inv.ID)
		tx.put(i)
		if l.Proration && l.Period.Start > int64(inv.Prorated) {
			inv.Prorated = moment(l.Period.Start)
		}
	}

	inv.updateTotals()
	if s.Own.Fee != 0 {
		fee := shareOfAmount(max(inv.Total, 0), s.Own.Fee, 10000)
		inv.Fee = &fee
	}

	inv.Created = tx.now
	tx.put(inv)
	s.Latest = text(inv.ID)
	tx.put(s)
	tx.emitEvent("invoice.created", inv, nil)

	return inv
}

// billNow creates, finalises and collects an invoice.
func (tx *tx) billNow(s *subscription, reason string, lines []line, start, end int64) *invoice {
	inv := tx.draftInvoice(s, reason, lines, start, end)
	tx.finaliseInvoice(inv)
	if inv.Status == "open" && inv.Collection == "charge_automatically" {
		tx.collectInvoice(inv, "", false)
	}
	return inv
}

// finaliseInvoice makes an invoice final: it gets its number, the customer's balance is applied, and the rest is due.
// An invoice with nothing due is paid.
func (tx *tx) finaliseInvoice(inv *invoice) {
	cus := mustFind[customer](tx, "", inv.Customer)
	inv.updateTotals()
	st := splitTotal(inv.Total, cus.Balance, inv.Currency)
	if st.appliedBalance != 0 {
		was := tx.renderObject(cus, nil)
		why := "applied_to_invoice"
		if inv.Total < 0 || st.belowSmallest {
			why = "invoice_too_small"
		}
		if inv.Total < 0 {
			why = "applied_to_invoice"
		}

		tx.changeBalance(cus, st.appliedBalance, why, inv.ID)
		tx.emitEvent("customer.updated", cus, was)
	}

	inv.Own.Balance = true
	inv.Number = text(fmt.Sprintf("%s-%04d", cus.Prefix, cus.Next))
	cus.Next++
	tx.put(cus)
	inv.Before = st.before
	inv.After = &st.after
	inv.Due = st.due
	inv.Remaining = st.due
	inv.Status = "open"
	inv.Transitions.Finalized = moment(tx.now)
	inv.Effective = moment(tx.now)
	inv.Told = moment(tx.now)
	inv.Hosted = tx.pageURL("invoices/" + inv.ID)
	if inv.Collection == "send_invoice" {
		if s := find[subscription](tx, string(inv.Sub)); s != nil {
			inv.DueDate = moment(tx.now + int64(s.Days)*86400)
		}
	}

	if inv.Due > 0 {
		inv.Intent = text(tx.intentFor(inv, cus).ID)
	}

	tx.put(inv)
	tx.emitEvent("invoice.finalized", inv, nil)
	if inv.Collection == "send_invoice" && inv.Due > 0 {
		tx.emitEvent("invoice.sent", inv, nil)
	}

	if inv.Due == 0 {
		tx.markPaid(inv)
	}
}

// markPaid marks an invoice as paid, and applies what was waiting for the payment.
func (tx *tx) markPaid(inv *invoice) {
	before := tx.renderObject(inv, nil)
	inv.Status = "paid"
	inv.IsPaid = true
	inv.Auto = false
	inv.NextTry = 0
	inv.Attempted = true
	inv.Paid = inv.Due
	inv.Remaining = 0
	inv.Transitions.Paid = moment(tx.now)
	tx.put(inv)
	tx.emitEvent("invoice.updated", inv, before)
	tx.emitEvent("invoice.paid", inv, nil)
	tx.emitEvent("invoice.payment_succeeded", inv, nil)
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		tx.moneyCame(s, inv)
	}
}

// moneyCame applies a paid invoice to its subscription.
func (tx *tx) moneyCame(s *subscription, inv *invoice) {
	before := tx.renderObject(s, nil)
	if p := s.Own.Pending; p != nil && p.Invoice == inv.ID {
		s.Own.Pending = nil
		tx.applyChange(s, p.Change)
		tx.put(s)
		tx.emitEvent("customer.subscription.pending_update_applied", s, before)
	}

	if s.Status == "incomplete" || (s.Status == "past_due" || s.Status == "unpaid") && s.Latest == text(inv.ID) {
		s.Status = "active"
	}

	tx.storeChanged(s, before)
}

// moneyMissing applies a failed payment to a subscription.
func (tx *tx) moneyMissing(s *subscription, inv *invoice) {
	if s.Status != "active" && s.Status != "trialing" || s.Own.Pending != nil && s.Own.Pending.Invoice == inv.ID {
		return
	}
	before := tx.renderObject(s, nil)
	s.Status = "past_due"
	tx.storeChanged(s, before)
}

// voidOpenInvoice voids an open invoice, and restores the balance that it had used.
func (tx *tx) voidOpenInvoice(inv *invoice) {
	before := tx.renderObject(inv, nil)
	tx.releaseInvoice(inv)
	inv.Status = "void"
	inv.Auto = false
	inv.NextTry = 0
	inv.Transitions.Voided = moment(tx.now)
	tx.put(inv)
	tx.emitEvent("invoice.updated", inv, before)
	tx.emitEvent("invoice.voided", inv, nil)
}

// releaseInvoice cancels the intent and restores the balance of an invoice that will not be paid.
func (tx *tx) releaseInvoice(inv *invoice) {
	if inv.Intent != "" {
		if pi := mustFind[intent](tx, "", string(inv.Intent)); pi.Status != "succeeded" &&
			pi.Status != "canceled" {
			tx.cancelIntent(pi, "void_invoice")
		}
	}

	if inv.After != nil && inv.Own.Balance {
		cus := mustFind[customer](tx, "", inv.Customer)
		tx.changeBalance(cus, inv.Before-*inv.After, "unapplied_from_invoice", inv.ID)
		inv.Own.Balance = false
	}
}
