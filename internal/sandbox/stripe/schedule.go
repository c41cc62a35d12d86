package stripe

import "slices"

const kindSchedule kind = "subscription_schedule"

// schedule changes a subscription at given times, phase by phase.
type schedule struct {
	head
	Canceled  moment `json:"canceled_at"`
	Completed moment `json:"completed_at"`
	Customer  string `json:"customer"`
	AtEnd     string `json:"end_behavior"`
	Released  moment `json:"released_at"`
	Former    text   `json:"released_subscription"`
	Status    string `json:"status"`
	Sub       text   `json:"subscription"`
	Own       struct {
		Phases []phase `json:"phases"`
	} `json:"_"`
}

// phase is a time span and the items that are subscribed to in it.
type phase struct {
	Start     int64             `json:"start_date"`
	End       int64             `json:"end_date"`
	Currency  string            `json:"currency"`
	Proration string            `json:"proration_behavior"`
	Metadata  map[string]string `json:"metadata"`
	Kept      []phaseItem       `json:"_items"`
}

type phaseItem struct {
	Price    string            `json:"price"`
	Quantity int64             `json:"quantity"`
	Metadata map[string]string `json:"metadata"`
}

func (*schedule) kind() kind { return kindSchedule }

func (s *schedule) marks() []string {
	return []string{mark("customer", s.Customer), mark("subscription", s.Sub), mark("status", s.Status)}
}

func (s *schedule) wire(tx *tx, w shown, expand expansion) {
	phases := make([]shown, 0, len(s.Own.Phases))
	for _, p := range s.Own.Phases {
		one := shape("phase")
		overlay(one, p)
		delete(one, "_items")
		items := []shown{}
		for _, it := range p.Kept {
			i := shape("phase_item")
			overlay(i, it)
			i["plan"] = it.Price
			if below, ok := expand["phases"]["items"]["price"]; ok {
				i["price"] = tx.show(get[price](tx, "", it.Price), below)
			}
			if it.Metadata == nil {
				i["metadata"] = map[string]string{}
			}
			items = append(items, i)
		}
		one["items"] = items
		phases = append(phases, one)
	}
	w["phases"], w["current_phase"] = phases, nil
	if p := s.current(tx.now); p != nil && s.Status == "active" {
		w["current_phase"] = shown{"start_date": p.Start, "end_date": p.End}
	}
}

// current returns the phase at the given time, nil for none.
func (s *schedule) current(at int64) *phase {
	for i := range s.Own.Phases {
		if p := &s.Own.Phases[i]; p.Start <= at && at < p.End {
			return p
		}
	}
	return nil
}

func createSchedule(tx *tx, c *call) (any, *problem) {
	if !c.has("from_subscription") {
		refuse(invalid("from_subscription", "parameter_missing", "The sandbox makes schedules from_subscription."))
	}
	s := get[subscription](tx, "from_subscription", c.need("from_subscription"))
	switch {
	case s.Schedule != "":
		refuse(invalid("from_subscription", "",
			"You cannot migrate a subscription that is already attached to a schedule: `%s`.", s.Schedule))
	case s.over() || s.Status == "incomplete":
		refuse(invalid("from_subscription", "", "You cannot migrate a subscription that is in the `%s` status.",
			s.Status))
	case s.AtEnd || s.CancelAt != 0:
		refuse(invalid("from_subscription", "",
			"The sandbox makes no schedule of a subscription that is set to cancel: take that back first."))
	case s.Own.Pending != nil:
		refuse(invalid("from_subscription", "", "The subscription has a pending update."))
	}
	for name := range c.kids {
		if name != "from_subscription" && name != "expand" {
			refuse(invalid(name, "", "You cannot set `%s` if `from_subscription` is set.", name))
		}
	}
	sched := &schedule{
		head: head{ID: newID("sub_sched")}, Customer: s.Customer, AtEnd: "release", Status: "active",
		Sub: text(s.ID),
	}
	sched.Own.Phases = []phase{{
		Start: s.Start, End: s.End, Currency: s.Currency, Proration: "create_prorations",
		Metadata: map[string]string{}, Kept: kept(s.Own.Items),
	}}
	before := tx.show(s, nil)
	s.Schedule, s.Own.Phase = text(sched.ID), s.End
	tx.put(sched)
	tx.emit("subscription_schedule.created", sched, nil)
	tx.changed(s, before)
	return sched, nil
}

