// Package domainverify looks whether the DNS records of custom domains are still right.
//
// A domain's row says when it is due; a sweep claims what is, and adds one job per claim in the claim's transaction. A claim
// whose job did not look is given out again after five minutes. A look that could not be made is no failure of the job: the
// row then has its next time like after any other.
package domainverify

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name a domain of the job's org.
type Args struct {
	Domain id.ID `json:"domain"`
}

// Kind is one look. Only what is ours fails it: Postgres.
var Kind = queue.Define[Args]("domain.verify", queue.Options{MaxAttempts: 4})

// SweepArgs are none: a sweep is the platform's own and looks at all orgs.
type SweepArgs struct{}

// Sweep is asked for by the timetable. One that is missed is nothing: the next finds what it would have found.
var Sweep = queue.Define[SweepArgs]("domain.sweep", queue.Options{MaxAttempts: 2, Timeout: 30 * time.Second})
