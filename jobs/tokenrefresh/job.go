// Package tokenrefresh renews the tokens of logins at social networks and ad platforms before they expire.
//
// # How it uses the queue
//
// Only a grant's row holds the time of its next refresh. There is no delayed job per grant that could be lost,
// duplicated or left over. Every ten seconds a sweep (jobs/tokensweep) claims the due grants, as many as each
// application's budget allows to begin soon. It adds one job per claim, due at its turn, in the claim's transaction.
// The claim raises the row's version, and a job with an outdated version ends at once. Of all the jobs of a grant
// therefore only one can begin an attempt, whatever Redis loses and however often a job is delivered. If a claim's job
// does not begin, the grant may be claimed again after three minutes.
//
// The row also handles a failed attempt: it gets a new due time, and the job is done. Only failures of our own systems,
// Postgres or the keyset, fail the job.
package tokenrefresh

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is a claim: a grant of the job's org and the version of the claim.
type Args struct {
	Grant   id.ID `json:"grant"`
	Version int64 `json:"version"`
}

// Kind is one attempt for one grant. Its timeout is longer than a request with its overhead.
var Kind = queue.Define[Args]("token.refresh", queue.Options{Lane: queue.Critical, Timeout: time.Minute})
