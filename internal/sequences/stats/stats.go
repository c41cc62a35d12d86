// Package stats counts what became of the emails of a sequence, by step and by variant.
package stats

import (
	"context"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/sequences/significance"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Step is what became of the emails of a step, or of one variant of it.
type Step struct {
	StepKey       string   `json:"step_key" doc:"Key of the step"`
	Variant       *string  `json:"variant" doc:"Key of the variant; null: the step has none"`
	Planned       int      `json:"planned" doc:"Emails that were written, in any status"`
	Sent          int      `json:"sent" doc:"Emails that a server has accepted"`
	Unknown       int      `json:"unknown" doc:"Emails of which it is not known whether they were sent"`
	Delivered     int      `json:"delivered" doc:"Emails whose delivery was confirmed; most servers confirm none"`
	Bounced       int      `json:"bounced" doc:"Emails that came back"`
	Replied       int      `json:"replied" doc:"Emails that a person replied to"`
	Clicked       int      `json:"clicked" doc:"Emails with a click by a person"`
	Opened        int      `json:"opened" doc:"Emails that a person opened"`
	MachineClicks int      `json:"machine_clicks" doc:"Emails with a click by a scanner"`
	MachineOpens  int      `json:"machine_opens" doc:"Emails that a proxy or scanner opened"`
	Unsubscribed  int      `json:"unsubscribed" doc:"Enrolments that ended after the email, by an unsubscription"`
	ReplyRate     Rate     `json:"reply_rate" doc:"Share of the emails that were replied to"`
	ClickRate     Rate     `json:"click_rate" doc:"Share of the emails with a click by a person"`
	BounceRate    Rate     `json:"bounce_rate" doc:"Share of the emails that came back"`
	PBest         *float64 `json:"p_best"`

	StoppedAt *wire.Time `json:"stopped_at" format:"date-time"`

	first *time.Time // when the first email was marked
}

// Descriptions implements wire.Describer.
func (Step) Descriptions() map[string]string {
	return map[string]string{
		"p_best": "Probability that the variant has the highest share of replies of all; null: no variants, or fewer " +
			"than 200 emails of one, or less than 24 hours. Below 0.95 no difference is shown",
		"stopped_at": "When the variant was stopped, since another one is better; null: it was not",
	}
}

// Rate is a share with its 95 % interval.
type Rate struct {
	Value float64 `json:"value" doc:"The share, from 0 to 1; 0 if nothing was sent"`
	Low   float64 `json:"low" doc:"Lower end of the 95 % interval"`
	High  float64 `json:"high" doc:"Upper end of the 95 % interval"`
}

// RateOf returns the share of successes in trials.
func RateOf(successes, trials int) Rate {
	a := significance.Arm{Trials: trials, Successes: min(successes, trials)}
	low, high := a.Interval()
	return Rate{Value: a.Rate(), Low: low, High: high}
}

// sentOut returns the number of emails that have left, as far as is known.
func (s *Step) sentOut() int { return s.Sent + s.Unknown }

// Of returns the statistics of a sequence. They begin with the steps in list, in its order, of which those without
// emails are included; the steps of other versions follow.
func Of(ctx context.Context, tx *postgres.Tx, sequence id.ID, list []steps.Step) ([]Step, error) {
	all, err := counts.Read(ctx, tx, sequence)
	if err != nil {
		return nil, err
	}

	found := make([]Step, len(all[sequence].Emails))
	for i := range found {
		found[i] = stepOf(&all[sequence].Emails[i])
	}

	out := arrangeSteps(found, list)
	for i := range out {
		s := &out[i]
		s.ReplyRate = RateOf(s.Replied, s.sentOut())
		s.ClickRate = RateOf(s.Clicked, s.sentOut())
		s.BounceRate = RateOf(s.Bounced, s.sentOut())
	}

	setPBest(out, time.Now())
	stops, err := comparisons.Read(ctx, tx, sequence)
	for i := range out {
		out[i].StoppedAt = stops[sequence].At(out[i].StepKey, out[i].Variant)
	}

	return out, err
}

// stepOf returns the counts of a step or a variant.
func stepOf(c *counts.Emails) Step {
	return Step{
		StepKey: c.Step, Variant: c.Variant, Planned: c.All(), Sent: c.Sent, Unknown: c.Unknown + c.Transmitting,
		Delivered: c.Delivered, Bounced: c.Bounced, Replied: c.Replied, Clicked: c.Clicked, Opened: c.Opened,
		MachineClicks: c.MachineClicked, MachineOpens: c.MachineOpened, Unsubscribed: c.Unsubscribed, first: c.First,
	}
}

// arrangeSteps returns the counts in the order of Of, with zeros for the steps and variants without emails.
func arrangeSteps(found []Step, list []steps.Step) []Step {
	out := make([]Step, 0, len(found)+len(list))
	take := func(key string, variant *string) {
		at := slices.IndexFunc(found, func(s Step) bool { return s.StepKey == key && sameVariant(s.Variant, variant) })
		if at < 0 {
			out = append(out, Step{StepKey: key, Variant: variant})
			return
		}
		out = append(out, found[at])
		found = slices.Delete(found, at, at+1)
	}
	for i := range list {
		switch s := &list[i]; {
		case s.Email == nil:
		case len(s.Email.Variants) == 0:
			take(s.Key, nil)
		default:
			for n := range s.Email.Variants {
				take(s.Key, &s.Email.Variants[n].Key)
			}
		}
	}

	return append(out, found...)
}

func sameVariant(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// setPBest sets PBest of the variants of each step that can be compared.
func setPBest(all []Step, now time.Time) {
	groups := map[string][]*Step{}
	for i := range all {
		if all[i].Variant != nil {
			groups[all[i].StepKey] = append(groups[all[i].StepKey], &all[i])
		}
	}

	for _, group := range groups {
		arms := make([]significance.Arm, len(group))
		first := make([]*time.Time, len(group))
		for i, s := range group {
			arms[i], first[i] = significance.Arm{Trials: s.sentOut(), Successes: min(s.Replied, s.sentOut())}, s.first
		}
		for i, p := range Compare(arms, first, now) {
			group[i].PBest = &p
		}
	}
}

// Compare returns the probability of each variant that it has the highest share of all, or nothing if they cannot be
// compared. first has the times at which the first mail of each was marked.
func Compare(arms []significance.Arm, first []*time.Time, now time.Time) []float64 {
	youngest := time.Time{}
	for _, at := range first {
		if at != nil && at.After(youngest) {
			youngest = *at
		}
	}
	if !significance.Comparable(arms, now.Sub(youngest)) {
		return nil
	}
	return significance.Best(arms)
}
