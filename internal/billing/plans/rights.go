package plans

import (
	"slices"
	"time"
)

// Status is what becomes of a subscription.
type Status string

// The statuses that are stored, which are the payment processor's, and TrialEnded, which the clock makes of Trialing. Of
// PastDue it makes Unpaid when the grace is over.
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

// Source says where a right comes from.
type Source string

// The sources.
const (
	FromFree       Source = "free"       // of the set that is left without a plan that counts
	FromPlan       Source = "plan"       // of the plan alone
	FromAddOn      Source = "addon"      // of the plan and what was bought on top
	FromOverride   Source = "override"   // of an operator's decision, which replaces all of these
	FromAgency     Source = "agency"     // a client's: what its agency has
	FromAllocation Source = "allocation" // a client's: what its agency lets it have of that
)

// AddOn is more of a feature.
type AddOn struct {
	Feature string
	Amount  int64 // of a limit; Unlimited: without end. Without meaning for a boolean
}

// Override stands in place of what the plan says.
type Override struct {
	Feature string
	Value   Value
	Source  Source     // FromOverride or FromAllocation
	Expires *time.Time // nil: never
}

// Facts are what an org's rights follow from.
type Facts struct {
	Plan         string
	Status       Status
	TrialEnds    *time.Time // nil: the trial has no end
	PastDueSince *time.Time // nil unless past due
	AddOns       []AddOn
	Overrides    []Override
	Agency       *Rights // of a client's agency, at the same moment; nil for any other org
}

// Rights are what an org may use.
type Rights struct {
	Plan     string
	Status   Status // TrialEnded where the clock has ended a trial, Unpaid where it has ended the grace of PastDue
	Open     bool   // the plan counts; false leaves the free set
	Overage  bool   // more client orgs may be made than Features has
	Features map[string]Right
	Until    time.Time // when the clock changes them next; zero: never
}

// Has tells whether a feature may be used at all.
func (r *Rights) Has(feature string) bool { return r.Features[feature].Value.Has() }

// Right is one feature of Rights.
type Right struct {
	Value  Value
	Source Source
}

// Effective is what follows from f at a moment:
//
//	the plan where its status counts, else the free set; add-ons on top of a plan that counts; an override in place of
//	both while it lasts; and of a client nothing beyond what its agency has.
//
// It is total, every feature of the catalogue is in the answer, and monotone: an add-on takes nothing away.
func (c *Catalogue) Effective(f Facts, at time.Time) Rights {
	r := Rights{Plan: f.Plan, Status: f.Status, Features: make(map[string]Right, len(c.types))}
	r.Open = c.counts(&f, &r, at)
	values, source := c.free, FromFree
	switch plan := c.byKey[f.Plan]; {
	case f.Agency != nil:
		source = FromAgency
		values = make(map[string]Value, len(c.types))
		for name, right := range f.Agency.Features {
			values[name] = right.Value
		}
		r.until(f.Agency.Until, at)
	case plan == nil:
		r.Open = false
	case r.Open:
		values, source, r.Overage = plan.Values, FromPlan, plan.AllowOverage
	}
	for name := range c.types {
		r.Features[name] = Right{values[name], source}
	}
	if r.Open {
		for _, a := range f.AddOns {
			r.add(a)
		}
	}
	for _, o := range f.Overrides {
		if o.Expires != nil {
			if !at.Before(*o.Expires) {
				continue
			}
			r.until(*o.Expires, at)
		}
		if c.types[o.Feature] == o.Value.Type {
			r.Features[o.Feature] = Right{o.Value, o.Source}
		}
	}
	if f.Agency != nil {
		r.cap(f.Agency)
	}
	return r
}

// counts tells whether the plan counts, and corrects r's status and Until by the clock.
func (c *Catalogue) counts(f *Facts, r *Rights, at time.Time) bool {
	switch f.Status {
	case Active:
		return true
	case Trialing:
		if f.Plan != c.trials.Key || f.TrialEnds == nil {
			return true
		}
		if at.Before(*f.TrialEnds) {
			r.until(*f.TrialEnds, at)
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
			r.until(ends, at)
			return true
		}
		r.Status = Unpaid
		return false
	default:
		return false
	}
}

// until notes that the rights change at a moment, unless that has passed.
func (r *Rights) until(moment, at time.Time) {
	if moment.After(at) && (r.Until.IsZero() || moment.Before(r.Until)) {
		r.Until = moment
	}
}

func (r *Rights) add(a AddOn) {
	right, ok := r.Features[a.Feature]
	if !ok || right.Value.Type == Text {
		return
	}
	right.Source = FromAddOn
	right.Value.On = right.Value.Type == Boolean
	if right.Value.Type == Limit {
		right.Value.Max = sum(right.Value.Max, a.Amount)
	}
	r.Features[a.Feature] = right
}

// sum adds limits; what does not fit is no limit.
func sum(a, b int64) int64 {
	if b < 0 {
		return a
	}
	if a > Unlimited-b {
		return Unlimited
	}
	return a + b
}

// cap takes away what the agency has not. A client has no clients of its own.
func (r *Rights) cap(agency *Rights) {
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

// Next is the first plan that can be chosen: where a trial may end.
func (c *Catalogue) Next() string {
	for i := range c.Plans {
		if c.Plans[i].Selectable() {
			return c.Plans[i].Key
		}
	}
	return ""
}

// Upgrade is the first plan above the org's that has more of the feature than limit (for a boolean: has it); "" where
// there is none, and for a client, whose agency decides.
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
