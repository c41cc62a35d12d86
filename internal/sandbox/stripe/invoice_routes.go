package stripe

func getUpcomingOrInvoice(tx *tx, c *call) (any, *problem) {
	if c.pathID() == "upcoming" {
		return previewUpcoming(tx, c)
	}
	return mustFind[invoice](tx, "id", c.pathID()), nil
}

func invoiceLines(tx *tx, c *call) (any, *problem) {
	if c.pathID() == "upcoming" {
		inv, refused := previewUpcoming(tx, c)
		if refused != nil {
			return nil, refused
		}
		return pageOfLines(c, "/v1/invoices/upcoming/lines",
			inv.(shown)["lines"].(shown)["data"].([]shown)), nil
	}

	inv := mustFind[invoice](tx, "id", c.pathID())
	return pageOfLines(c, "/v1/invoices/"+inv.ID+"/lines",
		tx.renderLines(inv.ID, inv.Own.Lines, parseExpand(c.texts("expand"))["data"])), nil
}

// pageOfLines returns the requested page of a complete list of lines.
func pageOfLines(c *call, path string, lines []shown) shown {
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

	return listResponse(path, more, lines)
}

// createInvoice bills the pending items of a customer, or creates an empty invoice.
func createInvoice(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.requiredText("customer"))
	s := &subscription{Customer: cus.ID, Collection: "charge_automatically", Currency: string(cus.Currency)}
	inv := &invoice{
		head: head{ID: newID("in"), Metadata: c.metadata(nil)}, Reason: "manual", Collection: "charge_automatically",
		Currency: string(cus.Currency), Customer: cus.ID,
		Email: cus.Email, Name: cus.Name, Start: tx.now, End: tx.now, Status: "draft",
		About: text(c.text("description")), Auto: c.isTrue("auto_advance"),
	}
	if v := c.text("currency"); v != "" {
		inv.Currency = v
	}

	if id := c.text("subscription"); id != "" {
		s = mustFind[subscription](tx, "subscription", id)
		inv.Sub = text(s.ID)
		inv.Collection = s.Collection
		inv.Currency = s.Currency
	}

	if v := c.enumValue("collection_method", "charge_automatically", "send_invoice"); v != "" {
		inv.Collection = v
	}
	if n, ok := c.number("days_until_due"); ok {
		inv.DueDate = moment(tx.now + n*86400)
	}

	if v := c.enumValue("pending_invoice_items_behavior", "exclude", "include",
		"include_and_require"); v == "include" ||
		v == "include_and_require" || inv.Sub != "" {
		for _, i := range tx.pendingItems(s) {
			i.Invoice = text(inv.ID)
			inv.Own.Lines = append(inv.Own.Lines, i.asLine())
			tx.put(i)
		}

		if len(inv.Own.Lines) == 0 && (v == "include_and_require" || inv.Sub != "") {
			refuse(invalidRequest("", "invoice_no_customer_line_items",
				"Nothing to invoice for customer"))
		}
	}

	if inv.Currency == "" {
		inv.Currency = "usd"
	}

	inv.updateTotals()
	tx.put(inv)
	tx.emitEvent("invoice.created", inv, nil)

	return inv, nil
}

func finalizeInvoice(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	if inv.Status != "draft" {
		refuse(invalidRequest("", "invoice_not_editable",
			"This invoice is already finalized, you can't re-finalize a non-draft invoice."))
	}

	if c.has("auto_advance") {
		inv.Auto = c.isTrue("auto_advance")
	}

	tx.finaliseInvoice(inv)

	return inv, nil
}

func voidInvoice(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	if inv.Status != "open" && inv.Status != "uncollectible" {
		refuse(invalidRequest("", "",
			"You can only pass in open or uncollectible invoices. This invoice is %s.", inv.Status))
	}

	if s := find[subscription](tx, string(inv.Sub)); s != nil && s.Own.Pending != nil &&
		s.Own.Pending.Invoice == inv.ID {
		before := tx.renderObject(s, nil)
		tx.dropPending(s) // the pending change ends with its invoice
		tx.storeChanged(s, before)
		return inv, nil
	}

	tx.voidOpenInvoice(inv)

	return inv, nil
}

func markUncollectible(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	if inv.Status != "open" {
		refuse(invalidRequest("", "",
			"You can only mark open invoices as uncollectible. This invoice is %s.", inv.Status))
	}

	before := tx.renderObject(inv, nil)
	inv.Status = "uncollectible"
	inv.Auto = false
	inv.NextTry = 0
	inv.Transitions.Uncollectible = moment(tx.now)
	tx.put(inv)
	tx.emitEvent("invoice.updated", inv, before)
	tx.emitEvent("invoice.marked_uncollectible", inv, nil)

	return inv, nil
}

func updateInvoice(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	before := tx.renderObject(inv, nil)
	inv.Metadata = c.metadata(inv.Metadata)
	if v, ok := c.optionalText("description"); ok {
		inv.About = text(v)
	}
	if c.has("auto_advance") {
		inv.Auto = c.isTrue("auto_advance")
	}
	if v, ok := c.optionalText("default_payment_method"); ok {
		inv.Card = text(mustFind[card](tx, "default_payment_method", v).ID)
	}

	tx.put(inv)
	tx.emitEvent("invoice.updated", inv, before)

	return inv, nil
}

func deleteInvoice(tx *tx, c *call) (any, *problem) {
	inv := mustFind[invoice](tx, "id", c.pathID())
	if inv.Status != "draft" || inv.Sub != "" {
		refuse(invalidRequest("", "",
			"You can only delete draft invoices that belong to no subscription."))
	}

	for _, i := range findAll[invoiceItem](tx, Query{All: []string{indexKey("invoice", inv.ID)}}) {
		i.Invoice = ""
		tx.put(i)
	}

	tx.emitEvent("invoice.deleted", inv, nil)
	tx.drop(inv)

	return shown{"id": inv.ID, "object": string(kindInvoice), "deleted": true}, nil
}
