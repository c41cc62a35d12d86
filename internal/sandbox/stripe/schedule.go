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

func (*schedule) objectKind() kind { return kindSchedule }

func (s *schedule) indexKeys() []string {
	return []string{
		indexKey("customer", s.Customer), indexKey("subscription", s.Sub),
		indexKey("status", s.Status),
	}
}

func (s *schedule) addDerived(tx *tx, w shown, expand expansion) {
	phases := make([]shown, 0, len(s.Own.Phases))
	for _, p := range s.Own.Phases {
		one := newShape("phase")
		setMembers(one, p)
		delete(one, "_items")
		items := []shown{}
		for _, it := range p.Kept {
			i := newShape("phase_item")
			setMembers(i, it)
			i["plan"] = it.Price
			if below, ok := expand["phases"]["items"]["price"]; ok {
				i["price"] = tx.renderObject(mustFind[price](tx, "", it.Price), below)
			}
			if it.Metadata == nil {
				i["metadata"] = map[string]string{}
			}

			items = append(items, i)
		}

		one["items"] = items
		phases = append(phases, one)
	}

	w["phases"] = phases
	w["current_phase"] = nil
	if p := s.phaseAt(tx.now); p != nil && s.Status == "active" {
		w["current_phase"] = shown{"start_date": p.Start, "end_date": p.End}
	}
}

// phaseAt returns the phase at the given time, nil for none.
func (s *schedule) phaseAt(at int64) *phase {
	for i := range s.Own.Phases {
		if p := &s.Own.Phases[i]; p.Start <= at && at < p.End {
			return p
		}
	}
	return nil
}

func createSchedule(tx *tx, c *call) (any, *problem) {
	if !c.has("from_subscription") {
		refuse(invalidRequest("from_subscription", "parameter_missing",
			"The sandbox makes schedules from_subscription."))
	}

	s := mustFind[subscription](tx, "from_subscription", c.requiredText("from_subscription"))
	switch {
	case s.Schedule != "":
		refuse(invalidRequest("from_subscription", "",
			"You cannot migrate a subscription that is already attached to a schedule: `%s`.", s.Schedule))
	case s.hasEnded() || s.Status == "incomplete":
		refuse(invalidRequest("from_subscription", "",
			"You cannot migrate a subscription that is in the `%s` status.",
			s.Status))
	case s.AtEnd || s.CancelAt != 0:
		refuse(invalidRequest("from_subscription", "",
			"The sandbox makes no schedule of a subscription that is set to cancel: take that back first."))
	case s.Own.Pending != nil:
		refuse(invalidRequest("from_subscription", "", "The subscription has a pending update."))
	}

	for name := range c.kids {
		if name != "from_subscription" && name != "expand" {
			refuse(invalidRequest(name, "", "You cannot set `%s` if `from_subscription` is set.",
				name))
		}
	}

	sched := &schedule{
		head: head{ID: newID("sub_sched")}, Customer: s.Customer, AtEnd: "release", Status: "active",
		Sub: text(s.ID),
	}
	sched.Own.Phases = []phase{{
		Start: s.Start, End: s.End, Currency: s.Currency, Proration: "create_prorations",
		Metadata: map[string]string{}, Kept: phaseItems(s.Own.Items),
	}}
	before := tx.renderObject(s, nil)
	s.Schedule = text(sched.ID)
	s.Own.Phase = s.End
	tx.put(sched)
	tx.emitEvent("subscription_schedule.created", sched, nil)
	tx.storeChanged(s, before)

	return sched, nil
}

func phaseItems(items []item) []phaseItem {
	all := make([]phaseItem, 0, len(items))
	for _, it := range items {
		all = append(all, phaseItem{Price: it.Price, Quantity: it.Quantity})
	}
	return all
}

func updateSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.activeSchedule(c)
	s := mustFind[subscription](tx, "", string(sched.Sub))
	before := tx.renderObject(sched, nil)
	if v := c.enumValue("end_behavior", "release", "cancel"); v != "" {
		sched.AtEnd = v
	}

	sched.Metadata = c.metadata(sched.Metadata)
	behaviour := c.enumValue("proration_behavior", "none", "create_prorations", "always_invoice")
	if c.has("phases") {
		tx.setPhases(sched, s, c.list("phases"), behaviour)
	}

	tx.put(sched)
	tx.emitEvent("subscription_schedule.updated", sched, before)

	return sched, nil
}

// setPhases replaces the phases. The new phases must include the current one, with the same start.
func (tx *tx) setPhases(sched *schedule, s *subscription, asked []*params, behaviour string) {
	now := sched.phaseAt(tx.now)
	var phases []phase
	for i, a := range asked {
		p := phase{
			Proration: a.enumValue("proration_behavior", "none", "create_prorations",
				"always_invoice"),
			Metadata: a.metadata(nil),
		}
		if p.Proration == "" {
			p.Proration = "create_prorations"
		}

		start, given := a.number("start_date")
		switch {
		case i > 0 && given && start != phases[i-1].End:
			refuse(invalidRequest(a.name+"[start_date]", "",
				"The phases must follow each other without a gap."))
		case i > 0:
			start = phases[i-1].End
		case !given:
			refuse(invalidRequest(a.name+"[start_date]", "parameter_missing",
				"The first phase must have a start date."))
		}

		p.Start = start
		var prices []*price
		for _, it := range a.list("items") {
			pi := phaseItem{Price: tx.subscribablePrice(it.name+"[price]",
				it.requiredText("price")).ID, Quantity: 1}
			if n, ok := it.number("quantity"); ok {
				pi.Quantity = n
			}
			if it.has("metadata") {
				pi.Metadata = it.metadata(nil)
			}

			p.Kept = append(p.Kept, pi)
			prices = append(prices, mustFind[price](tx, "", pi.Price))
		}

		if len(prices) == 0 {
			refuse(invalidRequest(a.name+"[items]", "parameter_missing",
				"A phase must have items."))
		}

		sameCycle(prices)
		p.Currency = prices[0].Currency
		end, hasEnd := a.number("end_date")
		times, hasTimes := a.number("iterations")
		switch {
		case hasEnd && hasTimes:
			refuse(invalidRequest(a.name, "", "You may only set one of end_date and iterations."))
		case hasTimes:
			end = prices[0].Recurring.boundary(start, times)
		case !hasEnd && i < len(asked)-1:
			refuse(invalidRequest(a.name+"[end_date]", "parameter_missing",
				"All phases but the last need an end_date or iterations."))
		case !hasEnd:
			end = prices[0].Recurring.boundary(start, 1)
		}

		p.End = end
		if end <= start {
			refuse(invalidRequest(a.name+"[end_date]", "", "A phase must end after its start."))
		}

		phases = append(phases, p)
	}

	if len(phases) == 0 || now != nil && !slices.ContainsFunc(phases, func(p phase) bool {
		return p.Start == now.Start
	}) {
		refuse(invalidRequest("phases[0][start_date]", "",
			"You can not modify the start date of the current phase, or leave it out."))
	}

	sched.Own.Phases = phases
	current := sched.phaseAt(tx.now)
	if current == nil {
		refuse(invalidRequest("phases", "", "One of the phases must be the current one."))
	}

	before := tx.renderObject(s, nil)
	s.Own.Phase = current.End
	if behaviour == "" {
		behaviour = current.Proration
	}

	tx.enterPhase(s, current, behaviour)
	tx.storeChanged(s, before)
}

