package stripe

import "encoding/json"

const (
	kindCustomer kind = "customer"
	kindBalance  kind = "customer_balance_transaction"
)

// customer is a paying customer.
type customer struct {
	head
	Email    text            `json:"email"`
	Name     text            `json:"name"`
	Phone    text            `json:"phone"`
	About    text            `json:"description"`
	Balance  int64           `json:"balance"` // negative: credit
	Currency text            `json:"currency"`
	Late     bool            `json:"delinquent"`
	Prefix   string          `json:"invoice_prefix"`
	Next     int64           `json:"next_invoice_sequence"`
	Address  map[string]text `json:"address"`
	Own      struct {
		Card text `json:"card"` // default payment method of the customer's invoices
	} `json:"_"`
}

func (*customer) objectKind() kind { return kindCustomer }

func (c *customer) indexKeys() []string {
	return []string{indexKey("email", c.Email), indexKey("name", c.Name)}
}

func (c *customer) addDerived(tx *tx, w shown, expand expansion) {
	settings := shown{
		"custom_fields": nil, "footer": nil, "rendering_options": nil,
		"default_payment_method": c.Own.Card,
	}
	for name, below := range expand["invoice_settings"] {
		if c.Own.Card != "" {
			settings[name] = tx.renderObject(mustFind[card](tx, "", string(c.Own.Card)), below)
		}
	}

	w["invoice_settings"] = settings
}

func createCustomer(tx *tx, c *call) (any, *problem) {
	cus := &customer{head: head{ID: newID("cus")}, Prefix: randomText(8), Next: 1}
	cus.readParams(tx, c.params)
	pm := c.text("payment_method")
	if pm == "" {
		pm = "pm_card_visa" // by default a customer has a working card
	}

	tx.put(cus)
	tx.emitEvent("customer.created", cus, nil)
	cus.Own.Card = text(tx.attachToCustomer(pm, cus.ID).ID)
	if chosen := c.group("invoice_settings").text("default_payment_method"); chosen != "" {
		cus.Own.Card = text(tx.attachToCustomer(chosen, cus.ID).ID)
	}

	return cus, nil
}

func (c *customer) readParams(tx *tx, p *params) {
	for name, at := range map[string]*text{
		"email": &c.Email, "name": &c.Name, "phone": &c.Phone,
		"description": &c.About,
	} {
		if v, ok := p.optionalText(name); ok {
			*at = text(v)
		}
	}

	if p.has("address") {
		a := p.group("address")
		c.Address = map[string]text{}
		for _, name := range []string{"city", "country", "line1", "line2", "postal_code", "state"} {
			c.Address[name] = text(a.text(name))
		}
	}

	if v, ok := p.number("balance"); ok && v != c.Balance {
		tx.changeBalance(c, v-c.Balance, "adjustment", "")
	}

	c.Metadata = p.metadata(c.Metadata)
	p.enumValue("tax_exempt", "none")
}

func updateCustomer(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.pathID())
	before := tx.renderObject(cus, nil)
	cus.readParams(tx, c.params)
	if pm, ok := c.group("invoice_settings").optionalText("default_payment_method"); ok {
		cus.Own.Card = ""
		if pm != "" {
			m := mustFind[card](tx, "invoice_settings[default_payment_method]", pm)
			if m.Customer != text(cus.ID) {
				refuse(invalidRequest("invoice_settings[default_payment_method]",
					"resource_missing",
					"The customer does not have a payment method with the ID %s. The payment method must be "+
						"attached to the customer.", pm))
			}
			cus.Own.Card = text(m.ID)
		}
	}

	tx.put(cus)
	tx.emitEvent("customer.updated", cus, before)

	return cus, nil
}

// deleteCustomer cancels the subscriptions of a customer and returns the stub that replaces it.
func deleteCustomer(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.pathID())
	for _, sub := range findAll[subscription](tx,
		Query{All: []string{indexKey("customer", cus.ID)}}) {
		if !sub.hasEnded() {
			tx.endSubscription(sub, "cancellation_requested", false)
		}
	}

	for _, inv := range findAll[invoice](tx, Query{All: []string{indexKey("customer", cus.ID)}}) {
		switch inv.Status {
		case "open":
			tx.voidOpenInvoice(inv)
		case "draft":
			inv.Auto = false
			tx.put(inv)
		}
	}

	tx.emitEvent("customer.deleted", cus, nil)
	tx.drop(cus)
	stub := &former{head: head{ID: cus.ID}}
	tx.put(stub)

	return stub.renderDeleted(), nil
}

// former is the stub of a deleted customer.
type former struct{ head }

func (*former) objectKind() kind { return "sandbox.former_customer" }

func (f *former) renderDeleted() shown {
	return shown{"id": f.ID, "object": string(kindCustomer), "deleted": true}
}

func getCustomer(tx *tx, c *call) (any, *problem) {
	if f := find[former](tx, c.pathID()); f != nil {
		return f.renderDeleted(), nil
	}
	return mustFind[customer](tx, "id", c.pathID()), nil
}

// balanceEntry is one change of a customer's balance.
type balanceEntry struct {
	head
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Customer string `json:"customer"`
	Invoice  text   `json:"invoice"`
	After    int64  `json:"ending_balance"`
	Type     string `json:"type"`
	About    text   `json:"description"`
}

func (*balanceEntry) objectKind() kind      { return kindBalance }
func (b *balanceEntry) indexKeys() []string { return []string{indexKey("customer", b.Customer)} }

// changeBalance changes a customer's balance and records the reason.
func (tx *tx) changeBalance(cus *customer, by int64, why, invoice string) *balanceEntry {
	if by == 0 {
		return nil
	}

	if cus.Currency == "" {
		cus.Currency = "usd"
	}

	cus.Balance += by
	b := &balanceEntry{
		head: head{ID: newID("cbtxn")}, Amount: by, Currency: string(cus.Currency), Customer: cus.ID,
		Invoice: text(invoice), After: cus.Balance, Type: why,
	}
	tx.put(b)
	tx.put(cus)

	return b
}

func createBalance(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.pathID())
	amount, ok := c.number("amount")
	if !ok || amount == 0 {
		refuse(invalidRequest("amount", "parameter_missing", "Missing required param: amount."))
	}

	currency := c.requiredText("currency")
	if cus.Currency == "" {
		cus.Currency = text(currency)
	}

	if text(currency) != cus.Currency {
		refuse(invalidRequest("currency", "", "The customer's currency is %s.", cus.Currency))
	}

	before := tx.renderObject(cus, nil)
	b := tx.changeBalance(cus, amount, "adjustment", "")
	b.About = text(c.text("description"))
	b.Metadata = c.metadata(nil)
	tx.emitEvent("customer.updated", cus, before)

	return b, nil
}

// searchCustomers supports the two clauses that are in use, joined by AND: email:'..' and metadata['..']:'..'.
func searchCustomers(tx *tx, c *call) (any, *problem) {
	return tx.searchObjects(c, kindCustomer, func(q Query) []shown {
		var data []shown
		for _, cus := range findAll[customer](tx, q) {
			data = append(data, tx.renderObject(cus, nil))
		}
		return data
	})
}

var _ json.Marshaler = text("")
