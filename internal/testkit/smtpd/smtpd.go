// Package smtpd is an SMTP server for tests. It logs every mail whose final dot it has read, and fails at any point of
// the dialogue when it is told to.
package smtpd

import (
	"bytes"
	"cmp"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Fault is what the server does to a mail instead of taking it. The zero Fault takes it.
type Fault struct {
	At    Stage
	Code  int               // reply with which the stage fails; 0: none
	Class smtp.EnhancedCode // of the reply
	Text  string            // of the reply; "": some text
	Hang  bool              // closes the connection in place of the reply
	// Accept logs the mail although the stage is Dot and fails: a server that has taken the mail and dies.
	Accept bool
	Wait   <-chan struct{} // closed when the reply to the final dot may be sent
}

// Stage is a command of the dialogue.
type Stage int

// The stages.
const (
	Mail Stage = iota + 1
	Rcpt
	Body // while the body arrives
	Dot
)

// Accepted is a mail whose final dot the server has read.
type Accepted struct {
	MessageID, From, To string
	Hello               string // the name that the client has introduced itself with
	At                  time.Time
	Raw                 []byte
}

// Server is a server on a free port of the loopback interface.
type Server struct {
	Host string
	Port int

	// User and Password, if set, are required.
	User, Password string
	// Token, if set, is required by XOAUTH2: it reports whether the user's access token is good.
	Token func(user, token string) bool

	mu       sync.Mutex
	fault    func(to string) Fault
	greet    func()
	accepted []Accepted
	sessions int
}

// Start starts a server, which ends with the test. configure, which may be nil, changes the server before it serves.
func Start(t testing.TB, configure func(*Server, *smtp.Server)) *Server {
	t.Helper()
	s := &Server{}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.mu.Lock()
		s.sessions++
		greet := s.greet
		s.mu.Unlock()
		if greet != nil {
			greet()
		}
		return &session{server: s, conn: c}, nil
	}))
	server.Domain, server.AllowInsecureAuth, server.MaxMessageBytes = "test.example", true, 64<<20
	server.ErrorLog = silent{}
	if configure != nil {
		configure(s, server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a local listener
	if err != nil {
		t.Fatal(err)
	}
	address, _ := l.Addr().(*net.TCPAddr)
	s.Host, s.Port = "127.0.0.1", address.Port
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // Close does not know a listener whose Serve has not begun
		<-ended
	})
	return s
}

// Fail sets the fault of each recipient. nil takes every mail.
func (s *Server) Fail(fault func(to string) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Greet has fn called by each session before it answers the client's greeting. nil: nothing.
func (s *Server) Greet(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.greet = fn
}

// Accepted returns the log.
func (s *Server) Accepted() []Accepted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Accepted(nil), s.accepted...)
}

// Sessions returns how many connections there have been.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

func (s *Server) faultOf(to string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return Fault{}
	}
	return s.fault(to)
}

type session struct {
	server   *Server
	conn     *smtp.Conn
	from, to string
	signedIn bool
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string {
	switch {
	case s.server.Token != nil:
		return []string{"XOAUTH2"}
	case s.server.User == "":
		return nil
	}
	return []string{sasl.Plain}
}

// Auth implements smtp.AuthSession.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	if mechanism == "XOAUTH2" {
		return &xoauth2{session: s}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.server.User || password != s.server.Password {
			return smtp.ErrAuthFailed
		}
		s.signedIn = true
		return nil
	}), nil
}

// xoauth2 is the server of the mechanism of Google and Microsoft. It refuses at once what the real ones explain first.
type xoauth2 struct{ session *session }

// Next implements sasl.Server.
func (x *xoauth2) Next(response []byte) (challenge []byte, done bool, err error) {
	if response == nil {
		return []byte{}, false, nil
	}
	user, rest, ok := strings.Cut(strings.TrimPrefix(string(response), "user="), "\x01auth=Bearer ")
	token, end := strings.CutSuffix(rest, "\x01\x01")
	if !ok || !end || !x.session.server.Token(user, token) {
		return nil, false, smtp.ErrAuthFailed
	}
	x.session.signedIn = true
	return nil, true, nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if (s.server.User != "" || s.server.Token != nil) && !s.signedIn {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

// Rcpt implements smtp.Session. The fault of stage Mail occurs here, too, because only now the recipient is known.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	if f := s.server.faultOf(to); f.At == Mail || f.At == Rcpt {
		return s.fail(f)
	}
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	f := s.server.faultOf(s.to)
	if f.At == Body {
		_, _ = io.ReadFull(r, make([]byte, 8))
		return s.fail(f)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if f.At != Dot || f.Accept {
		s.log(raw)
	}
	if f.Wait != nil {
		<-f.Wait
	}
	if f.At == Dot {
		return s.fail(f)
	}
	return nil
}

func (s *session) log(raw []byte) {
	a := Accepted{From: s.from, To: s.to, Hello: s.conn.Hostname(), At: time.Now(), Raw: raw}
	if m, err := mail.ReadMessage(bytes.NewReader(raw)); err == nil {
		a.MessageID = m.Header.Get("Message-ID")
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.accepted = append(s.server.accepted, a)
}

func (s *session) fail(f Fault) error {
	if f.Hang {
		_ = s.conn.Conn().Close()
	}
	if f.Code == 0 {
		return nil
	}
	return &smtp.SMTPError{Code: f.Code, EnhancedCode: f.Class, Message: cmp.Or(f.Text, "as the test says")}
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", "" }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// silent drops the server's own log: the errors that it has are the ones that tests provoke.
type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
