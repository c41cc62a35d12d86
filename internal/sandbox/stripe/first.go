package stripe

// previewFirst previews the first invoice of a subscription that does not exist yet.
func previewFirst(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.requiredText("customer"))
	s := &subscription{
		Customer: cus.ID, Status: "active", Collection: "charge_automatically", StartDate: tx.now,
		Start: tx.now, Anchor: tx.now,
	}
	s.Own.Items = tx.itemsAfter(s, c.list("subscription_items"))
	prices := tx.readPrices(s.Own.Items)
	sameCycle(prices)
	s.Currency = prices[0].Currency
	if cus.Currency != "" && cus.Currency != text(s.Currency) {
		refuse(invalidRequest("currency", "",
			"You cannot combine currencies on a single customer. This customer has had a subscription, coupon, or "+
				"invoice item with currency %s.", cus.Currency))
	}

	s.End = tx.cycleOf(s.Own.Items).endAfter(s.Anchor, s.Start)
	inv := tx.previewInvoice(s,
		change{
			Items: s.Own.Items, bill: true, Start: s.Start, End: s.End,
			full: tx.periodLines("", s.Own.Items, s.Start, s.End),
		}, false)
	if inv == nil {
		refuse(noUpcoming(cus.ID))
	}

	inv.Prorated = 0

	return tx.showPreview(inv, parseExpand(c.texts("expand"))), nil
}
