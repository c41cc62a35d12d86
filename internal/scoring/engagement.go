package scoring

import (
	"math"
	"time"
)

// Features of engagement: human clicks and replies, each counted as 2^(-age / half-life).
const (
	Clicks7    Feature = "clicks_7d"
	Clicks30   Feature = "clicks_30d"
	Clicks90   Feature = "clicks_90d"
	Replies7   Feature = "replies_7d"
	Replies30  Feature = "replies_30d"
	Replies90  Feature = "replies_90d"
	engagement         = 6 // number of these features
)

// engagements holds the features in the order of Contact.Engagement, which is that of the SQL function engagement.
var engagements = [engagement]struct {
	feature  Feature
	halfLife time.Duration
}{
	{Clicks7, 7 * day},
	{Clicks30, 30 * day},
	{Clicks90, 90 * day},
	{Replies7, 7 * day},
	{Replies30, 30 * day},
	{Replies90, 90 * day},
}

const day = 24 * time.Hour

// Levels of engagement. One click or reply is some until its half-life has passed, and none after three of them.
const (
	unengaged = "none"
	faint     = "faint"
	moderate  = "some"
	strong    = "many"
)

// Lower edges of the levels above none.
const (
	faintFrom    = 0.125
	moderateFrom = 0.5
	strongFrom   = 2
)

// engagementLevel returns the level of sum i of the contact's engagement.
func (c *Contact) engagementLevel(i int) string {
	if i >= len(c.Engagement) {
		return unengaged
	}
	switch x := c.Engagement[i]; {
	case x >= strongFrom:
		return strong
	case x >= moderateFrom:
		return moderate
	case x >= faintFrom:
		return faint
	}
	return unengaged
}

// Fades returns the time until the first of the sums of an engagement falls to a lower level, if nothing is added. It
// returns false if all of them are at the lowest level.
func Fades(sums []float64) (in time.Duration, ok bool) {
	for i, x := range sums[:min(len(sums), engagement)] {
		edge := float64(strongFrom)
		switch {
		case x < faintFrom:
			continue
		case x < moderateFrom:
			edge = faintFrom
		case x < strongFrom:
			edge = moderateFrom
		}
		halfLives := math.Log2(x / edge)
		// A second more, so that the sum is below the edge then.
		lasts := time.Duration(halfLives*float64(engagements[i].halfLife)) + time.Second
		if !ok || lasts < in {
			in = lasts
			ok = true
		}
	}

	return in, ok
}

// IsEngagement reports whether f is a feature of engagement.
func IsEngagement(f Feature) bool {
	for i := range engagements {
		if engagements[i].feature == f {
			return true
		}
	}
	return false
}

// Engaged reports whether the contact's sum of a feature of engagement is above the lowest level.
func (c *Contact) Engaged(f Feature) bool {
	for i := range engagements {
		if engagements[i].feature == f {
			return c.engagementLevel(i) != unengaged
		}
	}
	return false
}

// Clicked returns the features that a human click changes.
func Clicked() []Feature { return []Feature{Clicks7, Clicks30, Clicks90} }

// Replied returns the features that a reply changes.
func Replied() []Feature { return []Feature{Replies7, Replies30, Replies90} }
