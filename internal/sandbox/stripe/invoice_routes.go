package stripe

func getUpcomingOrInvoice(tx *tx, c *call) (any, *problem) {
	if c.id1() == "upcoming" {
		return upcoming(tx, c)
	}
	return get[invoice](tx, "id", c.id1()), nil
}

func invoiceLines(tx *tx, c *call) (any, *problem) {
	if c.id1() == "upcoming" {
		inv, refused := upcoming(tx, c)
		if refused != nil {
			return nil, refused
		}
		return paged(c, "/v1/invoices/upcoming/lines", inv.(shown)["lines"].(shown)["data"].([]shown)), nil
	}
	inv := get[invoice](tx, "id", c.id1())
	return paged(c, "/v1/invoices/"+inv.ID+"/lines",
		tx.lines(inv.ID, inv.Own.Lines, expanding(c.texts("expand"))["data"])), nil
}

// paged returns the requested page of a complete list of lines.
func paged(c *call, path string, lines []shown) shown {
	limit := int64(10)
	if n, ok := c.number("limit"); ok {
		limit = min(max(n, 1), 100)
	}
	if after := c.text("starting_after"); after != "" {
		for i, l := range lines {
			if l["id"] == after {
				lines = lines[i+1:]
				break
			}
		}
	}
	more := int64(len(lines)) > limit
	if more {
		lines = lines[:limit]
	}
	return page(path, more, lines)
}

// createInvoice bills the pending items of a customer, or creates an empty invoice.
func createInvoice(tx *tx, c *call) (any, *problem) {
	cus := get[customer](tx, "customer", c.need("customer"))
	s := &subscription{Customer: cus.ID, Collection: "charge_automatically", Currency: string(cus.Currency)}
	inv := &invoice{
		head: head{ID: newID("in"), Metadata: c.metadata(nil)}, Reason: "manual", Collection: "charge_automatically",
		Currency: string(cus.Currency), Customer: cus.ID,
		Email: cus.Email, Name: cus.Name, Start: tx.now, End: tx.now, Status: "draft",
		About: text(c.text("description")), Auto: c.yes("auto_advance"),
	}
	if v := c.text("currency"); v != "" {
		inv.Currency = v
	}
	if id := c.text("subscription"); id != "" {
		s = get[subscription](tx, "subscription", id)
		inv.Sub, inv.Collection, inv.Currency = text(s.ID), s.Collection, s.Currency
	}
	if v := c.word("collection_method", "charge_automatically", "send_invoice"); v != "" {
		inv.Collection = v
	}
	if n, ok := c.number("days_until_due"); ok {
		inv.DueDate = moment(tx.now + n*86400)
	}
	if v := c.word("pending_invoice_items_behavior", "exclude", "include", "include_and_require"); v == "include" ||
		v == "include_and_require" || inv.Sub != "" {
		for _, i := range tx.waiting(s) {
			i.Invoice = text(inv.ID)
			inv.Own.Lines = append(inv.Own.Lines, i.line())
			tx.put(i)
		}
		if len(inv.Own.Lines) == 0 && (v == "include_and_require" || inv.Sub != "") {
			refuse(invalid("", "invoice_no_customer_line_items", "Nothing to invoice for customer"))
		}
	}
	if inv.Currency == "" {
		inv.Currency = "usd"
	}
	inv.total()
	tx.put(inv)
	tx.emit("invoice.created", inv, nil)
	return inv, nil
}

func finalizeInvoice(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	if inv.Status != "draft" {
		refuse(invalid("", "invoice_not_editable",
			"This invoice is already finalized, you can't re-finalize a non-draft invoice."))
	}
	if c.has("auto_advance") {
		inv.Auto = c.yes("auto_advance")
	}
	tx.finalise(inv)
	return inv, nil
}

func voidInvoice(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	if inv.Status != "open" && inv.Status != "uncollectible" {
		refuse(invalid("", "", "You can only pass in open or uncollectible invoices. This invoice is %s.", inv.Status))
	}
	if s := find[subscription](tx, string(inv.Sub)); s != nil && s.Own.Pending != nil &&
		s.Own.Pending.Invoice == inv.ID {
		before := tx.show(s, nil)
		tx.dropPending(s) // the pending change ends with its invoice
		tx.changed(s, before)
		return inv, nil
	}
	tx.void(inv)
	return inv, nil
}

func markUncollectible(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	if inv.Status != "open" {
		refuse(invalid("", "", "You can only mark open invoices as uncollectible. This invoice is %s.", inv.Status))
	}
	before := tx.show(inv, nil)
	inv.Status, inv.Auto, inv.NextTry, inv.Transitions.Uncollectible = "uncollectible", false, 0, moment(tx.now)
	tx.put(inv)
	tx.emit("invoice.updated", inv, before)
	tx.emit("invoice.marked_uncollectible", inv, nil)
	return inv, nil
}

func updateInvoice(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	before := tx.show(inv, nil)
	inv.Metadata = c.metadata(inv.Metadata)
	if v, ok := c.opt("description"); ok {
		inv.About = text(v)
	}
	if c.has("auto_advance") {
		inv.Auto = c.yes("auto_advance")
	}
	if v, ok := c.opt("default_payment_method"); ok {
		inv.Card = text(get[card](tx, "default_payment_method", v).ID)
	}
	tx.put(inv)
	tx.emit("invoice.updated", inv, before)
	return inv, nil
}

func deleteInvoice(tx *tx, c *call) (any, *problem) {
	inv := get[invoice](tx, "id", c.id1())
	if inv.Status != "draft" || inv.Sub != "" {
		refuse(invalid("", "", "You can only delete draft invoices that belong to no subscription."))
	}
	for _, i := range all[invoiceItem](tx, Query{All: []string{mark("invoice", inv.ID)}}) {
		i.Invoice = ""
		tx.put(i)
	}
	tx.emit("invoice.deleted", inv, nil)
	tx.drop(inv)
	return shown{"id": inv.ID, "object": string(kindInvoice), "deleted": true}, nil
}
