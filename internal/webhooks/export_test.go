package webhooks

import (
	"iter"
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
func (h Health) Progress(now time.Time) int                 { return h.disableProgress(now) }

// Listing and ListingAll return the statements of ListDeliveries and ListAllDeliveries between two ids.
func Listing(org, endpoint id.ID, f Filter, from, before id.ID, limit int) (sql string, args []any) {
	return listSQL(org, endpoint, f, span{from, before}, limit)
}

func ListingAll(org id.ID, f Filter, from, before id.ID, limit int) (sql string, args []any) {
	return listingAll(org, f, span{from, before}, limit)
}

// Spans returns the spans between two ids, newest first.
func Spans(from, before id.ID) iter.Seq2[id.ID, id.ID] {
	return func(yield func(from, before id.ID) bool) {
		for _, days := range newestSpans(span{from, before}) {
			if !yield(days.from, days.before) {
				return
			}
		}
	}
}

// Matching returns the statement of the walk from its start.
func (r *Replay) Matching() (sql string, args []any) {
	return r.matchingSQL("id, event, type", id.ID{})
}

// Statements by key with the planner settings that precede them.
const (
	ByKey        = byKey
	LoadAllSQL   = loadAllSQL
	EventsSQL    = eventsSQL
	DeliveredSQL = deliveredSQL
)

// EventSlack is how far an event's id may be from its delivery's.
const EventSlack = eventSlack
