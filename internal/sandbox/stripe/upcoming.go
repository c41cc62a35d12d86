package stripe

import "slices"

// previewUpcoming previews the invoice of a change or, without a change, of the next renewal. It uses the same change,
// the same lines and the same settlement as the charge.
func previewUpcoming(tx *tx, c *call) (any, *problem) {
	expand := parseExpand(c.texts("expand"))
	id := c.text("subscription")
	cus := c.text("customer")
	if id == "" && c.has("subscription_items") {
		return previewFirst(tx, c)
	}

	if id == "" {
		live := findAll[subscription](tx,
			Query{
				All:   []string{indexKey("customer", c.requiredText("customer")), "live=true"},
				Limit: 2,
			})
		if len(live) == 0 {
			refuse(noUpcoming(cus))
		}
		id = live[0].ID
	}

	s := mustFind[subscription](tx, "subscription", id)
	if cus != "" && s.Customer != cus {
		refuse(noSuchObject(kindCustomer, "customer", cus))
	}

	wish := tx.readChangeRequest(c.params, c.list("subscription_items"), "subscription_")
	now := c.isTrue("subscription_cancel_now")
	atEnd := c.isTrue("subscription_cancel_at_period_end")
	if s.hasEnded() {
		refuse(noUpcoming(s.Customer))
	}

	if wish.date == 0 {
		wish.date = min(max(tx.now, s.Start), s.End)
	}

	asked := c.has("subscription_items") || wish.anchorNow || wish.trial != 0 || wish.trialNow
	ch := change{}
	if asked {
		ch = tx.computeChange(s, wish)
	}

	var inv *invoice
	if now {
		inv = tx.previewInvoice(s,
			change{
				Items: s.Own.Items, bill: true, Start: s.Start, End: s.End,
				prorated: tx.creditLines(s, s.Own.Items, wish.date),
			}, true)
	} else {
		inv = tx.previewInvoice(s, ch, atEnd)
	}

	if inv == nil {
		refuse(noUpcoming(s.Customer))
	}

	inv.Prorated = 0
	if asked {
		inv.Prorated = moment(wish.date)
	}

	return tx.showPreview(inv, expand), nil
}

func noUpcoming(cus string) *problem {
	return &problem{
		Status: 404, Type: "invalid_request_error", Code: "invoice_upcoming_none",
		Message: "No upcoming invoices for customer: " + cus,
	}
}

// previewInvoice returns the invoice that would be created, nil for none. It stores nothing.
func (tx *tx) previewInvoice(s *subscription, ch change, ends bool) *invoice {
	cus := mustFind[customer](tx, "", s.Customer)
	inv := &invoice{
		head: head{ID: newID("in"), Metadata: map[string]string{}}, Reason: "upcoming", Collection: s.Collection,
		Currency: s.Currency, Customer: cus.ID,
		Email: cus.Email, Name: cus.Name, Start: s.Start, End: s.End, Status: "draft", Sub: text(s.ID),
		NextTry: moment(s.End + draftAge),
	}
	inv.Created = s.End
	waiting := tx.pendingLines(s)
	switch {
	case ch.bill:
		inv.Created = tx.now
		inv.NextTry = moment(tx.now)
		inv.Start = ch.Start
		inv.End = ch.End
		inv.Own.Lines = slices.Concat(waiting, ch.prorated, ch.full)
	default:
		items := s.Own.Items
		anchor := s.Anchor
		end := s.End
		if ch.Items != nil {
			items = ch.Items
			anchor = ch.Anchor
			end = ch.End
			inv.Start = ch.Start
			inv.End = ch.End
			inv.Created = ch.End
			inv.NextTry = moment(ch.End + draftAge)
		} else if s.Schedule != "" {
			sched := mustFind[schedule](tx, "", string(s.Schedule))
			if p := sched.phaseAt(end); p != nil && s.Own.Phase <= end {
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
			inv.Own.Lines = append(inv.Own.Lines,
				tx.periodLines(s.ID, items, end, tx.cycleOf(items).endAfter(anchor, end))...)
		}
	}

	if len(inv.Own.Lines) == 0 {
		return nil
	}

	inv.updateTotals()
	st := splitTotal(inv.Total, cus.Balance, inv.Currency)
	inv.Before = st.before
	inv.After = &st.after
	inv.Due = st.due
	inv.Remaining = st.due

	return inv
}

// showPreview renders an invoice that has no id and is not stored.
func (tx *tx) showPreview(inv *invoice, expand expansion) shown {
	w := tx.renderObject(inv, expand)
	w["lines"].(shown)["url"] = "/v1/invoices/upcoming/lines?customer=" + inv.Customer + "&subscription=" +
		string(inv.Sub)
	delete(w, "id")
	return w
}