func kept(items []item) []phaseItem {
	all := make([]phaseItem, 0, len(items))
	for _, it := range items {
		all = append(all, phaseItem{Price: it.Price, Quantity: it.Quantity})
	}
	return all
}

func updateSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.active(c)
	s := get[subscription](tx, "", string(sched.Sub))
	before := tx.show(sched, nil)
	if v := c.word("end_behavior", "release", "cancel"); v != "" {
		sched.AtEnd = v
	}
	sched.Metadata = c.metadata(sched.Metadata)
	behaviour := c.word("proration_behavior", "none", "create_prorations", "always_invoice")
	if c.has("phases") {
		tx.setPhases(sched, s, c.list("phases"), behaviour)
	}
	tx.put(sched)
	tx.emit("subscription_schedule.updated", sched, before)
	return sched, nil
}

// setPhases replaces the phases. The new phases must include the current one, with the same start.
func (tx *tx) setPhases(sched *schedule, s *subscription, asked []*params, behaviour string) {
	now := sched.current(tx.now)
	var phases []phase
	for i, a := range asked {
		p := phase{
			Proration: a.word("proration_behavior", "none", "create_prorations", "always_invoice"),
			Metadata:  a.metadata(nil),
		}
		if p.Proration == "" {
			p.Proration = "create_prorations"
		}
		start, given := a.number("start_date")
		switch {
		case i > 0 && given && start != phases[i-1].End:
			refuse(invalid(a.name+"[start_date]", "", "The phases must follow each other without a gap."))
		case i > 0:
			start = phases[i-1].End
		case !given:
			refuse(invalid(a.name+"[start_date]", "parameter_missing", "The first phase must have a start date."))
		}
		p.Start = start
		var prices []*price
		for _, it := range a.list("items") {
			pi := phaseItem{Price: tx.usable(it.name+"[price]", it.need("price")).ID, Quantity: 1}
			if n, ok := it.number("quantity"); ok {
				pi.Quantity = n
			}
			if it.has("metadata") {
				pi.Metadata = it.metadata(nil)
			}
			p.Kept = append(p.Kept, pi)
			prices = append(prices, get[price](tx, "", pi.Price))
		}
		if len(prices) == 0 {
			refuse(invalid(a.name+"[items]", "parameter_missing", "A phase must have items."))
		}
		sameCycle(prices)
		p.Currency = prices[0].Currency
		end, hasEnd := a.number("end_date")
		times, hasTimes := a.number("iterations")
		switch {
		case hasEnd && hasTimes:
			refuse(invalid(a.name, "", "You may only set one of end_date and iterations."))
		case hasTimes:
			end = prices[0].Recurring.boundary(start, times)
		case !hasEnd && i < len(asked)-1:
			refuse(invalid(a.name+"[end_date]", "parameter_missing",
				"All phases but the last need an end_date or iterations."))
		case !hasEnd:
			end = prices[0].Recurring.boundary(start, 1)
		}
		if p.End = end; end <= start {
			refuse(invalid(a.name+"[end_date]", "", "A phase must end after its start."))
		}
		phases = append(phases, p)
	}
	if len(phases) == 0 || now != nil && !slices.ContainsFunc(phases, func(p phase) bool {
		return p.Start == now.Start
	}) {
		refuse(invalid("phases[0][start_date]", "",
			"You can not modify the start date of the current phase, or leave it out."))
	}
	sched.Own.Phases = phases
	current := sched.current(tx.now)
	if current == nil {
		refuse(invalid("phases", "", "One of the phases must be the current one."))
	}
	before := tx.show(s, nil)
	s.Own.Phase = current.End
	if behaviour == "" {
		behaviour = current.Proration
	}
	tx.enter(s, current, behaviour)
	tx.changed(s, before)
}

