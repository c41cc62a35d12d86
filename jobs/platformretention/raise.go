package platformretention

import (
	"log/slog"
	"maps"
)

// RaiseEvents raises the days of events to those of deliveries wherever these are longer, because a delivery never
// outlives its event, and logs a warning if it does. No org gets fewer days of events than before. k must have passed
// Check.
func (k *Keep) RaiseEvents(log *slog.Logger) {
	was := orUsual(k.Events)
	raised := raiseEvents(orUsual(k.Events), orUsual(k.Deliveries))
	if raised.Usual == was.Usual && maps.Equal(raised.Plans, was.Plans) {
		return
	}
	k.Events = raised
	log.Warn("events are kept for longer than set, because a delivery never outlives its event",
		"setting", "FUNNELWORK_RETAIN_EVENTS", "set", was.String(), "kept", raised.String(),
		"deliveries", k.Deliveries.String())
}

// orUsual returns d, or the default if d is no setting.
func orUsual(d Days) Days {
	if d.Usual == 0 {
		return Days{Usual: usualDays}
	}
	return d
}

// raiseEvents returns events, raised for each plan to the days of deliveries.
func raiseEvents(events, deliveries Days) Days {
	out := Days{Usual: max(events.Usual, deliveries.Usual), Plans: map[string]int{}}
	for _, named := range []map[string]int{events.Plans, deliveries.Plans} {
		for plan := range named {
			days := max(events.ofPlan(plan, true), deliveries.ofPlan(plan, true))
			_, set := events.Plans[plan]
			if plan != Free && (set || days != out.Usual) {
				out.Plans[plan] = days
			}
		}
	}
	raiseFree(&out, &events, &deliveries)
	return out
}

// raiseFree sets the days of orgs whose plan is not in effect. Such an org has one number of days whatever its plan
// was, or the days of that plan; so the number must suffice for the plan with the most days.
func raiseFree(out, events, deliveries *Days) {
	free, set := events.Plans[Free]
	if most, apart := deliveries.Plans[Free]; apart {
		if set {
			out.Plans[Free] = max(free, most)
		} else if most > out.shortest() {
			out.Plans[Free] = max(most, out.longest(0))
		}
		return
	}
	if set {
		out.Plans[Free] = max(free, deliveries.longest(0))
	}
}

// shortest returns the fewest days that an org of any plan has.
func (d *Days) shortest() int {
	least := d.Usual
	for _, days := range d.Plans {
		least = min(least, days)
	}
	return least
}
