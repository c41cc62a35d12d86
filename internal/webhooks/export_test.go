package webhooks

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// The statements whose plans are tested.
const (
	AttemptsSQL       = attemptsSQL
	LoadSQL           = loadSQL
	ReplayStatusesSQL = replayStatusesSQL
)

// What the rules of health are tested by.
type (
	Misfortune = misfortune
	Change     = change
)

// Failure is a misfortune: down, of an event's first try, sent through an open circuit, with a wait asked for.
func Failure(down, first, alone bool, asked time.Duration) Misfortune {
	return misfortune{down: down, first: first, alone: alone, asked: asked}
}

// Hold and Free are the parts of a change.
func (c change) Hold() time.Duration { return c.hold }
func (c change) Free() bool          { return c.free }

func (h *Health) Suffer(now time.Time, m Misfortune) Change { return h.suffer(now, m) }
func (h Health) Progress(now time.Time) int                 { return h.progress(now) }

// Listing is the list's statement.
var Listing = listing

// Bounds are the ids between which a list is read.
func (f Filter) Bounds(before id.ID) (upper, oldest id.ID) { return f.bounds(before) }

// Matching is the walk's statement from its beginning.
func (r *Replay) Matching() (sql string, args []any) { return r.matching("id, event, type", id.ID{}) }

// LoadAllSQL is what many deliveries are loaded by, and ByKey what stands before it.
const (
	LoadAllSQL = loadAllSQL
	ByKey      = byKey
)
