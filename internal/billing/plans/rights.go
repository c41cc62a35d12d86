package plans

import (
	"fmt"
	"slices"
	"time"
)

// Status is the status of a subscription.
type Status string

// The stored statuses are the payment processor's. TrialEnded is computed: Trialing becomes TrialEnded at the trial's
// end, and PastDue becomes Unpaid when the grace period ends.
const (
	Trialing   Status = "trialing"
	Active     Status = "active"
	PastDue    Status = "past_due"
	Incomplete Status = "incomplete"
	Unpaid     Status = "unpaid"
	Canceled   Status = "canceled"
	Paused     Status = "paused"
	TrialEnded Status = "trial_ended"
)

// Source is the origin of a right.
type Source string

// The sources.
const (
	FromFree       Source = "free"       // the free set, when no plan is in effect
	FromPlan       Source = "plan"       // the plan alone
	FromAddOn      Source = "addon"      // the plan and an add-on
	FromOverride   Source = "override"   // an operator's override, which replaces plan and add-ons
	FromAgency     Source = "agency"     // for a client org: its agency's right
	FromAllocation Source = "allocation" // for a client org: its agency's allocation
)

// AddOn adds to a feature.
type AddOn struct {
	Feature string
	Amount  int64 // for a limit; Unlimited: no limit; unused for a boolean
}

// Override replaces the plan's value of a feature.
type Override struct {
	Feature string
	Value   Value
	Source  Source     // FromOverride or FromAllocation
	Expires *time.Time // nil: never
}

// Facts are the inputs from which an org's rights are computed.
type Facts struct {
	Plan         string
	Status       Status
	TrialEnds    *time.Time // nil: unlimited trial
	PastDueSince *time.Time // nil unless past due
	AddOns       []AddOn
	Overrides    []Override
	Agency       *Rights // the agency's rights at the same time; nil unless a client org
}

// Rights are what an org may use.
type Rights struct {
	Plan     string
	Status   Status // TrialEnded after the end of a trial, Unpaid after the grace of PastDue
	Open     bool   // the plan is in effect; false: the free set applies
	Overage  bool   // client orgs and emails above the limits in Features are permitted
	Features map[string]Right
	Until    time.Time // next change by the clock; zero: never
}

// Has reports whether the org may use a feature at all.
func (r *Rights) Has(feature string) bool { return r.Features[feature].Value.Has() }

// Right is one feature of Rights.
type Right struct {
	Value  Value
	Source Source
}

// Effective returns the rights that follow from f at a time:
//
//	the plan if its status counts, else the free set;
//	add-ons on top of a plan in effect;
//	an override replaces both until it expires;
//	a client org never exceeds its agency's rights.
//
// It is total: the result contains every feature of the catalogue. It is monotone: an add-on never takes a right away.
func (c *Catalogue) Effective(f Facts, at time.Time) Rights {
	r := Rights{Plan: f.Plan, Status: f.Status, Features: make(map[string]Right, len(c.types))}
	r.Open = c.isInEffect(&f, &r, at)
	values := c.free
	source := FromFree
	switch plan := c.byKey[f.Plan]; {
	case f.Agency != nil:
		source = FromAgency
		values = make(map[string]Value, len(c.types))
		for name, right := range f.Agency.Features {
			values[name] = right.Value
		}
		r.changeAt(f.Agency.Until, at)
	case plan == nil:
		r.Open = false
	case r.Open:
		values = plan.Values
		source = FromPlan
		r.Overage = plan.AllowOverage
	}

	for name := range c.types {
		r.Features[name] = Right{values[name], source}
	}

	if r.Open {
		for _, a := range f.AddOns {
			r.addAddOn(a)
		}
	}

	for _, o := range f.Overrides {
		if o.Expires != nil {
			if !at.Before(*o.Expires) {
				continue
			}
			r.changeAt(*o.Expires, at)
		}
		if c.types[o.Feature] == o.Value.Type {
			r.Features[o.Feature] = Right{o.Value, o.Source}
		}
	}

	if f.Agency != nil {
		r.capTo(f.Agency)
	}

	return r
}

