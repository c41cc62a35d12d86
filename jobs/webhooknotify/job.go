// Package webhooknotify notifies an org's owners and admins that one of its webhook endpoints is failing or was
// disabled.
package webhooknotify

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// The subjects of the mails.
const (
	Failing  = "failing"  // it will be disabled if it keeps failing
	Disabled = "disabled" // by the platform
)

// Args identifies an endpoint of the job's org and the subject.
type Args struct {
	Endpoint id.ID  `json:"endpoint"`
	What     string `json:"what"`
	Percent  int    `json:"percent,omitempty"` // how much of the five-day rule is met, if failing
}

// Kind only writes rows, one mail and its job per person, so it runs exactly once. It is a separate job so that
// disabling an endpoint never waits for the list of recipients.
var Kind = queue.Define[Args]("webhook.tell", queue.Options{Lane: queue.Critical, Alias: "webhook.notify"})
