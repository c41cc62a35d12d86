// Package domainverify checks whether the DNS records of custom domains are still correct.
//
// A domain's row holds the time of its next check. A sweep (jobs/domainsweep) claims due domains and adds one job per
// claim in the claim's transaction. If a claim's job does not run the check within five minutes, the domain may be
// claimed again. A check that could not be made does not fail the job: the row gets its next check time as after any
// other check.
package domainverify

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a domain of the job's org.
type Args struct {
	Domain id.ID `json:"domain"`
}

// Kind is one check. Only a failure of Postgres fails it.
var Kind = queue.Define[Args]("domain.verify", queue.Options{Lane: queue.Remote, MaxAttempts: 4})
