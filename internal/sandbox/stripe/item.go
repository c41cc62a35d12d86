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

func (*invoiceItem) kind() kind { return kindItem }

func (i *invoiceItem) marks() []string {
	all := []string{
		mark("customer", i.Customer), mark("subscription", i.Sub), mark("invoice", i.Invoice),
		mark("pending", i.Invoice == ""),
	}
	return all
}

func (i *invoiceItem) wire(tx *tx, w shown, expand expansion) {
	delete(w, "created") // the API calls it date
	w["price"], w["plan"] = nil, nil
	if i.Own.Price != "" {
		p := get[price](tx, "", i.Own.Price)
		w["price"] = tx.show(p, expand["price"])
		if p.Recurring != nil {
			w["plan"] = p.plan()
		}
	}
	w["unit_amount_decimal"] = decimal(i.Unit * 100)
}

func (i *invoiceItem) line() line {
	return line{
		ID: newID("il"), Amount: i.Amount, Currency: i.Currency, About: string(i.About), Period: i.Period,
		Price: text(i.Own.Price), Metadata: i.Metadata,
		Proration: i.Proration, Quantity: i.Quantity, Sub: i.Sub, SubItem: i.SubItem, Item: text(i.ID),
		Type: "invoiceitem",
	}
}

// record creates the invoice items of lines. They are pending until an invoice claims them.
func (tx *tx) record(s *subscription, lines []line) {
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
		tx.emit("invoiceitem.created", i, nil)
	}
}

// waiting returns the pending items for the next invoice of a subscription, the oldest first: its own, and those of the
// customer without a subscription.
func (tx *tx) waiting(s *subscription) []*invoiceItem {
	found := all[invoiceItem](tx, Query{All: []string{mark("customer", s.Customer), mark("pending", true)}})
	found = slices.DeleteFunc(found, func(i *invoiceItem) bool { return i.Sub != "" && i.Sub != text(s.ID) })
	slices.Reverse(found)
	return found
}

// sweep returns the lines of the pending items. The invoice with these lines claims them.
func (tx *tx) sweep(s *subscription) []line {
	var lines []line
	for _, i := range tx.waiting(s) {
		lines = append(lines, i.line())
	}
	return lines
}

func createItem(tx *tx, c *call) (any, *problem) {
	cus := get[customer](tx, "customer", c.need("customer"))
	i := &invoiceItem{
		head: head{ID: newID("ii"), Metadata: c.metadata(nil)}, Customer: cus.ID, Date: tx.now,
		About: text(c.text("description")), Quantity: 1,
	}
	if id := c.text("subscription"); id != "" {
		i.Sub = text(get[subscription](tx, "subscription", id).ID)
	}
	if n, ok := c.number("quantity"); ok {
		i.Quantity = n
	}
	if id := c.text("price"); id != "" {
		p := get[price](tx, "price", id)
		i.Own.Price, i.Currency, i.Unit, i.Amount = p.ID, p.Currency, p.Unit, p.Unit*i.Quantity
	} else {
		amount, ok := c.number("amount")
		if !ok {
			refuse(invalid("amount", "parameter_missing", "Missing required param: amount."))
		}
		i.Currency, i.Amount, i.Unit = c.need("currency"), amount, amount
	}
	i.Period = span{Start: tx.now, End: tx.now}
	if id := c.text("invoice"); id != "" {
		inv := get[invoice](tx, "invoice", id)
		if inv.Status != "draft" {
			refuse(invalid("invoice", "invoice_not_editable", "This invoice is no longer editable."))
		}
		i.Invoice = text(inv.ID)
		inv.Own.Lines = append(inv.Own.Lines, i.line())
		inv.total()
		tx.put(inv)
	}
	if cus.Currency == "" {
		cus.Currency = text(i.Currency)
		tx.put(cus)
	}
	tx.put(i)
	tx.emit("invoiceitem.created", i, nil)
	return i, nil
}

func deleteItem(tx *tx, c *call) (any, *problem) {
	i := get[invoiceItem](tx, "id", c.id1())
	if i.Invoice != "" {
		refuse(invalid("", "invoice_not_editable", "The invoice item is on an invoice already."))
	}
	tx.drop(i)
	tx.emit("invoiceitem.deleted", i, nil)
	return shown{"id": i.ID, "object": string(kindItem), "deleted": true}, nil
}