// enterPhase applies a phase to a subscription, with prorations unless it is the end of a period.
func (tx *tx) enterPhase(s *subscription, p *phase, behaviour string) {
	items := make([]item, 0, len(p.Kept))
	for _, want := range p.Kept {
		it := item{
			ID: newID("si"), Created: tx.now, Price: want.Price, Quantity: want.Quantity,
			Metadata: want.Metadata,
		}
		if i := slices.IndexFunc(s.Own.Items, func(it item) bool { return it.Price == want.Price }); i >= 0 {
			it.ID = s.Own.Items[i].ID
			it.Created = s.Own.Items[i].Created
			it.Metadata = s.Own.Items[i].Metadata
		}

		items = append(items, it)
	}

	if slices.EqualFunc(items, s.Own.Items, func(a, b item) bool { return a.ID == b.ID && a.Quantity == b.Quantity }) {
		return
	}

	recycled := tx.cycleOf(items) != tx.cycleOf(s.Own.Items)
	if s.Status != "trialing" && behaviour != "none" && tx.now < s.End {
		if recycled {
			tx.createInvoiceItems(s, tx.creditLines(s, s.Own.Items, tx.now))
		} else {
			tx.createInvoiceItems(s, tx.prorationLines(s, items, tx.now))
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
	sched := mustFind[schedule](tx, "", string(s.Schedule))
	p := sched.phaseAt(tx.now)
	if p == nil {
		if sched.AtEnd == "cancel" {
			s.Schedule = ""
			s.Own.Phase = 0
			sched.Status = "completed"
			sched.Completed = moment(tx.now)
			tx.put(sched)
			tx.emitEvent("subscription_schedule.completed", sched, nil)
			tx.endSubscription(s, "cancellation_requested", false)
			return
		}

		tx.endSchedule(s, "released")
		return
	}

	before := tx.renderObject(s, nil)
	was := tx.renderObject(sched, nil)
	s.Own.Phase = p.End
	tx.enterPhase(s, p, p.Proration)
	tx.put(sched)
	tx.emitEvent("subscription_schedule.updated", sched, was)
	tx.storeChanged(s, before)
}

// endSchedule ends a schedule and leaves the subscription unchanged.
func (tx *tx) endSchedule(s *subscription, status string) {
	sched := mustFind[schedule](tx, "", string(s.Schedule))
	before := tx.renderObject(s, nil)
	s.Schedule = ""
	s.Own.Phase = 0
	sched.Status = status
	event := "subscription_schedule.released"
	if status == "canceled" {
		sched.Canceled = moment(tx.now)
		event = "subscription_schedule.canceled"
	} else {
		sched.Released = moment(tx.now)
		sched.Former = text(s.ID)
		sched.Sub = ""
	}

	tx.put(sched)
	tx.emitEvent(event, sched, nil)
	tx.storeChanged(s, before)
}

// updateCurrentPhase copies a direct change of the subscription to its schedule's current phase.
func (tx *tx) updateCurrentPhase(s *subscription) {
	sched := mustFind[schedule](tx, "", string(s.Schedule))
	if p := sched.phaseAt(tx.now); p != nil {
		p.Kept = phaseItems(s.Own.Items)
		tx.put(sched)
	}
}

func (tx *tx) activeSchedule(c *call) *schedule {
	sched := mustFind[schedule](tx, "schedule", c.pathID())
	if sched.Status != "active" && sched.Status != "not_started" {
		refuse(invalidRequest("", "",
			"You cannot change a subscription schedule that is currently in the `%s` status. It must be "+
				"`not_started` or `active`.", sched.Status))
	}

	return sched
}

func releaseSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.activeSchedule(c)
	c.isTrue("preserve_cancel_date")
	tx.endSchedule(mustFind[subscription](tx, "", string(sched.Sub)), "released")
	return sched, nil
}

func cancelSchedule(tx *tx, c *call) (any, *problem) {
	sched := tx.activeSchedule(c)
	now := c.isTrue("invoice_now")
	c.isTrue("prorate")
	s := mustFind[subscription](tx, "", string(sched.Sub))
	tx.endSubscription(s, "cancellation_requested", now)
	return sched, nil
}
