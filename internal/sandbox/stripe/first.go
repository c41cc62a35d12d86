package stripe

// first previews the first invoice of a subscription that does not exist yet.
func first(tx *tx, c *call) (any, *problem) {
	cus := get[customer](tx, "customer", c.need("customer"))
	s := &subscription{
		Customer: cus.ID, Status: "active", Collection: "charge_automatically", StartDate: tx.now,
		Start: tx.now, Anchor: tx.now,
	}
	s.Own.Items = tx.wanted(s, c.list("subscription_items"))
	prices := tx.prices(s.Own.Items)
	sameCycle(prices)
	if s.Currency = prices[0].Currency; cus.Currency != "" && cus.Currency != text(s.Currency) {
		refuse(invalid("currency", "",
			"You cannot combine currencies on a single customer. This customer has had a subscription, coupon, or "+
				"invoice item with currency %s.", cus.Currency))
	}
	s.End = tx.cycleOf(s.Own.Items).end(s.Anchor, s.Start)
	inv := tx.preview(s,
		change{
			Items: s.Own.Items, bill: true, Start: s.Start, End: s.End,
			full: tx.recurring("", s.Own.Items, s.Start, s.End),
		}, false)
	if inv == nil {
		refuse(none(cus.ID))
	}
	inv.Prorated = 0
	return tx.showPreview(inv, expanding(c.texts("expand"))), nil
}
