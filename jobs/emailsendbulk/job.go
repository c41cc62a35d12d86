// Package emailsendbulk sends automated emails, those of sequences and broadcasts, like jobs/emailsend.
package emailsendbulk

import (
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// Args identifies the email.
type Args = emailsend.Args

// Kind is emailsend.Kind in the bulk lane, so that automated emails do not delay those for which people wait.
var Kind = queue.Define[Args]("email.send_bulk", emailsend.Options(queue.Bulk))
