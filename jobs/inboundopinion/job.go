// Package inboundopinion asks a language model for a second opinion on an incoming mail of which the rules are not sure
// what it is. The opinion becomes the class of the message, with what follows from it; a person can correct it. The
// model suppresses nobody: a person confirms that a contact wants no more mails. An opinion costs tokens of the org, as
// the endpoint for it does; without tokens there is none, and the mail waits for a person.
package inboundopinion

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the message.
type Args struct {
	Message id.ID `json:"message"`
}

// Kind asks about one message. A repeated run costs tokens again, and changes nothing once an opinion is recorded.
var Kind = queue.Define[Args]("inbound.opinion",
	queue.Options{Lane: queue.Bulk, MaxAttempts: attempts, Timeout: time.Minute})

// attempts is how often a model is asked.
const attempts = 3
