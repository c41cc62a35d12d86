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

func (*customer) kind() kind { return kindCustomer }

func (c *customer) marks() []string {
	return []string{mark("email", c.Email), mark("name", c.Name)}
}

func (c *customer) wire(tx *tx, w shown, expand expansion) {
	settings := shown{
		"custom_fields": nil, "footer": nil, "rendering_options": nil,
		"default_payment_method": c.Own.Card,
	}
	for name, below := range expand["invoice_settings"] {
		if c.Own.Card != "" {
			settings[name] = tx.show(get[card](tx, "", string(c.Own.Card)), below)
		}
	}
	w["invoice_settings"] = settings
}

func createCustomer(tx *tx, c *call) (any, *problem) {
	cus := &customer{head: head{ID: newID("cus")}, Prefix: random(8), Next: 1}
	cus.take(tx, c.params)
	pm := c.text("payment_method")
	if pm == "" {
		pm = "pm_card_visa" // by default a customer has a working card
	}
	tx.put(cus)
	tx.emit("customer.created", cus, nil)
	cus.Own.Card = text(tx.attach(pm, cus.ID).ID)
	if chosen := c.of("invoice_settings").text("default_payment_method"); chosen != "" {
		cus.Own.Card = text(tx.attach(chosen, cus.ID).ID)
	}
	return cus, nil
}

func (c *customer) take(tx *tx, p *params) {
	for name, at := range map[string]*text{
		"email": &c.Email, "name": &c.Name, "phone": &c.Phone,
		"description": &c.About,
	} {
		if v, ok := p.opt(name); ok {
			*at = text(v)
		}
	}
	if p.has("address") {
		a := p.of("address")
		c.Address = map[string]text{}
		for _, name := range []string{"city", "country", "line1", "line2", "postal_code", "state"} {
			c.Address[name] = text(a.text(name))
		}
	}
	if v, ok := p.number("balance"); ok && v != c.Balance {
		tx.balance(c, v-c.Balance, "adjustment", "")
	}
	c.Metadata = p.metadata(c.Metadata)
	p.word("tax_exempt", "none")
}

func updateCustomer(tx *tx, c *call) (any, *problem) {
	cus := get[customer](tx, "customer", c.id1())
	before := tx.show(cus, nil)
	cus.take(tx, c.params)
	if pm, ok := c.of("invoice_settings").opt("default_payment_method"); ok {
		if cus.Own.Card = ""; pm != "" {
			m := get[card](tx, "invoice_settings[default_payment_method]", pm)
			if m.Customer != text(cus.ID) {
				refuse(invalid("invoice_settings[default_payment_method]", "resource_missing",
					"The customer does not have a payment method with the ID %s. The payment method must be "+
						"attached to the customer.", pm))
			}
			cus.Own.Card = text(m.ID)
		}
	}
	tx.put(cus)
	tx.emit("customer.updated", cus, before)
	return cus, nil
}

// deleteCustomer cancels the subscriptions of a customer and returns the stub that replaces it.
func deleteCustomer(tx *tx, c *call) (any, *problem) {
	cus := get[customer](tx, "customer", c.id1())
	for _, sub := range all[subscription](tx, Query{All: []string{mark("customer", cus.ID)}}) {
		if !sub.over() {
			tx.cancel(sub, "cancellation_requested", false)
		}
	}
	for _, inv := range all[invoice](tx, Query{All: []string{mark("customer", cus.ID)}}) {
		switch inv.Status {
		case "open":
			tx.void(inv)
		case "draft":
			inv.Auto = false
			tx.put(inv)
		}
	}
	tx.emit("customer.deleted", cus, nil)
	tx.drop(cus)
	stub := &former{head: head{ID: cus.ID}}
	tx.put(stub)
	return stub.shown(), nil
}

// former is the stub of a deleted customer.
type former struct{ head }

func (*former) kind() kind { return "sandbox.former_customer" }

func (f *former) shown() shown {
	return shown{"id": f.ID, "object": string(kindCustomer), "deleted": true}
}

func getCustomer(tx *tx, c *call) (any, *problem) {
	if f := find[former](tx, c.id1()); f != nil {
		return f.shown(), nil
	}
	return get[customer](tx, "id", c.id1()), nil
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

func (*balanceEntry) kind() kind        { return kindBalance }
func (b *balanceEntry) marks() []string { return []string{mark("customer", b.Customer)} }

// balance changes a customer's balance and records the reason.
func (tx *tx) balance(cus *customer, by int64, why, invoice string) *balanceEntry {
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
	cus := get[customer](tx, "customer", c.id1())
	amount, ok := c.number("amount")
	if !ok || amount == 0 {
		refuse(invalid("amount", "parameter_missing", "Missing required param: amount."))
	}
	currency := c.need("currency")
	if cus.Currency == "" {
		cus.Currency = text(currency)
	}
	if text(currency) != cus.Currency {
		refuse(invalid("currency", "", "The customer's currency is %s.", cus.Currency))
	}
	before := tx.show(cus, nil)
	b := tx.balance(cus, amount, "adjustment", "")
	b.About = text(c.text("description"))
	b.Metadata = c.metadata(nil)
	tx.emit("customer.updated", cus, before)
	return b, nil
}

// searchCustomers supports the two clauses that are in use, joined by AND: email:'..' and metadata['..']:'..'.
func searchCustomers(tx *tx, c *call) (any, *problem) {
	return tx.search(c, kindCustomer, func(q Query) []shown {
		var data []shown
		for _, cus := range all[customer](tx, q) {
			data = append(data, tx.show(cus, nil))
		}
		return data
	})
}

var _ json.Marshaler = text("")
