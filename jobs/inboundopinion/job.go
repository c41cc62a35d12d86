// Package inboundopinion asks a language model for a second opinion on an incoming mail of which no rule knows what it
// is. The opinion is recorded as the class of the message, and nothing else follows from it: the model never decides
// alone. It costs tokens of the org, as the endpoint for it does; without tokens there is no opinion.
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
