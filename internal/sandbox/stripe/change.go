package stripe

import (
	"fmt"
	"slices"
	"time"
)

// wish is a requested change of a subscription, from an update or a preview.
type changeRequest struct {
	items     []*params
	behaviour string // none, create_prorations or always_invoice
	date      int64  // of the proration; 0 means now
	anchorNow bool
	trial     int64 // new end of the trial; 0 for none
	trialNow  bool  // ends the trial
}

// change is the result of a wish: the new state of the subscription, and the lines to bill. Preview and charge use the
// same change, so they agree.
type change struct {
	Items     []item `json:"items"`
	Anchor    int64  `json:"anchor"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
	Trial     int64  `json:"trial"`
	AnchorSet int64  `json:"anchor_set,omitempty"` // as requested
	TrialSet  int64  `json:"trial_set,omitempty"`
	touched   bool   // items or cycle differ
	prorated  []line // credits and debits for the rest of the period
	full      []line // a new period that starts now
	bill      bool   // invoiced now
}

// line is a line of an invoice, or a pending invoice item.
type line struct {
	ID        string            `json:"id"`
	Amount    int64             `json:"amount"`
	Currency  string            `json:"currency"`
	About     string            `json:"description"`
	Metadata  map[string]string `json:"metadata"`
	Period    span              `json:"period"`
	Price     text              `json:"price"`
	Proration bool              `json:"proration"`
	Quantity  int64             `json:"quantity"`
	Sub       text              `json:"subscription"`
	SubItem   text              `json:"subscription_item,omitempty"`
	Item      text              `json:"invoice_item,omitempty"`
	Type      string            `json:"type"`
}

type span struct {
	End   int64 `json:"end"`
	Start int64 `json:"start"`
}

// readChangeRequest reads the parameters of a change that update and preview share; prefix is subscription_ in a
// preview.
func (tx *tx) readChangeRequest(p *params, items []*params, prefix string) changeRequest {
	w := changeRequest{
		items: items,
		behaviour: p.enumValue(prefix+"proration_behavior", "none", "create_prorations",
			"always_invoice"),
	}
	if w.behaviour == "" {
		w.behaviour = "create_prorations"
	}

	w.date, _ = p.number(prefix + "proration_date")
	switch v := p.text(prefix + "billing_cycle_anchor"); v {
	case "now":
		w.anchorNow = true
	case "", "unchanged":
	default:
		refuse(invalidRequest(prefix+"billing_cycle_anchor", "",
			"billing_cycle_anchor must be now or unchanged."))
	}

	if v := p.text(prefix + "trial_end"); v == "now" {
		w.trialNow = true
	} else if n, ok := p.number(prefix + "trial_end"); ok {
		w.trial = n
		if n <= tx.now {
			refuse(invalidRequest(prefix+"trial_end", "", "trial_end must be in the future."))
		}
	}

	return w
}

// computeChange computes a change without applying it.
func (tx *tx) computeChange(s *subscription, w changeRequest) change {
	date := w.date
	if date == 0 {
		date = tx.now
	}

	if w.date != 0 && (date < s.Start || date > s.End) {
		refuse(invalidRequest("subscription_proration_date", "",
			"The proration date must be within the current period: between %d and %d.", s.Start, s.End))
	}

	c := change{
		Items: tx.itemsAfter(s, w.items), Anchor: s.Anchor, Start: s.Start, End: s.End,
		Trial: int64(s.TrialEnd),
	}
	sameCycle(tx.readPrices(c.Items))
	trialing := s.Status == "trialing"
	c.touched = !slices.EqualFunc(c.Items, s.Own.Items, func(a, b item) bool {
		return a.ID == b.ID && a.Price == b.Price && a.Quantity == b.Quantity
	})
	recycled := tx.cycleOf(c.Items) != tx.cycleOf(s.Own.Items)
	freed := tx.periodAmount(s.Own.Items) == 0 && tx.periodAmount(c.Items) > 0
	switch {
	case w.trial != 0: // a trial starts or moves; the unused paid time is credited
		if !trialing && w.behaviour != "none" {
			c.prorated = tx.creditLines(s, s.Own.Items, date)
		}

		c.Trial = w.trial
		c.TrialSet = w.trial
		c.Anchor = w.trial
		c.Start = tx.now
		c.End = w.trial
		c.touched = true
	case trialing && !w.trialNow: // free until the end of the trial, whatever the items
	case w.anchorNow, recycled, freed, trialing && w.trialNow:
		if !trialing && w.behaviour != "none" {
			c.prorated = tx.creditLines(s, s.Own.Items, date)
		}

		c.Anchor = tx.now
		c.Start = tx.now
		c.touched = true
		c.bill = true
		if w.anchorNow {
			c.AnchorSet = tx.now
		}
		if trialing {
			c.Trial = tx.now
		}

		c.End = tx.cycleOf(c.Items).endAfter(c.Anchor, c.Start)
		c.full = tx.periodLines(s.ID, c.Items, c.Start, c.End)
	case w.behaviour != "none":
		c.prorated = tx.prorationLines(s, c.Items, date)
	}

	if w.behaviour == "always_invoice" && len(c.prorated) > 0 {
		c.bill = true
	}

	return c
}

// itemsAfter returns the items after a change.
func (tx *tx) itemsAfter(s *subscription, asked []*params) []item {
	items := slices.Clone(s.Own.Items)
	for _, a := range asked {
		id := a.text("id")
		i := slices.IndexFunc(items, func(it item) bool { return it.ID == id })
		if id != "" && i < 0 {
			refuse(noSuchObject("subscription_item", "items", id))
		}

		if a.isTrue("deleted") {
			if i < 0 {
				refuse(invalidRequest("items", "", "An item without an id cannot be deleted."))
			}
			items = slices.Delete(items, i, i+1)
			continue
		}

		if i < 0 {
			items = append(items, item{ID: newID("si"), Created: tx.now, Quantity: 1})
			i = len(items) - 1
			a.requiredText("price")
		}

		if p := a.text("price"); p != "" && p != items[i].Price {
			// As in Stripe, a new price resets the quantity.
			items[i].Price = tx.subscribablePrice(a.kids["price"].name, p).ID
			items[i].Quantity = 1
		}

		if n, ok := a.number("quantity"); ok {
			items[i].Quantity = n
			if n < 0 {
				refuse(invalidRequest("items", "parameter_invalid_integer",
					"A quantity cannot be negative."))
			}
		}

		items[i].Metadata = a.metadata(items[i].Metadata)
	}

	if len(items) == 0 {
		refuse(invalidRequest("items", "", "A subscription must have at least one active plan."))
	}

	if len(items) > 20 {
		refuse(invalidRequest("items", "", "A subscription can have up to 20 items."))
	}

	return items
}

// prorationLines returns a credit for the unused time of each item that changed and a debit for the remaining time of
// each item that replaces it.
func (tx *tx) prorationLines(s *subscription, after []item, date int64) []line {
	var gone, came []item
	for _, old := range s.Own.Items {
		i := slices.IndexFunc(after, func(it item) bool { return it.ID == old.ID })
		if i < 0 || after[i].Price != old.Price || after[i].Quantity != old.Quantity {
			gone = append(gone, old)
		}
	}

	for _, now := range after {
		i := slices.IndexFunc(s.Own.Items, func(it item) bool { return it.ID == now.ID })
		if i < 0 || s.Own.Items[i].Price != now.Price || s.Own.Items[i].Quantity != now.Quantity {
			came = append(came, now)
		}
	}

	return append(tx.creditLines(s, gone, date),
		tx.prorateItems(s, came, date, 1, "Remaining time on")...)
}

// creditLines returns the credits for the remaining period of items. They are based on the price of the period, paid or
// not.
func (tx *tx) creditLines(s *subscription, items []item, date int64) []line {
	return tx.prorateItems(s, items, date, -1, "Unused time on")
}

func (tx *tx) prorateItems(s *subscription, items []item, date, sign int64, what string) []line {
	var lines []line
	for _, it := range items {
		p := mustFind[price](tx, "", it.Price)
		amount := shareOfAmount(p.Unit*it.Quantity, s.End-date, s.End-s.Start)
		lines = append(lines, line{
			ID: newID("il"), Amount: sign * amount, Currency: p.Currency, Period: span{Start: date, End: s.End},
			Price: text(p.ID), Proration: true,
			About: fmt.Sprintf("%s %s after %s", what, tx.describePrice(p, it.Quantity),
				time.Unix(date, 0).UTC().
					Format("02 Jan 2006")),
			Quantity: it.Quantity, Sub: text(s.ID), SubItem: text(it.ID), Item: text(newID("ii")), Type: "invoiceitem",
		})
	}

	return lines
}

// periodLines returns the lines of a full period.
func (tx *tx) periodLines(sub string, items []item, start, end int64) []line {
	var lines []line
	for _, it := range items {
		p := mustFind[price](tx, "", it.Price)
		lines = append(lines, line{
			ID: newID("il"), Amount: p.Unit * it.Quantity, Currency: p.Currency, Period: span{Start: start, End: end},
			Price: text(p.ID),
			About: fmt.Sprintf("%s (at %d.%02d %s / %s)", tx.describePrice(p, it.Quantity),
				p.Unit/100, p.Unit%100,
				p.Currency, p.Recurring.Interval),
			Quantity: it.Quantity, Sub: text(sub), SubItem: text(it.ID), Type: "subscription",
		})
	}

	return lines
}

func (tx *tx) describePrice(p *price, n int64) string {
	return fmt.Sprintf("%d × %s", n, mustFind[product](tx, "", p.Product).Name)
}

// applyChange applies a change to the subscription.
func (tx *tx) applyChange(s *subscription, c change) {
	s.Own.Items = c.Items
	s.Anchor = c.Anchor
	s.Start = c.Start
	s.End = c.End
	s.Currency = mustFind[price](tx, "", c.Items[0].Price).Currency
	if s.AtEnd {
		s.CancelAt = moment(s.End)
	}

	s.TrialEnd = moment(c.Trial)
	if c.Trial > tx.now {
		if s.Status != "trialing" {
			s.TrialStart = moment(tx.now)
		}
		s.Status = "trialing"
	} else if s.Status == "trialing" {
		s.Status = "active"
	}

	if s.Schedule != "" {
		tx.updateCurrentPhase(s)
	}
}
