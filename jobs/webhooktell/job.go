// Package webhooktell writes to an org's owners and admins what became of one of its webhook endpoints.
package webhooktell

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// What there is to tell.
const (
	Failing  = "failing"  // it will be disabled if it goes on so
	Disabled = "disabled" // by the platform
)

// Args name an endpoint of the job's org.
type Args struct {
	Endpoint id.ID  `json:"endpoint"`
	What     string `json:"what"`
	Percent  int    `json:"percent,omitempty"` // of the rule, where it is failing
}

// Kind only writes rows, one mail and its job for each person: exactly once. It is apart from what it tells of,
// so that an endpoint's end never waits for a list of people.
var Kind = queue.Define[Args]("webhook.tell", queue.Options{Lane: queue.Critical})
