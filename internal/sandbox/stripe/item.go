package stripe

import "slices"

const kindItem kind = "invoiceitem"

// invoiceItem is a line that is pending for the next invoice, or already on one.
type invoiceItem struct {
	head
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Customer  string `json:"customer"`
	Date      int64  `json:"date"`
	About     text   `json:"description"`
	Invoice   text   `json:"invoice"`
	Period    span   `json:"period"`
	Proration bool   `json:"proration"`
	Quantity  int64  `json:"quantity"`
	Sub       text   `json:"subscription"`
	SubItem   text   `json:"subscription_item,omitempty"`
	Unit      int64  `json:"unit_amount"`
	Own       struct {
		Price string `json:"price,omitempty"`
	} `json:"_"`
}

func (*invoiceItem) objectKind() kind { return kindItem }

func (i *invoiceItem) indexKeys() []string {
	all := []string{
		indexKey("customer", i.Customer), indexKey("subscription", i.Sub), indexKey("invoice",
			i.Invoice),
		indexKey("pending", i.Invoice == ""),
	}
	return all
}

func (i *invoiceItem) addDerived(tx *tx, w shown, expand expansion) {
	delete(w, "created") // the API calls it date
	w["price"] = nil
	w["plan"] = nil
	if i.Own.Price != "" {
		p := mustFind[price](tx, "", i.Own.Price)
		w["price"] = tx.renderObject(p, expand["price"])
		if p.Recurring != nil {
			w["plan"] = p.asPlan()
		}
	}

	w["unit_amount_decimal"] = formatDecimal(i.Unit * 100)
}

func (i *invoiceItem) asLine() line {
	return line{
		ID: newID("il"), Amount: i.Amount, Currency: i.Currency, About: string(i.About), Period: i.Period,
		Price: text(i.Own.Price), Metadata: i.Metadata,
		Proration: i.Proration, Quantity: i.Quantity, Sub: i.Sub, SubItem: i.SubItem, Item: text(i.ID),
		Type: "invoiceitem",
	}
}

// createInvoiceItems creates the invoice items of lines. They are pending until an invoice claims them.
func (tx *tx) createInvoiceItems(s *subscription, lines []line) {
	for _, l := range lines {
		i := &invoiceItem{
			head: head{ID: string(l.Item)}, Amount: l.Amount, Currency: l.Currency, Customer: s.Customer,
			Date: tx.now, About: text(l.About),
			Period: l.Period, Proration: l.Proration, Quantity: l.Quantity, Sub: l.Sub, SubItem: l.SubItem,
			Unit: l.Amount,
		}
		if l.Quantity > 0 {
			i.Unit = l.Amount / l.Quantity
		}

		i.Own.Price = string(l.Price)
		tx.put(i)
		tx.emitEvent("invoiceitem.created", i, nil)
	}
}

// pendingItems returns the pending items for the next invoice of a subscription, the oldest first: its own, and those
// of the customer without a subscription.
func (tx *tx) pendingItems(s *subscription) []*invoiceItem {
	found := findAll[invoiceItem](tx, Query{All: []string{
		indexKey("customer", s.Customer),
		indexKey("pending", true),
	}})
	found = slices.DeleteFunc(found, func(i *invoiceItem) bool { return i.Sub != "" && i.Sub != text(s.ID) })
	slices.Reverse(found)
	return found
}

// pendingLines returns the lines of the pending items. The invoice with these lines claims them.
func (tx *tx) pendingLines(s *subscription) []line {
	var lines []line
	for _, i := range tx.pendingItems(s) {
		lines = append(lines, i.asLine())
	}
	return lines
}

func createItem(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.requiredText("customer"))
	i := &invoiceItem{
		head: head{ID: newID("ii"), Metadata: c.metadata(nil)}, Customer: cus.ID, Date: tx.now,
		About: text(c.text("description")), Quantity: 1,
	}
	if id := c.text("subscription"); id != "" {
		i.Sub = text(mustFind[subscription](tx, "subscription", id).ID)
	}
	if n, ok := c.number("quantity"); ok {
		i.Quantity = n
	}

	if id := c.text("price"); id != "" {
		p := mustFind[price](tx, "price", id)
		i.Own.Price = p.ID
		i.Currency = p.Currency
		i.Unit = p.Unit
		i.Amount = p.Unit * i.Quantity
	} else {
		amount, ok := c.number("amount")
		if !ok {
			refuse(invalidRequest("amount", "parameter_missing", "Missing required param: amount."))
		}
		i.Currency = c.requiredText("currency")
		i.Amount = amount
		i.Unit = amount
	}

	i.Period = span{Start: tx.now, End: tx.now}
	if id := c.text("invoice"); id != "" {
		inv := mustFind[invoice](tx, "invoice", id)
		if inv.Status != "draft" {
			refuse(invalidRequest("invoice", "invoice_not_editable",
				"This invoice is no longer editable."))
		}

		i.Invoice = text(inv.ID)
		inv.Own.Lines = append(inv.Own.Lines, i.asLine())
		inv.updateTotals()
		tx.put(inv)
	}

	if cus.Currency == "" {
		cus.Currency = text(i.Currency)
		tx.put(cus)
	}

	tx.put(i)
	tx.emitEvent("invoiceitem.created", i, nil)

	return i, nil
}

func deleteItem(tx *tx, c *call) (any, *problem) {
	i := mustFind[invoiceItem](tx, "id", c.pathID())
	if i.Invoice != "" {
		refuse(invalidRequest("", "invoice_not_editable",
			"The invoice item is on an invoice already."))
	}

	tx.drop(i)
	tx.emitEvent("invoiceitem.deleted", i, nil)

	return shown{"id": i.ID, "object": string(kindItem), "deleted": true}, nil
}
