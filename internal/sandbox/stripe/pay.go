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

func (*intent) objectKind() kind { return kindIntent }

func (p *intent) indexKeys() []string {
	return []string{
		indexKey("customer", p.Customer), indexKey("invoice", p.Invoice),
		indexKey("status", p.Status),
	}
}

func (p *intent) addDerived(tx *tx, w shown, _ expansion) {
	w["next_action"] = nil
	if p.Status == "requires_action" {
		w["next_action"] = shown{
			"type":            "redirect_to_url",
			"redirect_to_url": shown{"url": tx.pageURL("payments/" + p.ID), "return_url": nil},
		}
	}

	if p.Error != nil && p.Card != "" {
		e := shown{}
		setMembers(e, p.Error)
		e["payment_method"] = tx.renderObject(mustFind[card](tx, "", string(p.Card)), nil)
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

func (*charge) objectKind() kind { return kindCharge }

func (c *charge) indexKeys() []string {
	return []string{
		indexKey("customer", c.Customer), indexKey("payment_intent", c.Intent),
		indexKey("invoice", c.Invoice),
	}
}

func (c *charge) addDerived(tx *tx, w shown, expand expansion) {
	if m := find[card](tx, string(c.Card)); m != nil {
		details := copyNested(shapes()[kindCharge], "payment_method_details")
		inner := copyNested(details, "card")
		inner["last4"] = m.Own.Last4
		details["card"] = inner
		w["payment_method_details"] = details
	}

	data := []shown{}
	for _, r := range findAll[refund](tx, Query{All: []string{indexKey("charge", c.ID)}}) {
		data = append(data, tx.renderObject(r, expand["refunds"]["data"]))
	}

	w["refunds"] = listResponse("/v1/charges/"+c.ID+"/refunds", false, data)
}

// intentFor creates the payment of an invoice.
func (tx *tx) intentFor(inv *invoice, cus *customer) *intent {
	pi := tx.newIntent(inv.Due, inv.Currency)
	pi.Customer = text(cus.ID)
	pi.Invoice = text(inv.ID)
	pi.Fee = inv.Fee
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
	tx.emitEvent("payment_intent.created", pi, nil)

	return pi
}

func (tx *tx) newIntent(amount int64, currency string) *intent {
	pi := &intent{head: head{ID: newID("pi")}, Amount: amount, Currency: currency, Status: "requires_payment_method"}
	pi.Secret = pi.ID + "_secret_" + randomText(24)
	return pi
}

// cardOf returns the card that an invoice is charged to: its own, its subscription's or its customer's.
func (tx *tx) cardOf(inv *invoice) *card {
	names := []text{inv.Card}
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		names = append(names, s.Card)
	}

	names = append(names, mustFind[customer](tx, "", inv.Customer).Own.Card)
	for _, name := range names {
		if m := find[card](tx, string(name)); m != nil && m.Customer != "" {
			return m
		}
	}

	return nil
}

// collectInvoice tries to charge an invoice to the named card, or to the default card if name is "". It returns the
// refusal, if any; the effects are kept in either case.
//
// The first attempt and those of the retry schedule (clock) are counted; the customer's own attempts are not.
func (tx *tx) collectInvoice(inv *invoice, name string, clock bool) *problem {
	m := tx.cardOf(inv)
	if name != "" {
		m = mustFind[card](tx, "payment_method", name)
	}

	counted := clock || inv.Attempts == 0
	if counted {
		inv.Attempts++
	}

	inv.Attempted = true
	tx.put(inv)
	pi := mustFind[intent](tx, "", string(inv.Intent))
	var refused *problem
	if m == nil {
		pi.Error = &problem{
			Status: 400, Type: "invalid_request_error", Code: "resource_missing",
			Message: "This customer has no attached payment source or default payment method.", kept: true,
		}
		tx.put(pi)
		refused = pi.Error
	} else {
		refused = tx.chargeCard(pi, m, false)
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
		tx.emitEvent("invoice.payment_action_required", inv, nil)
	}

	tx.emitEvent("invoice.payment_failed", inv, nil)
	if s := find[subscription](tx, string(inv.Sub)); s != nil {
		tx.moneyMissing(s, inv)
		if counted && inv.Attempts > int64(len(retries)) && inv.NextTry == 0 && s.Status == "past_due" {
			tx.endSubscription(s, "payment_failed", false)
		}
	}

	return refused
}

// chargeCard charges a card. authenticated means that the customer has confirmed the payment.
func (tx *tx) chargeCard(pi *intent, m *card, authenticated bool) *problem {
	pi.Card = text(m.ID)
	if m.Own.Conduct == ThreeDS && !authenticated {
		pi.Status = "requires_action"
		pi.Error = nil
		tx.put(pi)
		tx.emitEvent("payment_intent.requires_action", pi, nil)
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
		p.Charge = ch.ID
		p.kept = true
		ch.Status = "failed"
		ch.Failure = text(p.Code)
		ch.FailureText = text(p.Message)
		pi.Status = "requires_payment_method"
		pi.Error = p
		tx.put(ch)
		tx.put(pi)
		tx.emitEvent("charge.failed", ch, nil)
		tx.emitEvent("payment_intent.payment_failed", pi, nil)
		return p
	}

	ch.IsPaid = true
	ch.IsCaptured = true
	ch.Captured = pi.Amount
	pi.Status = "succeeded"
	pi.Received = pi.Amount
	pi.Error = nil
	tx.put(ch)
	tx.put(pi)
	tx.recordMovement(Movement{
		At: tx.now, Kind: "charge", Amount: pi.Amount, Currency: pi.Currency,
		Customer: string(pi.Customer), Invoice: string(pi.Invoice), Object: ch.ID,
	})
	var fee int64
	if tx.account != "" && pi.Fee != nil {
		fee = *pi.Fee
	}

	tx.balanceOf(ch, fee)
	tx.feeOf(ch, pi)
	tx.emitEvent("charge.succeeded", ch, nil)
	tx.emitEvent("payment_intent.succeeded", pi, nil)
	if inv := find[invoice](tx, string(pi.Invoice)); inv != nil &&
		(inv.Status == "open" || inv.Status == "uncollectible") {
		inv.Charge = text(ch.ID)
		tx.markPaid(inv)
	}

	return nil
}

func (tx *tx) cancelIntent(pi *intent, why text) {
	pi.Status = "canceled"
	pi.Canceled = moment(tx.now)
	pi.Why = why
	tx.put(pi)
	tx.emitEvent("payment_intent.canceled", pi, nil)
}
