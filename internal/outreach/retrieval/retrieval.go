// Package retrieval connects to the servers that mailboxes are read from.
package retrieval

import (
	"context"
	"errors"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
)

// Errors of Connect, beside those of imap.Dialer and mailboxes.TokenSource.
var (
	ErrNoServer = errors.New("the mailbox has no server that it can be read from")
	// ErrSandboxed is the error of a mailbox whose account was connected at a sandbox, which has no such server.
	ErrSandboxed = errors.New("the mailbox belongs to a sandbox")
	// ErrNoToken is the error of a mailbox whose account has no token now. Its server was not called.
	ErrNoToken = errors.New("the connected account has no token")
)

// Connector connects and signs in. It is safe for concurrent use.
type Connector struct {
	Dialer *imap.Dialer
	Token  mailboxes.TokenSource // nil: no mailbox with a connected account can be read
}

// Connect connects to the server of a mailbox of the org. A token that the server refuses is renewed once.
func (c *Connector) Connect(ctx context.Context, org id.ID, m *mailboxes.Reading) (*imap.Conn, error) {
	if m.Host == "" {
		return nil, ErrNoServer
	}
	s := imap.Server{Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password.Reveal()}
	if m.SocialAccountID == nil {
		return c.Dialer.Connect(ctx, s)
	}
	if c.Token == nil {
		return nil, ErrNoServer
	}
	refused := int64(0)
	for {
		token, err := c.Token(ctx, org, *m.SocialAccountID, refused)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoToken, err)
		}
		if token.Sandboxed {
			return nil, ErrSandboxed
		}
		s.AccessToken = token.Access.Reveal()
		conn, err := c.Dialer.Connect(ctx, s)
		if refused > 0 || !errors.Is(err, imap.ErrRefused) {
			return conn, err
		}
		refused = token.Version
	}
}
