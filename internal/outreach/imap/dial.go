package imap

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

// Errors of Connect and Sent. Any other error may pass.
var (
	ErrNotAllowed = errors.New("mailboxes are read on public servers, on port 993 or 143, and with TLS")
	ErrRefused    = errors.New("the server refused the sign-in")
	ErrNoFolder   = errors.New("the mailbox has no folder of sent mail")
)

// Server is an IMAP server and the credentials there.
type Server struct {
	Host     string
	Port     int
	TLS      string // "tls", "starttls" or "none", as in package transport
	Username string
	Password string
	// AccessToken, if set, signs in by XOAUTH2 in place of the password.
	AccessToken string
}

// Dialer connects to the servers of mailboxes. Its zero value dials public servers only.
type Dialer struct {
	// AllowPrivate lifts the rules on addresses, ports and TLS.
	AllowPrivate bool
	// Timeout bounds everything from the dialling to Close. 0: a minute.
	Timeout time.Duration
	// MaxReceived is how many bytes a server may send over one connection. 0: 8 MiB.
	MaxReceived int
	// Memory bounds what the connections of a process hold of answers at once. nil: each connection has its own.
	Memory *Memory
	// Roots verifies certificates. nil: the system's.
	Roots *tls.Config
}

// Conn is a connection that is signed in. It is not safe for concurrent use.
type Conn struct {
	client *imapclient.Client
	limit  *limiter
	stop   func() bool
	next   uint32 // the UIDNEXT of the folder; 0: unknown
}

const (
	connectTimeout = 30 * time.Second
	usualTimeout   = time.Minute
	usualReceived  = 8 << 20
	// maxHandshake bounds what is read until the connection is encrypted. Certificates mostly have 3 to 6 KiB.
	maxHandshake = 48 << 10
)

var ports = []int{993, 143}

// Connect connects and signs in. When ctx ends, the connection is closed.
func (d *Dialer) Connect(ctx context.Context, s Server) (*Conn, error) {
	insecure := s.TLS != transport.ImplicitTLS && s.TLS != transport.StartTLS
	if !d.AllowPrivate && (insecure || !slices.Contains(ports, s.Port)) {
		return nil, ErrNotAllowed
	}
	if err := outbound.CheckHost(s.Host, d.AllowPrivate); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	raw, err := outbound.Dial(ctx, connectTimeout, s.Host, s.Port, d.AllowPrivate)
	switch {
	case errors.Is(err, outbound.ErrNotAllowed):
		return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	case err != nil:
		return nil, fmt.Errorf("connect to IMAP server: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	c, err := d.open(ctx, raw, s)
	if err != nil {
		stop()
		_ = raw.Close()
		return nil, err
	}
	c.stop = stop
	return c, nil
}

// open secures a connection and signs in.
func (d *Dialer) open(ctx context.Context, raw net.Conn, s Server) (*Conn, error) {
	life := cmp.Or(d.Timeout, usualTimeout)
	until := time.Now().Add(life)
	bounded := outbound.Bound(raw, outbound.Bounds{
		Total: maxHandshake, Answer: maxHandshake, Life: min(life, connectTimeout),
	})
	conn, err := d.secure(bounded, s)
	if err != nil {
		return nil, fmt.Errorf("greet IMAP server: %w", errors.Join(err, bounded.Failure()))
	}
	received := cmp.Or(d.MaxReceived, usualReceived)
	_ = bounded.Renew(outbound.Bounds{Total: received, Answer: received, Life: time.Until(until)})
	c := &Conn{limit: limit(ctx, conn, bounded, d.Memory)}
	c.limit.beginAnswer(shortAnswer)
	c.client = imapclient.New(c.limit, nil)
	if err = c.client.WaitGreeting(); err != nil {
		err = fmt.Errorf("greet IMAP server: %w", err)
	} else {
		c.limit.beginAnswer(shortAnswer)
		err = signIn(c.client, s)
	}
	if err != nil {
		err = errors.Join(c.limit.cause(err), bounded.Failure())
		_ = raw.Close()
		_ = c.client.Close()
		c.limit.release()
		return nil, err
	}
	return c, nil
}

// signIn authenticates by the best mechanism that both sides have.
func signIn(client *imapclient.Client, s Server) (err error) {
	caps := client.Caps()
	switch {
	case s.AccessToken != "":
		err = client.Authenticate(transport.XOAUTH2(s.Username, s.AccessToken))
	case caps.Has(goimap.CapLoginDisabled) || caps.Has(goimap.AuthCap(sasl.Plain)):
		err = client.Authenticate(sasl.NewPlainClient("", s.Username, s.Password))
	default:
		err = client.Login(s.Username, s.Password).Wait()
	}
	refused, ok := errors.AsType[*goimap.Error](err)
	switch {
	case ok && refused.Type == goimap.StatusResponseTypeNo && refused.Code != goimap.ResponseCodeUnavailable &&
		refused.Code != goimap.ResponseCodeInUse && refused.Code != goimap.ResponseCodeLimit:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case err != nil:
		return fmt.Errorf("sign in to IMAP server: %w", err)
	}
	return nil
}

// Failure returns the error that has ended the connection, or nil. The errors of the other methods do not wrap it.
func (c *Conn) Failure() error { return c.limit.raw.Failure() }

// Close ends the session.
func (c *Conn) Close() error {
	defer c.stop()
	defer c.limit.release()
	c.limit.beginAnswer(shortAnswer)
	_ = c.client.Logout().Wait() // the server may have hung up
	return c.client.Close()
}
