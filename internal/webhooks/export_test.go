package webhooks

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// Statements for the tests of query plans.
const (
	AttemptsSQL       = attemptsSQL
	ReplayStatusesSQL = replayStatusesSQL
)

// Types for the tests of the health rules.
type (
	Misfortune = failureSignal
	Change     = change
)

// Failure returns a failure signal.
func Failure(down, first, alone bool, asked time.Duration) Misfortune {
	return failureSignal{down: down, first: first, alone: alone, asked: asked}
}

// Hold and Free return the fields of a change.
func (c change) Hold() time.Duration { return c.hold }
func (c change) Free() bool          { return c.free }

func (h *Health) Suffer(now time.Time, m Misfortune) Change { return h.recordFailure(now, m) }
func (h Health) Progress(now time.Time) int                 { return h.progress(now) }

// Listing and ListingAll return the statements of ListDeliveries and ListAllDeliveries.
var (
	Listing    = listing
	ListingAll = listingAll
)

// Bounds returns the ids between which a list reads.
func (f Filter) Bounds(before id.ID) (upper, oldest id.ID) { return f.bounds(before) }

// Matching returns the statement of the walk from its start.
func (r *Replay) Matching() (sql string, args []any) { return r.matching("id, event, type", id.ID{}) }

// Statements by key with the planner settings that precede them.
const (
	ByKey        = byKey
	LoadAllSQL   = loadAllSQL
	EventsSQL    = eventsSQL
	DeliveredSQL = deliveredSQL
)

// EventSlack is how far an event's id may be from its delivery's.
const EventSlack = eventSlack
