package stripe

import "slices"

// upcoming previews the invoice of a change or, without a change, of the next renewal. It uses the same change, the
// same lines and the same settlement as the charge.
func upcoming(tx *tx, c *call) (any, *problem) {
	expand := expanding(c.texts("expand"))
	id := c.text("subscription")
	cus := c.text("customer")
	if id == "" && c.has("subscription_items") {
		return first(tx, c)
	}
	if id == "" {
		live := all[subscription](tx, Query{All: []string{mark("customer", c.need("customer")), "live=true"}, Limit: 2})
		if len(live) == 0 {
			refuse(none(cus))
		}
		id = live[0].ID
	}
	s := get[subscription](tx, "subscription", id)
	if cus != "" && s.Customer != cus {
		refuse(missing(kindCustomer, "customer", cus))
	}
	wish := tx.wished(c.params, c.list("subscription_items"), "subscription_")
	now, atEnd := c.yes("subscription_cancel_now"), c.yes("subscription_cancel_at_period_end")
	if s.over() {
		refuse(none(s.Customer))
	}
	if wish.date == 0 {
		wish.date = min(max(tx.now, s.Start), s.End)
	}
	asked := c.has("subscription_items") || wish.anchorNow || wish.trial != 0 || wish.trialNow
	ch := change{}
	if asked {
		ch = tx.plan(s, wish)
	}
	var inv *invoice
	if now {
		inv = tx.preview(s,
			change{
				Items: s.Own.Items, bill: true, Start: s.Start, End: s.End,
				prorated: tx.credits(s, s.Own.Items, wish.date),
			}, true)
	} else {
		inv = tx.preview(s, ch, atEnd)
	}
	if inv == nil {
		refuse(none(s.Customer))
	}
	inv.Prorated = 0
	if asked {
		inv.Prorated = moment(wish.date)
	}
	return tx.showPreview(inv, expand), nil
}

func none(cus string) *problem {
	return &problem{
		Status: 404, Type: "invalid_request_error", Code: "invoice_upcoming_none",
		Message: "No upcoming invoices for customer: " + cus,
	}
}

// preview returns the invoice that would be created, nil for none. It stores nothing.
func (tx *tx) preview(s *subscription, ch change, ends bool) *invoice {
	cus := get[customer](tx, "", s.Customer)
	inv := &invoice{
		head: head{ID: newID("in"), Metadata: map[string]string{}}, Reason: "upcoming", Collection: s.Collection,
		Currency: s.Currency, Customer: cus.ID,
		Email: cus.Email, Name: cus.Name, Start: s.Start, End: s.End, Status: "draft", Sub: text(s.ID),
		NextTry: moment(s.End + draftAge),
	}
	inv.Created = s.End
	waiting := tx.sweep(s)
	switch {
	case ch.bill:
		inv.Created, inv.NextTry, inv.Start, inv.End = tx.now, moment(tx.now), ch.Start, ch.End
		inv.Own.Lines = slices.Concat(waiting, ch.prorated, ch.full)
	default:
		items, anchor, end := s.Own.Items, s.Anchor, s.End
		if ch.Items != nil {
			items, anchor, end = ch.Items, ch.Anchor, ch.End
			inv.Start, inv.End, inv.Created, inv.NextTry = ch.Start, ch.End, ch.End, moment(ch.End+draftAge)
		} else if s.Schedule != "" {
			sched := get[schedule](tx, "", string(s.Schedule))
			if p := sched.current(end); p != nil && s.Own.Phase <= end {
				items = nil
				for _, it := range p.Kept {
					items = append(items, item{ID: newID("si"), Price: it.Price, Quantity: it.Quantity})
				}
				if tx.cycleOf(items) != tx.cycleOf(s.Own.Items) {
					anchor = end
				}
			}
		}
		inv.Own.Lines = slices.Concat(waiting, ch.prorated)
		if !ends && !s.AtEnd && (s.CancelAt == 0 || int64(s.CancelAt) > end) {
			inv.Own.Lines = append(inv.Own.Lines, tx.recurring(s.ID, items, end, tx.cycleOf(items).end(anchor, end))...)
		}
	}
	if len(inv.Own.Lines) == 0 {
		return nil
	}
	inv.total()
	st := settle(inv.Total, cus.Balance, inv.Currency)
	inv.Before, inv.After, inv.Due, inv.Remaining = st.before, &st.after, st.due, st.due
	return inv
}

// showPreview renders an invoice that has no id and is not stored.
func (tx *tx) showPreview(inv *invoice, expand expansion) shown {
	w := tx.show(inv, expand)
	w["lines"].(shown)["url"] = "/v1/invoices/upcoming/lines?customer=" + inv.Customer + "&subscription=" +
		string(inv.Sub)
	delete(w, "id")
	return w
}