// enter applies a phase to a subscription, with prorations unless it is the end of a period.
func (tx *tx) enter(s *subscription, p *phase, behaviour string) {
	items := make([]item, 0, len(p.Kept))
	for _, want := range p.Kept {
		it := item{
			ID: newID("si"), Created: tx.now, Price: want.Price, Quantity: want.Quantity,
			Metadata: want.Metadata,
		}
		if i := slices.IndexFunc(s.Own.Items, func(it item) bool { return it.Price == want.Price }); i >= 0 {
			it.ID, it.Created, it.Metadata = s.Own.Items[i].ID, s.Own.Items[i].Created, s.Own.Items[i].Metadata
		}
		items = append(items, it)
	}
	if slices.EqualFunc(items, s.Own.Items, func(a, b item) bool { return a.ID == b.ID && a.Quantity == b.Quantity }) {
		return
	}
	recycled := tx.cycleOf(items) != tx.cycleOf(s.Own.Items)
	if s.Status != "trialing" && behaviour != "none" && tx.now < s.End {
		if recycled {
			tx.record(s, tx.credits(s, s.Own.Items, tx.now))
		} else {
			tx.record(s, tx.prorations(s, items, tx.now))
		}
	}
	s.Own.Items = items
	if recycled {
		s.Anchor = tx.now
		if tx.now < s.End { // a new cycle starts at once; the renewal that is due now bills it
			s.End = tx.now
		}
	}
	tx.put(s)
}

// nextPhase ends a phase, when the clock reaches its end.
func (tx *tx) nextPhase(s *subscription) {
	sched := get[schedule](tx, "", string(s.Schedule))
	p := sched.current(tx.now)
	if p == nil {
		if sched.AtEnd == "cancel" {
			s.Schedule, s.Own.Phase = "", 0
			sched.Status, sched.Completed = "completed", moment(tx.now)
			tx.put(sched)
			tx.emit("subscription_schedule.completed", sched, nil)
			tx.cancel(s, "cancellation_requested", false)
			return
		}
		tx.detach(s, "released")
		return
	}
	before, was := tx.show(s, nil), tx.show(sched, nil)
	s.Own.Phase = p.End
	tx.enter(s, p, p.Proration)
	tx.put(sched)
	tx.emit("subscription_schedule.updated", sched, was)
	tx.changed(s, before)
}

// detach ends a schedule and leaves the subscription unchanged.
func (tx *tx) detach(s *subscription, status string) {
	sched := get[schedule](tx, "", string(s.Schedule))
	before := tx.show(s, nil)
	s.Schedule, s.Own.Phase = "", 0
	sched.Status = status
	event := "subscription_schedule.released"
	if status == "canceled" {
		sched.Canceled, event = moment(tx.now), "subscription_schedule.canceled"
	} else {
		sched.Released, sched.Former, sched.Sub = moment(tx.now), text(s.ID), ""
	}
	tx.put(sched)
	tx.emit(event, sched, nil)
	tx.changed(s, before)
}

// follow copies a direct change of the subscription to its schedule's current phase.
func (tx *tx) follow(s *subscription) {
	sched := get[schedule](tx, "", string(s.Schedule))
	if p := sched.current(tx.now); p != nil {
		p.Kept = kept(s.Own.Items)
		tx.put(sched)
	}
}

func (tx *tx) active(c *call) *schedule {
	sched := get[schedule](tx, "schedule", c.id1())
	if sched.Status != "active" && sched.Status != "not_started" {
		refuse(invalid("", "",
			"You cannot change a subscription schedule that is currently in the `%s` status. It must be "+
				"`not_started` or `active`.", sched.Status))
	}
	return sched
}

func releaseSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.active(c)
	c.yes("preserve_cancel_date")
	tx.detach(get[subscription](tx, "", string(sched.Sub)), "released")
	return sched, nil
}

func cancelSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.active(c)
	now := c.yes("invoice_now")
	c.yes("prorate")
	s := get[subscription](tx, "", string(sched.Sub))
	tx.cancel(s, "cancellation_requested", now)
	return sched, nil
}
