// Package accountnotice processes a provider's notice about a person: that the person removed our application, or that
// the person's data must be erased.
package accountnotice

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a notice.
type Args struct {
	Notice id.ID `json:"notice"`
}

// Kind is a platform job, because the person's logins may belong to several orgs. Each org is a transaction. An
// interrupted run starts over. The attempts span several hours, so that a promised erasure outlasts an outage.
var Kind = queue.Define[Args]("account.notice", queue.Options{Lane: queue.Critical, MaxAttempts: 15})