// isInEffect reports whether the plan is in effect at a time, and sets r's Status and Until accordingly.
func (c *Catalogue) isInEffect(f *Facts, r *Rights, at time.Time) bool {
	switch f.Status {
	case Active:
		return true
	case Trialing:
		if f.Plan != c.trials.Key || f.TrialEnds == nil {
			return true
		}
		if at.Before(*f.TrialEnds) {
			r.changeAt(*f.TrialEnds, at)
			return true
		}
		r.Status = TrialEnded
		return false
	case PastDue:
		if f.PastDueSince == nil {
			return true
		}
		ends := f.PastDueSince.Add(c.grace)
		if at.Before(ends) {
			r.changeAt(ends, at)
			return true
		}
		r.Status = Unpaid
		return false
	default:
		return false
	}
}

// InEffectSQL returns an SQL condition: the plan of s, a row of subscription, is in effect now, as in Effective.
func (c *Catalogue) InEffectSQL(s string) string {
	return fmt.Sprintf(`(%[1]s.status = 'active' OR %[1]s.status = 'trialing' AND (%[1]s.plan <> '%[2]s' OR
		coalesce(now() < %[1]s.trial_ends_at, true)) OR %[1]s.status = 'past_due' AND
		coalesce(now() < %[1]s.past_due_since + make_interval(secs => %[3]d), true))`, s, c.trials.Key,
		int64(c.grace.Seconds()))
}

// changeAt records that the rights change at moment, unless moment has passed or an earlier change is recorded.
func (r *Rights) changeAt(moment, at time.Time) {
	if moment.After(at) && (r.Until.IsZero() || moment.Before(r.Until)) {
		r.Until = moment
	}
}

func (r *Rights) addAddOn(a AddOn) {
	right, ok := r.Features[a.Feature]
	if !ok || right.Value.Type == Text {
		return
	}

	right.Source = FromAddOn
	right.Value.On = right.Value.Type == Boolean
	if right.Value.Type == Limit {
		right.Value.Max = addLimits(right.Value.Max, a.Amount)
	}

	r.Features[a.Feature] = right
}

// addLimits adds limits; an overflow is Unlimited.
func addLimits(a, b int64) int64 {
	if b < 0 {
		return a
	}
	if a > Unlimited-b {
		return Unlimited
	}
	return a + b
}

// capTo limits r to the agency's rights. A client org cannot have client orgs itself.
func (r *Rights) capTo(agency *Rights) {
	for name, right := range r.Features {
		most := agency.Features[name].Value
		capped := right.Value
		switch capped.Type {
		case Boolean:
			capped.On = capped.On && most.On
		case Limit:
			capped.Max = min(capped.Max, most.Max)
		case Text:
			capped = most
		}

		if capped != right.Value {
			r.Features[name] = Right{capped, FromAgency}
		}
	}

	r.Overage = false
	r.Features[Clients] = Right{Value{Type: Limit}, FromAgency}
}

// Next returns the first selectable plan, to which a trial may lead.
func (c *Catalogue) Next() string {
	for i := range c.Plans {
		if c.Plans[i].Selectable() {
			return c.Plans[i].Key
		}
	}
	return ""
}

// Upgrade returns the first plan above the org's that has more of the feature than limit, or has the feature if it is a
// boolean. It returns "" if there is none, and for a client org, which cannot upgrade by itself.
func (c *Catalogue) Upgrade(from string, open bool, feature string, limit int64) string {
	if from == Client {
		return ""
	}

	above := 0
	if open {
		above = 1 + slices.IndexFunc(c.Plans, func(p Plan) bool { return p.Key == from })
	}

	for i := above; i < len(c.Plans); i++ {
		p := &c.Plans[i]
		v := p.Values[feature]
		if p.TrialDays == 0 && (v.Type == Boolean && v.On || v.Type == Limit && v.Max > limit) {
			return p.Key
		}
	}

	return ""
}
