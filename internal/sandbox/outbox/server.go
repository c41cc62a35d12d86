package outbox

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// slow is how long slow@ takes to reply to the final dot.
const slow = 5 * time.Second

// Server is the mail server. It accepts connections of Dial while Run runs.
type Server struct {
	app     *postgres.DB
	box     *secret.Sealer
	ends    *ends
	answers Answer
	log     *slog.Logger
	open    sync.WaitGroup // answers that are not taken yet
}

// New returns a server that keeps mails in the database of app, the App role's pool. answers takes the mails with which
// recipients answer; nil: they do not.
func New(app *postgres.DB, box *secret.Sealer, answers Answer, log *slog.Logger) *Server {
	return &Server{
		app: app, box: box, answers: answers, log: log,
		ends: &ends{conns: make(chan net.Conn), closed: make(chan struct{})},
	}
}

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		of, ok := c.Conn().(*orgConn)
		if !ok {
			return nil, errors.New("not a connection of Dial")
		}
		return &session{server: s, conn: c, org: of.org, ctx: ctx}, nil
	}))
	server.Domain = "sandbox.localhost"
	server.MaxMessageBytes = 64 << 20
	server.ErrorLog = silent{}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()

	defer s.open.Wait()

	defer func() { _ = s.ends.Close() }()

	if err := server.Serve(s.ends); err != nil && ctx.Err() == nil {
		return err
	}

	return nil
}

// Dial connects to the server on behalf of an org.
func (s *Server) Dial(ctx context.Context, org id.ID) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case s.ends.conns <- &orgConn{Conn: theirs, org: org}:
		return ours, nil
	case <-s.ends.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// orgConn is the server's end of a connection on behalf of an org.
type orgConn struct {
	net.Conn
	org id.ID
}

// ends is the listener that Dial connects to.
type ends struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (e *ends) Accept() (net.Conn, error) {
	select {
	case c := <-e.conns:
		return c, nil
	case <-e.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (e *ends) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// Addr implements net.Listener.
func (e *ends) Addr() net.Addr { return &net.UnixAddr{Name: "sandbox", Net: "pipe"} }

// session is one SMTP session. It holds the context of Run, because go-smtp passes none to its backend.
type session struct {
	server   *Server
	conn     *smtp.Conn
	org      id.ID
	ctx      context.Context //nolint:containedctx // see above
	from, to string
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	switch s.recipientName() {
	case "bounce":
		return smtpError(550, smtp.EnhancedCode{5, 1, 1}, "There is no such user (sandbox)")
	case "soft":
		return smtpError(451, smtp.EnhancedCode{4, 2, 1},
			"The mailbox is busy, try again later (sandbox)")
	}

	return nil
}

func smtpError(code int, class smtp.EnhancedCode, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: class, Message: text}
}

// recipientName returns the local part of the recipient.
func (s *session) recipientName() string {
	local, _, _ := strings.Cut(strings.ToLower(s.to), "@")
	return local
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}

	if err := s.server.storeMail(s.ctx, s.org, s.from, s.to, raw); err != nil {
		return smtpError(451, smtp.EnhancedCode{4, 3, 0}, "The sandbox cannot keep the mail")
	}

	s.startAnswer(raw)
	switch s.recipientName() {
	case "slow":
		select {
		case <-time.After(slow):
		case <-s.ctx.Done():
		}
	case "drop":
		_ = s.conn.Conn().Close()
	}

	return nil
}

// Reset implements smtp.Session.
func (s *session) Reset() {
	s.from = ""
	s.to = ""
}

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// silent drops the log of connections that end early.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
