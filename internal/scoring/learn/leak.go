package learn

import (
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// QuarantinedFeature is a feature that a model must not use, because it leaks the outcome.
type QuarantinedFeature struct {
	Feature scoring.Feature `json:"feature" doc:"A field of the contact, email_domain, attributes.KEY, or clicks_7d and such"` //nolint:lll // a tag cannot be broken
	Reason  string          `json:"reason" enum:"edited_near_outcome,tells_outcome"`
	AUC     float64         `json:"auc" doc:"AUC of the feature alone, on held-out outcomes"`
	Edited  float64         `json:"edited" doc:"Share of contacts with the feature that had it edited near the outcome"`
}

// Descriptions implements wire.Describer.
func (QuarantinedFeature) Descriptions() map[string]string {
	return map[string]string{
		"reason": "edited_near_outcome: it is often edited when a deal closes; tells_outcome: it alone " +
			"predicts the outcome",
	}
}

// Thresholds of the guard.
const (
	tooTelling = 0.9 // AUC above which a single feature must have seen the outcome
	tooEdited  = 0.1 // share of the contacts with the feature
	fewEdited  = 5   // fewer edits may be chance
	fewGuarded = 30  // with fewer outcomes any feature may look telling
	believed   = 2.0 // outcomes at the mean rate that a level starts with
)

// findLeaks returns the features that leak the outcome: features that rank it too well alone, and features that are
// often edited near the outcome. Values set at the creation of the contact are not edits.
func findLeaks(cols []*column, ex []Example) []QuarantinedFeature {
	out := []QuarantinedFeature{}
	if len(ex) < fewGuarded {
		return out
	}

	for _, c := range cols {
		q := QuarantinedFeature{Feature: c.feature, AUC: c.ownAUC(ex)}
		have := 0
		edited := 0
		for i := range ex {
			if c.hasValue(&ex[i].Contact) {
				have++
			}
			for _, f := range ex[i].Edited {
				if f == c.feature {
					edited++
				}
			}
		}
		if have > 0 {
			q.Edited = float64(edited) / float64(have)
		}
		switch {
		case edited >= fewEdited && q.Edited >= tooEdited:
			q.Reason = "edited_near_outcome"
		case q.AUC > tooTelling:
			q.Reason = "tells_outcome"
		default:
			continue
		}
		out = append(out, q)
	}

	return out
}

// hasValue reports whether the contact has the feature: a value of a custom field, or any click or reply. Every contact
// has each of the other features.
func (c *column) hasValue(contact *scoring.Contact) bool {
	if c.field != nil {
		return c.levelPlace(contact.Values[c.field.Key]) != c.index[absentLevel]
	}
	return !scoring.IsEngagement(c.feature) || contact.Engaged(c.feature)
}

// ownAUC returns the AUC of the column by itself. Each half of the examples is ranked by the rates of the other half.
func (c *column) ownAUC(ex []Example) float64 {
	p := make([]float64, 0, len(ex))
	won := make([]bool, 0, len(ex))
	one := []*column{c}
	c.first = 0
	for half := range 2 {
		n := make([]float64, len(c.levels))
		y := make([]float64, len(c.levels))
		var all, ones float64
		for i := 1 - half; i < len(ex); i += 2 {
			all++
			if ex[i].Won {
				ones++
			}
			eachActive(one, &ex[i].Contact, func(at int) {
				n[at-c.first]++
				if ex[i].Won {
					y[at-c.first]++
				}
			})
		}
		mean := (ones + 1) / (all + 2)
		for i := half; i < len(ex); i += 2 {
			z := 0.0
			eachActive(one, &ex[i].Contact, func(at int) {
				k := at - c.first
				z += logit((y[k]+believed*mean)/(n[k]+believed)) - logit(mean)
			})
			p, won = append(p, z), append(won, ex[i].Won)
		}
	}

	return AUC(p, won)
}
