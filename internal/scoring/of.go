package scoring

import (
	"maps"
	"slices"
	"sync"

	"github.com/funnelwork/funnelwork/internal/events"
)

var prior = sync.OnceValue(Prior)

// Shipped returns the prior, which is built once.
func Shipped() *Model { return prior() }

// Of returns the features of c that the scorer reads.
func Of(c *events.Contact) Contact {
	return Contact{
		Stage: c.Stage, Email: c.Email, JobTitle: derefText(c.JobTitle), Source: derefText(c.Source), Tags: c.Tag,
		Company: c.CompanyID != nil, Phone: c.Phone != nil, Owner: c.OwnerID != nil, Values: c.Attributes,
		Engagement: c.Engagement,
	}
}

// Rate scores c; lead is 100 x the probability, rounded to two decimals.
func (m *Model) Rate(c *events.Contact) (lead float64, from events.ContactScore) {
	seen := Of(c)
	s := m.Score(&seen)
	return s.Lead,
		events.ContactScore{Probability: s.Probability, Confidence: string(s.Confidence), ModelVersion: s.Version}
}

// Differs reports whether a field that the scorer uses differs between a and b.
func Differs(a, b *events.Contact) bool {
	x := Of(a)
	y := Of(b)
	if !slices.Equal(x.Tags, y.Tags) {
		return true
	}
	return x.Stage != y.Stage || x.Email != y.Email || x.JobTitle != y.JobTitle || x.Source != y.Source ||
		x.Company != y.Company || x.Phone != y.Phone || x.Owner != y.Owner || !maps.Equal(x.Values, y.Values) ||
		!slices.Equal(x.Engagement, y.Engagement)
}

func derefText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
