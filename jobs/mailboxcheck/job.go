// Package mailboxcheck tests a mailbox: it sends a mail from it to itself and looks up the records of its domain.
//
// A run that dies is repeated, and then sends a second test mail, which is harmless. A failed test does not fail the
// job: the mailbox shows the reason, and a person asks for the next test.
package mailboxcheck

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the mailbox.
type Args struct {
	Mailbox id.ID `json:"mailbox"`
}

// Kind is one test.
var Kind = queue.Define[Args]("mailbox.check", queue.Options{
	Lane: queue.Remote, MaxAttempts: 4, Timeout: 3 * time.Minute,
})
