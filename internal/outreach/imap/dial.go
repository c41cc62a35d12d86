package imap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
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
	// Roots verifies certificates. nil: the system's.
	Roots *tls.Config
}

// Conn is a connection that is signed in. It is not safe for concurrent use.
type Conn struct {
	client *imapclient.Client
	raw    *boundedConn
	stop   func() bool
}

const (
	connectTimeout = 30 * time.Second
	usualTimeout   = time.Minute
	usualReceived  = 8 << 20
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
	timeout := d.Timeout
	if timeout == 0 {
		timeout = usualTimeout
	}
	received := d.MaxReceived
	if received == 0 {
		received = usualReceived
	}
	bounded := &boundedConn{Conn: raw, left: received, until: time.Now().Add(timeout)}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	client, err := d.open(bounded, s)
	if err != nil {
		stop()
		_ = raw.Close()
		return nil, errors.Join(err, bounded.failure())
	}
	return &Conn{client: client, raw: bounded, stop: stop}, nil
}

// Failure returns the error that has ended the connection, or nil. The errors of the other methods do not wrap it.
func (c *Conn) Failure() error { return c.raw.failure() }

func (d *Dialer) open(raw net.Conn, s Server) (client *imapclient.Client, err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.Roots != nil {
		config = d.Roots.Clone()
	}
	config.ServerName = s.Host
	switch s.TLS {
	case transport.ImplicitTLS:
		client = imapclient.New(tls.Client(raw, config), nil)
	case transport.StartTLS:
		client, err = imapclient.NewStartTLS(raw, &imapclient.Options{TLSConfig: config})
	default:
		client = imapclient.New(raw, nil)
	}
	if err == nil {
		err = client.WaitGreeting()
	}
	if err != nil {
		return nil, fmt.Errorf("greet IMAP server: %w", err)
	}
	return client, signIn(client, s)
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

// Close ends the session.
func (c *Conn) Close() error {
	defer c.stop()
	_ = c.client.Logout().Wait() // the server may have hung up
	return c.client.Close()
}

// boundedConn bounds what is read from a connection, and its life. go-imap sets deadlines for each command, so those
// beyond the end are cut.
type boundedConn struct {
	net.Conn
	left  int
	until time.Time
	ended atomic.Pointer[error] // of the last read
}

func (b *boundedConn) failure() error {
	if err := b.ended.Load(); err != nil {
		return *err
	}
	return nil
}

var errTooMuch = errors.New("the IMAP server sends too much")

// Read implements net.Conn.
func (b *boundedConn) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	if b.left -= n; err != nil {
		b.ended.Store(&err)
	}
	return n, err
}

// SetReadDeadline implements net.Conn.
func (b *boundedConn) SetReadDeadline(t time.Time) error { return b.Conn.SetReadDeadline(b.cut(t)) }

// SetWriteDeadline implements net.Conn.
func (b *boundedConn) SetWriteDeadline(t time.Time) error { return b.Conn.SetWriteDeadline(b.cut(t)) }

func (b *boundedConn) cut(t time.Time) time.Time {
	if t.IsZero() || t.After(b.until) {
		return b.until
	}
	return t
}
