// Package mailboxsync reads what is new in the inbox of a mailbox by IMAP. internal/inbound/imapsync describes how.
//
// The sweep (jobs/mailboxsweep) adds a job for each mailbox that is due, a minute after the last one. What the server
// does wrong does not fail the job: the mailbox shows the reason and is read later.
package mailboxsync

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the mailbox.
type Args struct {
	Mailbox id.ID `json:"mailbox"`
}

// Kind is one run. After a failure of the database the sweep adds the next job. The lane has slots of its own: servers
// that do not respond hold no slot that mails need.
var Kind = queue.Define[Args]("mailbox.sync", queue.Options{
	Lane: queue.Remote, MaxAttempts: 2, Timeout: 11 * time.Minute,
})

// Add adds a job for a mailbox, unless it has an open one.
func Add(ctx context.Context, tx *postgres.Tx, mailbox id.ID) error {
	return Kind.Add(ctx, tx, Args{Mailbox: mailbox}, queue.Dedupe(Kind.Name()+"/"+mailbox.String()),
		queue.ConcurrencyKey(concurrencyKey(mailbox)))
}

// concurrencyKey returns the concurrency key of a mailbox's reading. It is not that of its sending, whose circuit is
// open while a mailbox is held or has sent all that it may: replies must be read then, too.
func concurrencyKey(mailbox id.ID) (k id.ID) {
	sum := sha256.Sum256([]byte(Kind.Name() + "/" + mailbox.String()))
	copy(k[:], sum[:])
	return k
}
