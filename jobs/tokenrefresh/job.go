// Package tokenrefresh renews the tokens of logins at social networks and ad platforms before they end.
//
// # How it meets the queue
//
// A grant's row says when it is due, and nothing else does: there is no delayed job per grant that could be lost, doubled or left
// over. Every ten seconds a sweep claims what is due, as much as each application's budget lets begin soon, and adds
// one job per claim, due at its turn, in the claim's transaction. The claim moved the row's version; a job whose version is
// no longer the row's ends at once. So of all the jobs that there may ever be for a grant one can begin an attempt, whatever Redis
// forgets and however often a job is delivered; and a claim whose job did not begin is given out again after three minutes.
//
// What a failed attempt asks for is the row's as well: it gets a new due time, and the job is done. Only what is ours
// fails the job: Postgres, or the keyset.
package tokenrefresh

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are a claim: a grant of the job's org, and the version at which it was made.
type Args struct {
	Grant   id.ID `json:"grant"`
	Version int64 `json:"version"`
}

// Kind is one attempt at one grant. It is longer than a request and what stands around it.
var Kind = queue.Define[Args]("token.refresh", queue.Options{Lane: queue.Critical, Timeout: time.Minute})

// SweepArgs are none: a sweep is the platform's own and looks at all orgs.
type SweepArgs struct{}

// Sweep is asked for by the timetable. One that is missed is nothing: the next finds what it would have found.
var Sweep = queue.Define[SweepArgs]("token.sweep", queue.Options{Lane: queue.Critical, MaxAttempts: 2, Timeout: 30 * time.Second})
