// Package accountnotify notifies an org's owners and admins that a login at a social network or ad platform has ended,
// and lists the accounts that need a new login.
package accountnotify

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies a grant of the job's org.
type Args struct {
	Grant id.ID `json:"grant"`
}

// Kind only writes rows, one mail and its job per person, so it runs exactly once.
var Kind = queue.Define[Args]("account.tell", queue.Options{Lane: queue.Critical, Alias: "account.notify"})
