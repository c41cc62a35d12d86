package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// Server is an SMTP server and the credentials there.
type Server struct {
	Host     string
	Port     int
	TLS      string // "tls", "starttls" or "none"
	Username string // "": no sign-in
	Password string
	// AccessToken, if set, signs in by XOAUTH2 in place of the password.
	AccessToken string
}

// Ways to secure a connection.
const (
	ImplicitTLS = "tls"
	StartTLS    = "starttls" // required: a server without it gets no mail
	Plain       = "none"
)

// Refusals of an address. Their texts may be shown to the org.
var (
	ErrHost = errors.New("mail goes to public servers")
	ErrPort = errors.New("mail servers have port 25, 465, 587 or 2525")
)

var ports = []int{25, 465, 587, 2525}

// Dialer connects to the servers of mailboxes. Its zero value dials public servers only.
type Dialer struct {
	// AllowPrivate lifts the rules on addresses, ports and TLS.
	AllowPrivate bool
	// Name is how the client introduces itself. "": the address of the connection.
	Name string
	// Timeout bounds each command, and DotTimeout the reply to the final dot. 0: 5 and 10 minutes, the limits of RFC
	// 5321 section 4.5.3.2.
	Timeout, DotTimeout time.Duration
	// Roots verifies certificates. nil: the system's.
	Roots *tls.Config
}

// connectTimeout bounds the establishment of a connection.
const connectTimeout = 30 * time.Second

// CheckAddress checks, without a DNS look-up, whether the address may be dialled. The error is ErrHost, ErrPort, or
// names a malformed host.
func (d *Dialer) CheckAddress(host string, port int) error {
	if port < 1 || port > 65535 || !d.AllowPrivate && !slices.Contains(ports, port) {
		return ErrPort
	}
	switch err := outbound.CheckHost(host, d.AllowPrivate); {
	case errors.Is(err, outbound.ErrNotAllowed):
		return fmt.Errorf("%w: %w", ErrHost, err)
	default:
		return err
	}
}

// Connect connects and signs in. A failure is a Result whose outcome is NotSentTemporary, or NotSentPermanent for an
// address that is not allowed.
func (d *Dialer) Connect(ctx context.Context, s Server) (*Conn, *Result) {
	if err := d.CheckAddress(s.Host, s.Port); err != nil {
		return nil, &Result{Outcome: NotSentPermanent, Stage: Connect, Err: err}
	}
	raw, err := outbound.Dial(ctx, connectTimeout, s.Host, s.Port, d.AllowPrivate)
	switch {
	case errors.Is(err, outbound.ErrNotAllowed):
		return nil, &Result{Outcome: NotSentPermanent, Stage: Connect, Err: fmt.Errorf("%w: %w", ErrHost, err)}
	case err != nil:
		r := failed(Connect, err)
		return nil, &r
	}
	return d.Open(ctx, raw, s)
}

// Open is Connect on an established connection, which it closes on failure.
func (d *Dialer) Open(ctx context.Context, raw net.Conn, s Server) (*Conn, *Result) {
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	c, stage, err := d.open(raw, s)
	if err != nil {
		_ = raw.Close()
		r := failed(stage, err)
		return nil, &r
	}
	return c, nil
}

func (d *Dialer) open(raw net.Conn, s Server) (_ *Conn, stage Stage, err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.Roots != nil {
		config = d.Roots.Clone()
	}
	config.ServerName = s.Host
	limit := orDefault(d.Timeout, 5*time.Minute)
	bounded := outbound.Bound(raw, bounds(limit))
	conn := net.Conn(bounded)
	switch s.TLS {
	case ImplicitTLS:
		conn = tls.Client(bounded, config)
	case StartTLS:
		if conn, err = startTLS(bounded, config, d.nameOn(raw), limit); err != nil {
			return nil, Connect, err
		}
	default:
		if !d.AllowPrivate {
			return nil, Connect, errors.New("a connection without TLS is not allowed")
		}
	}
	replies := outbound.BoundLines(conn, lines)
	client := smtp.NewClient(replies)
	client.CommandTimeout = limit
	client.SubmissionTimeout = orDefault(d.DotTimeout, 10*time.Minute)
	if err := client.Hello(d.nameOn(raw)); err != nil {
		return nil, Connect, err
	}
	if s.Username != "" {
		if err := signIn(client, s); err != nil {
			return nil, Auth, err
		}
	}
	return &Conn{raw: bounded, replies: replies, client: client, limit: limit}, "", nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
