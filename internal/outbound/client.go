// Package outbound calls URLs that users supply, mainly webhook endpoints. Its client checks each address when it
// dials, so a name that resolves to an internal address, even only at a later look-up, never reaches it.
//
// # Why no http.Client
//
// The client calls the transport itself, so it neither follows redirects (Go's default turns a 302 to a signed POST
// into an empty GET with a 200 that looks like success), nor keeps cookies, nor reads a proxy from the environment. It
// speaks HTTP/1.1 only: the pool's key limits a connection to one host and port, and a response that never ends is
// dropped with its connection.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// MaxAnswer is how much of a response body is read, in bytes.
const MaxAnswer = 16 << 10

// Options configures a Client.
type Options struct {
	Policy Policy
	// Timeout limits the whole call; 0 means 15 s.
	Timeout time.Duration
	// Resolver looks up addresses; nil means the system's resolver.
	Resolver *net.Resolver
	// Roots, if set, replaces the system's certificate authorities; for private installs and tests.
	Roots *x509.CertPool
	// Calls is how many calls may run at once. So many connections of one host are kept open between calls; 0 means 10.
	Calls int
}

// Client makes calls. It is safe for concurrent use.
type Client struct {
	policy    Policy
	timeout   time.Duration
	transport *http.Transport
	fresh     *http.Transport // never reuses a connection
}

// New returns a client with its own connection pool.
func New(o Options) *Client {
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	guarded := newGuard(o.Policy.AllowPrivate)
	checked := &net.Dialer{
		Timeout: 10 * time.Second, Resolver: o.Resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !guarded.allows(to.Addr()) {
				return errBlocked
			}
			return nil
		},
	}
	perHost := cmp.Or(o.Calls, 10)
	plain := &net.Dialer{Timeout: 2 * time.Second}
	inbox := o.Policy.inboxAddr()
	c := &Client{policy: o.Policy, timeout: o.Timeout, transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if inbox != "" && address == inbox {
				return plain.DialContext(ctx, network, address)
			}
			return checked.DialContext(ctx, network, address)
		},
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
		TLSHandshakeTimeout: 10 * time.Second,
		DisableCompression:  true,
		// Receivers close idle connections after 5 s (Node's default) or later; the client closes its own before that.
		IdleConnTimeout:        3 * time.Second,
		MaxIdleConns:           max(256, perHost),
		MaxIdleConnsPerHost:    perHost,
		MaxResponseHeaderBytes: 64 << 10,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
	c.fresh = c.transport.Clone()
	c.fresh.DisableKeepAlives = true

	return c
}

// Answer is the result of a call. Err is nil if a response came in time, whatever its status. Otherwise Err is a
// Failure, which may be shown to the org.
type Answer struct {
	Status     int
	Header     http.Header
	Body       []byte // the first MaxAnswer bytes
	Cut        bool   // the body was longer
	Timings    Timings
	RemoteAddr string // for operators only
	Err        *Failure
}

// Post sends body to a URL and waits for the response. It follows no redirect and does not retry, with one exception: a
// connection that was kept open since an earlier call may have been closed by the server meanwhile. If it breaks before
// a byte of a response came, the request is sent once more, on a new connection. RFC 9112, section 9.3.1, leaves that
// to clients that know the request to be safe to repeat: a webhook has an id by which its receiver knows it.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) Answer {
	return c.callTimed(ctx, http.MethodPost, url, header, body)
}

// Get is Post for a GET without a body.
func (c *Client) Get(ctx context.Context, url string) Answer {
	return c.callTimed(ctx, http.MethodGet, url, http.Header{}, nil)
}

func (c *Client) callTimed(ctx context.Context, method, url string, header http.Header, body []byte) Answer {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	watch := newStopwatch(time.Now())
	a := c.sendRequest(watch.withTrace(ctx), c.transport, method, url, header, body)
	if a.Err != nil && ctx.Err() == nil && watch.keptConnectionBroke() {
		a = c.sendRequest(watch.withTrace(ctx), c.fresh, method, url, header, body)
	}
	a.Timings, a.RemoteAddr = watch.readTimings()
	return a
}

func (c *Client) sendRequest(ctx context.Context, transport *http.Transport, method, url string, header http.Header,
	body []byte,
) Answer {
	u, err := c.policy.Check(url)
	if err != nil {
		return Answer{Err: &Failure{Class: Blocked, cause: err}}
	}

	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return Answer{Err: &Failure{Class: Protocol, cause: err}}
	}

	req.Header = header
	res, err := transport.RoundTrip(req)
	if err != nil {
		return Answer{Err: classifyFailure(ctx, err)}
	}

	defer func() { _ = res.Body.Close() }()
	a := Answer{Status: res.StatusCode, Header: res.Header}
	if res.StatusCode == http.StatusSwitchingProtocols { // its body is the raw connection, without a deadline
		return a
	}
	// The status decides the outcome; a body that breaks off or hangs is only truncated.
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, MaxAnswer+1))
	if a.Cut = err != nil || len(a.Body) > MaxAnswer; len(a.Body) > MaxAnswer {
		a.Body = a.Body[:MaxAnswer]
	}

	return a
}

// Class is the kind of a failure, for statistics and for the org's log.
type Class string

// The failure classes.
const (
	Blocked  Class = "address_not_allowed"
	DNS      Class = "dns_error"
	Connect  Class = "connection_failed"
	TLS      Class = "tls_error"
	Timeout  Class = "timeout"
	Closed   Class = "connection_closed"
	Protocol Class = "invalid_response"
)

var sentences = map[Class]string{
	Blocked:  "The URL does not lead to a public address.",
	DNS:      "The host's name could not be resolved.",
	Connect:  "No connection to the host could be made.",
	TLS:      "No secure connection could be made: the certificate or the protocol is not acceptable.",
	Timeout:  "No answer came within the time limit.",
	Closed:   "The connection was closed before an answer came.",
	Protocol: "The answer was not valid HTTP.",
}

// Failure is a call without a response. Error is for logs and names addresses; Sentence is for the org and never does.
type Failure struct { //nolint:errname // a part of an Answer, not an error that is returned
	Class Class
	cause error
}

// Sentence describes the failure for the org.
func (f *Failure) Sentence() string { return sentences[f.Class] }

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Class, f.cause) }

func (f *Failure) Unwrap() error { return f.cause }

var errBlocked = errors.New("address not allowed")

func classifyFailure(ctx context.Context, err error) *Failure {
	f := &Failure{Class: Closed, cause: err}
	var (
		dns      *net.DNSError
		op       *net.OpError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		timeouts interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errBlocked):
		f.Class = Blocked
	case errors.As(err, &verify), errors.As(err, &record),
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"):
		f.Class = TLS // crypto/tls reports alerts as these two errors
	case ctx.Err() != nil:
		f.Class = Timeout
	case errors.As(err, &dns):
		f.Class = DNS
	case errors.As(err, &timeouts) && timeouts.Timeout():
		f.Class = Timeout
	case errors.As(err, &op) && op.Op == "dial":
		f.Class = Connect
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		f.Class = Closed
	case errors.As(err, &op):
		f.Class = Closed
	default:
		f.Class = Protocol
	}

	return f
}
