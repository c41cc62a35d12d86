// Package sentfolder looks for mails in the Sent folders of mailboxes: what is there was sent. Whether what is absent
// was not sent is known only of a mailbox that is known to file what it sends (mailboxes.Reading.SentProof).
package sentfolder

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/retrieval"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ErrUnreadable is the error of a mailbox in which nothing can be found: it has no server to read from, no folder of
// sent mail, or a sign-in that is refused. Another search will not do better until a person changes the mailbox.
var ErrUnreadable = errors.New("the mailbox cannot be read")

// Finder finds mails. It is safe for concurrent use.
type Finder struct {
	DB        *postgres.DB // App role
	Mailboxes *mailboxes.Service
	Dialer    *imap.Dialer
	// Token returns the tokens of connected accounts. nil: no such mailbox can be read.
	Token mailboxes.TokenSource
	// Sandbox reports whether the server of sandbox mailboxes has taken a mail of the org. nil: it is not asked.
	Sandbox func(ctx context.Context, org id.ID, messageID string) (bool, error)
}

// Has reports whether the Sent folder of a mailbox has a mail with the Message-ID, which is given without angle
// brackets. The error wraps ErrUnreadable, or is one that may pass.
func (f *Finder) Has(ctx context.Context, org, mailbox id.ID, messageID string) (bool, error) {
	var m *mailboxes.Reading
	err := f.DB.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		m, err = f.Mailboxes.ForReading(ctx, tx, mailbox)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound):
		return false, errors.Join(ErrUnreadable, err)
	case err != nil:
		return false, err
	case m.Kind == mailboxes.Sandbox && f.Sandbox != nil:
		return f.Sandbox(ctx, org, messageID)
	}
	conn, err := (&retrieval.Connector{Dialer: f.Dialer, Token: f.Token}).Connect(ctx, org, m)
	switch {
	case errors.Is(err, retrieval.ErrSandboxed) && f.Sandbox != nil:
		return f.Sandbox(ctx, org, messageID)
	case err != nil && isFinal(err):
		return false, errors.Join(ErrUnreadable, err)
	case err != nil:
		return false, err
	}
	defer func() { _ = conn.Close() }()
	folder, err := conn.Sent()
	if errors.Is(err, imap.ErrNoFolder) {
		return false, errors.Join(ErrUnreadable, err)
	}
	if err != nil {
		return false, err
	}
	return conn.Has(folder, messageID)
}

// isFinal reports whether an error of a connection lasts until a person changes the mailbox.
func isFinal(err error) bool {
	for _, final := range []error{
		retrieval.ErrNoServer, retrieval.ErrSandboxed, mailboxes.ErrLoginNeeded, imap.ErrRefused, imap.ErrNotAllowed,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}
