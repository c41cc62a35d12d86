package stripe

import (
	"fmt"
	"slices"
	"time"
)

// wish is a requested change of a subscription, from an update or a preview.
type wish struct {
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

// wished reads the parameters of a change that update and preview share; prefix is subscription_ in a preview.
func (tx *tx) wished(p *params, items []*params, prefix string) wish {
	w := wish{
		items:     items,
		behaviour: p.word(prefix+"proration_behavior", "none", "create_prorations", "always_invoice"),
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
		refuse(invalid(prefix+"billing_cycle_anchor", "", "billing_cycle_anchor must be now or unchanged."))
	}
	if v := p.text(prefix + "trial_end"); v == "now" {
		w.trialNow = true
	} else if n, ok := p.number(prefix + "trial_end"); ok {
		if w.trial = n; n <= tx.now {
			refuse(invalid(prefix+"trial_end", "", "trial_end must be in the future."))
		}
	}
	return w
}

// plan computes a change without applying it.
func (tx *tx) plan(s *subscription, w wish) change {
	date := w.date
	if date == 0 {
		date = tx.now
	}
	if w.date != 0 && (date < s.Start || date > s.End) {
		refuse(invalid("subscription_proration_date", "",
			"The proration date must be within the current period: between %d and %d.", s.Start, s.End))
	}
	c := change{Items: tx.wanted(s, w.items), Anchor: s.Anchor, Start: s.Start, End: s.End, Trial: int64(s.TrialEnd)}
	sameCycle(tx.prices(c.Items))
	trialing := s.Status == "trialing"
	c.touched = !slices.EqualFunc(c.Items, s.Own.Items, func(a, b item) bool {
		return a.ID == b.ID && a.Price == b.Price && a.Quantity == b.Quantity
	})
	recycled := tx.cycleOf(c.Items) != tx.cycleOf(s.Own.Items)
	freed := tx.worth(s.Own.Items) == 0 && tx.worth(c.Items) > 0
	switch {
	case w.trial != 0: // a trial starts or moves; the unused paid time is credited
		if !trialing && w.behaviour != "none" {
			c.prorated = tx.credits(s, s.Own.Items, date)
		}
		c.Trial, c.TrialSet, c.Anchor, c.Start, c.End, c.touched = w.trial, w.trial, w.trial, tx.now, w.trial, true
	case trialing && !w.trialNow: // free until the end of the trial, whatever the items
	case w.anchorNow, recycled, freed, trialing && w.trialNow:
		if !trialing && w.behaviour != "none" {
			c.prorated = tx.credits(s, s.Own.Items, date)
		}
		c.Anchor, c.Start, c.touched, c.bill = tx.now, tx.now, true, true
		if w.anchorNow {
			c.AnchorSet = tx.now
		}
		if trialing {
			c.Trial = tx.now
		}
		c.End = tx.cycleOf(c.Items).end(c.Anchor, c.Start)
		c.full = tx.recurring(s.ID, c.Items, c.Start, c.End)
	case w.behaviour != "none":
		c.prorated = tx.prorations(s, c.Items, date)
	}
	if w.behaviour == "always_invoice" && len(c.prorated) > 0 {
		c.bill = true
	}
	return c
}

// wanted returns the items after a change.
func (tx *tx) wanted(s *subscription, asked []*params) []item {
	items := slices.Clone(s.Own.Items)
	for _, a := range asked {
		id := a.text("id")
		i := slices.IndexFunc(items, func(it item) bool { return it.ID == id })
		if id != "" && i < 0 {
			refuse(missing("subscription_item", "items", id))
		}
		if a.yes("deleted") {
			if i < 0 {
				refuse(invalid("items", "", "An item without an id cannot be deleted."))
			}
			items = slices.Delete(items, i, i+1)
			continue
		}
		if i < 0 {
			items = append(items, item{ID: newID("si"), Created: tx.now, Quantity: 1})
			i = len(items) - 1
			a.need("price")
		}
		if p := a.text("price"); p != "" && p != items[i].Price {
			// As in Stripe, a new price resets the quantity.
			items[i].Price, items[i].Quantity = tx.usable(a.kids["price"].name, p).ID, 1
		}
		if n, ok := a.number("quantity"); ok {
			if items[i].Quantity = n; n < 0 {
				refuse(invalid("items", "parameter_invalid_integer", "A quantity cannot be negative."))
			}
		}
		items[i].Metadata = a.metadata(items[i].Metadata)
	}
	if len(items) == 0 {
		refuse(invalid("items", "", "A subscription must have at least one active plan."))
	}
	if len(items) > 20 {
		refuse(invalid("items", "", "A subscription can have up to 20 items."))
	}
	return items
}

// prorations returns a credit for the unused time of each item that changed and a debit for the remaining time of each
// item that replaces it.
func (tx *tx) prorations(s *subscription, after []item, date int64) []line {
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
	return append(tx.credits(s, gone, date), tx.share(s, came, date, 1, "Remaining time on")...)
}

// credits returns the credits for the remaining period of items. They are based on the price of the period, paid or
// not.
func (tx *tx) credits(s *subscription, items []item, date int64) []line {
	return tx.share(s, items, date, -1, "Unused time on")
}

func (tx *tx) share(s *subscription, items []item, date, sign int64, what string) []line {
	var lines []line
	for _, it := range items {
		p := get[price](tx, "", it.Price)
		amount := part(p.Unit*it.Quantity, s.End-date, s.End-s.Start)
		lines = append(lines, line{
			ID: newID("il"), Amount: sign * amount, Currency: p.Currency, Period: span{Start: date, End: s.End},
			Price: text(p.ID), Proration: true,
			About: fmt.Sprintf("%s %s after %s", what, tx.named(p, it.Quantity), time.Unix(date, 0).UTC().
				Format("02 Jan 2006")),
			Quantity: it.Quantity, Sub: text(s.ID), SubItem: text(it.ID), Item: text(newID("ii")), Type: "invoiceitem",
		})
	}
	return lines
}

// recurring returns the lines of a full period.
func (tx *tx) recurring(sub string, items []item, start, end int64) []line {
	var lines []line
	for _, it := range items {
		p := get[price](tx, "", it.Price)
		lines = append(lines, line{
			ID: newID("il"), Amount: p.Unit * it.Quantity, Currency: p.Currency, Period: span{Start: start, End: end},
			Price: text(p.ID),
			About: fmt.Sprintf("%s (at %d.%02d %s / %s)", tx.named(p, it.Quantity), p.Unit/100, p.Unit%100,
				p.Currency, p.Recurring.Interval),
			Quantity: it.Quantity, Sub: text(sub), SubItem: text(it.ID), Type: "subscription",
		})
	}
	return lines
}

func (tx *tx) named(p *price, n int64) string {
	return fmt.Sprintf("%d × %s", n, get[product](tx, "", p.Product).Name)
}

// apply applies a change to the subscription.
func (tx *tx) apply(s *subscription, c change) {
	s.Own.Items, s.Anchor, s.Start, s.End = c.Items, c.Anchor, c.Start, c.End
	s.Currency = get[price](tx, "", c.Items[0].Price).Currency
	if s.AtEnd {
		s.CancelAt = moment(s.End)
	}
	if s.TrialEnd = moment(c.Trial); c.Trial > tx.now {
		if s.Status != "trialing" {
			s.TrialStart = moment(tx.now)
		}
		s.Status = "trialing"
	} else if s.Status == "trialing" {
		s.Status = "active"
	}
	if s.Schedule != "" {
		tx.follow(s)
	}
}
