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
	case m.Host == "":
		return false, ErrUnreadable
	}
	s := imap.Server{
		Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password.Reveal(),
	}
	if m.SocialAccountID == nil {
		return f.search(ctx, s, messageID)
	}
	return f.withToken(ctx, org, *m.SocialAccountID, s, messageID)
}

// withToken searches with a token of a connected account. A token that the server refuses is renewed once.
func (f *Finder) withToken(ctx context.Context, org, account id.ID, s imap.Server, messageID string) (bool, error) {
	if f.Token == nil {
		return false, ErrUnreadable
	}
	refused := int64(0)
	for {
		token, err := f.Token(ctx, org, account, refused)
		switch {
		case errors.Is(err, mailboxes.ErrLoginNeeded):
			return false, errors.Join(ErrUnreadable, err)
		case err != nil:
			return false, err
		case token.Sandboxed && f.Sandbox != nil:
			return f.Sandbox(ctx, org, messageID)
		case token.Sandboxed:
			return false, ErrUnreadable
		}
		s.AccessToken = token.Access.Reveal()
		found, err := f.search(ctx, s, messageID)
		if refused > 0 || !errors.Is(err, imap.ErrRefused) {
			return found, err
		}
		refused = token.Version
	}
}

func (f *Finder) search(ctx context.Context, s imap.Server, messageID string) (bool, error) {
	c, err := f.Dialer.Connect(ctx, s)
	if errors.Is(err, imap.ErrRefused) || errors.Is(err, imap.ErrNotAllowed) {
		return false, errors.Join(ErrUnreadable, err)
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }()
	folder, err := c.Sent()
	if errors.Is(err, imap.ErrNoFolder) {
		return false, errors.Join(ErrUnreadable, err)
	}
	if err != nil {
		return false, err
	}
	return c.Has(folder, messageID)
}
