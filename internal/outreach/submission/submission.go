// Package submission connects to the servers that mailboxes send by: the mailbox's own with its password, the kind's
// with an access token of the connected account, or the sandbox.
package submission

import (
	"context"
	"errors"
	"net"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

// Connector connects to servers. It is safe for concurrent use.
type Connector struct {
	Dialer *transport.Dialer
	// Sandbox connects to the server that takes the mails of sandbox mailboxes; nil: this process has none.
	Sandbox func(ctx context.Context, org id.ID) (net.Conn, error)
	// Token returns the tokens of connected accounts; nil: no such mailbox can send.
	Token mailboxes.TokenSource
	// Idle keeps connections between the mails of a mailbox; nil: each mail has a connection of its own.
	Idle *Idle
}

var (
	errNoSandbox = errors.New("this process has no sandbox for mail")
	errNoToken   = errors.New("this process cannot sign in with a connected account")
)

// Connect connects to the server of a mailbox of the org and signs in. A token that the server refuses is renewed once,
// because a provider may end it before its time. A failure is a Result that is certainly not sent; its Err wraps
// mailboxes.ErrLoginNeeded if a person has to connect the account again.
func (c *Connector) Connect(ctx context.Context, org id.ID, m *mailboxes.Sending) (*transport.Conn, *transport.Result) {
	conn, _, failure := c.connect(ctx, org, m, false)
	return conn, failure
}

// connect connects, or returns an idle connection if it may. The second result is the server of a connection that may
// be kept.
func (c *Connector) connect(ctx context.Context, org id.ID, m *mailboxes.Sending, idle bool) (
	*transport.Conn, *transport.Server, *transport.Result,
) {
	s := &transport.Server{Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password.Reveal()}
	switch {
	case m.Kind == mailboxes.Sandbox:
		conn, failure := c.sandbox(ctx, org)
		return conn, nil, failure
	case m.SocialAccountID == nil:
		conn, failure := c.dial(ctx, m.ID, s, idle)
		return conn, s, failure
	case c.Token == nil:
		return nil, nil, notConnected(errNoToken)
	}
	refused := int64(0)
	for {
		token, err := c.Token(ctx, org, *m.SocialAccountID, refused)
		if err != nil {
			return nil, nil, noToken(err)
		}
		if token.Sandboxed {
			conn, failure := c.sandbox(ctx, org)
			return conn, nil, failure
		}
		s.AccessToken = token.Access.Reveal()
		conn, failure := c.dial(ctx, m.ID, s, idle)
		if failure == nil || failure.Stage != transport.Auth || failure.Reply.Code < 500 || refused > 0 {
			return conn, s, failure
		}
		refused = token.Version
	}
}

func (c *Connector) dial(ctx context.Context, mailbox id.ID, s *transport.Server, idle bool) (
	*transport.Conn, *transport.Result,
) {
	if idle {
		if conn := c.Idle.take(key{mailbox, *s}); conn != nil {
			return conn, nil
		}
	}
	return c.Dialer.Connect(ctx, *s)
}

// Send sends one mail of a mailbox of the org, as transport.Conn.Send does, and keeps the connection for the next one.
func (c *Connector) Send(ctx context.Context, org id.ID, m *mailboxes.Sending, e transport.Envelope, body []byte,
	mark func(context.Context) error,
) transport.Result {
	for idle := c.Idle != nil; ; idle = false {
		conn, server, failure := c.connect(ctx, org, m, idle)
		if failure != nil {
			return *failure
		}
		reused := conn.Mails() > 0
		r := conn.Send(ctx, e, body, mark)
		if server != nil && c.Idle != nil && r.Outcome == transport.Sent {
			c.Idle.put(key{m.ID, *server}, conn)
		} else {
			_ = conn.Close()
		}
		if reused && r.Stage == transport.Connect && ctx.Err() == nil {
			continue // the server has ended the idle connection; the mail was not begun
		}
		return r
	}
}

func (c *Connector) sandbox(ctx context.Context, org id.ID) (*transport.Conn, *transport.Result) {
	if c.Sandbox == nil {
		return nil, notConnected(errNoSandbox)
	}
	raw, err := c.Sandbox(ctx, org)
	if err != nil {
		return nil, notConnected(err)
	}
	private := &transport.Dialer{AllowPrivate: true, Timeout: c.Dialer.Timeout, DotTimeout: c.Dialer.DotTimeout}
	return private.Open(ctx, raw, transport.Server{Host: "sandbox.localhost", TLS: transport.Plain})
}

func notConnected(err error) *transport.Result {
	return &transport.Result{Outcome: transport.NotSentTemporary, Stage: transport.Connect, Err: err}
}

// noToken returns the result of an account without a token: nothing of the mailbox can be sent for a while.
func noToken(err error) *transport.Result {
	r := notConnected(err)
	if r.Hold = true; errors.Is(err, mailboxes.ErrLoginNeeded) {
		r.Stage = transport.Auth
	}
	return r
}
