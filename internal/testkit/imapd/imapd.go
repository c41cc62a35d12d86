// Package imapd is an IMAP server for tests, with one user.
package imapd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-sasl"
)

// User and Password are the credentials of the server's user.
const (
	User     = "ada"
	Password = "right"
)

// Server is a server on a free port of the loopback interface.
type Server struct {
	Host string
	Port int
	// Poisoned, if set, is called with the UID of each mail that is to be fetched with its body. Its error is the
	// server's reply; ErrHangUp ends the connection instead.
	Poisoned func(uid uint32) error

	user   *imapmemserver.User
	server *imapserver.Server
	sent   string
	token  atomic.Pointer[string]
}

// RequireToken makes the server accept an access token by XOAUTH2, and the password no longer.
func (s *Server) RequireToken(token string) { s.token.Store(&token) }

// Start starts a server, which ends with the test. sent is the folder of sent mail; with marked, the server marks it as
// such by an attribute.
func Start(t testing.TB, sent string, marked bool) *Server {
	t.Helper()
	s := &Server{user: imapmemserver.NewUser(User, Password), sent: sent}
	memory := imapmemserver.New()
	memory.AddUser(s.user)
	for _, name := range []string{"INBOX", sent} {
		if err := s.user.Create(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	caps := imap.CapSet{imap.CapIMAP4rev1: {}}
	if marked {
		caps[imap.CapSpecialUse] = struct{}{}
		caps[imap.CapListExtended] = struct{}{}
	}
	s.server = imapserver.New(&imapserver.Options{
		Caps: caps, InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
		NewSession: func(c *imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			inner := session{Session: memory.NewSession(), server: s, marked: marked, conn: c}
			if s.token.Load() != nil {
				return &tokenSession{inner}, nil, nil
			}
			return &inner, nil, nil
		},
	})
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a local listener
	if err != nil {
		t.Fatal(err)
	}
	address, _ := l.Addr().(*net.TCPAddr)
	s.Host, s.Port = "127.0.0.1", address.Port
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		_ = l.Close() // Close does not know a listener whose Serve has not begun
		<-ended
	})
	return s
}

// Stop ends the server. Connections are refused from then on.
func (s *Server) Stop() { _ = s.server.Close() }

// File puts a mail with the Message-ID, given without angle brackets, into the folder of sent mail.
func (s *Server) File(t testing.TB, messageID string) {
	t.Helper()
	raw := fmt.Sprintf("Message-ID: <%s>\r\nSubject: Hello\r\n\r\nHello\r\n", messageID)
	_, err := s.user.Append(s.sent, literal{bytes.NewReader([]byte(raw))}, &imap.AppendOptions{Time: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

// Draft is the flag of a mail that is not finished.
const Draft = imap.FlagDraft

// Deliver puts a mail that arrived at a time into a folder, and returns its UID.
func (s *Server) Deliver(t testing.TB, folder, raw string, at time.Time, flags ...imap.Flag) uint32 {
	t.Helper()
	put, err := s.user.Append(folder, literal{bytes.NewReader([]byte(raw))},
		&imap.AppendOptions{Time: at, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return uint32(put.UID)
}

// Renumber empties the inbox, and gives it another UIDVALIDITY and new UIDs.
func (s *Server) Renumber(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.user.Delete("INBOX"), s.user.Create("INBOX", nil)); err != nil {
		t.Fatal(err)
	}
}

type literal struct{ *bytes.Reader }

// Size implements imap.LiteralReader.
func (l literal) Size() int64 { return int64(l.Len()) }

// session is a session of the memory server that marks the folder of sent mail.
type session struct {
	imapserver.Session
	server *Server
	marked bool
	conn   *imapserver.Conn
}

// ErrHangUp is an error of Poisoned.
var ErrHangUp = errors.New("the server hangs up")

// Fetch implements imapserver.Session.
func (s *session) Fetch(w *imapserver.FetchWriter, set imap.NumSet, o *imap.FetchOptions) error {
	uids, ok := set.(imap.UIDSet)
	if !ok || s.server.Poisoned == nil || len(o.BodySection) == 0 {
		return s.Session.Fetch(w, set, o)
	}
	all, _ := uids.Nums()
	for _, uid := range all {
		err := s.server.Poisoned(uint32(uid))
		if errors.Is(err, ErrHangUp) {
			_ = s.conn.NetConn().Close()
		}
		if err != nil {
			return &imap.Error{Type: imap.StatusResponseTypeNo, Text: err.Error()}
		}
	}
	return s.Session.Fetch(w, set, o)
}

// List implements imapserver.Session.
func (s *session) List(w *imapserver.ListWriter, ref string, patterns []string, o *imap.ListOptions) error {
	if !s.marked {
		return s.Session.List(w, ref, patterns, o)
	}
	for name, attrs := range map[string][]imap.MailboxAttr{
		"INBOX": nil, "Sent": {imap.MailboxAttrNoSelect}, s.server.sent: {imap.MailboxAttrSent},
	} {
		if err := w.WriteList(&imap.ListData{Attrs: attrs, Delim: '/', Mailbox: name}); err != nil {
			return err
		}
	}
	return nil
}

// tokenSession signs in by XOAUTH2 only.
type tokenSession struct{ session }

// AuthenticateMechanisms implements imapserver.SessionSASL.
func (s *tokenSession) AuthenticateMechanisms() []string { return []string{"XOAUTH2"} }

// Authenticate implements imapserver.SessionSASL.
func (s *tokenSession) Authenticate(string) (sasl.Server, error) { return &xoauth2{s: s}, nil }

var errRefused = errors.New("wrong token")

type xoauth2 struct{ s *tokenSession }

// Next implements sasl.Server.
func (x *xoauth2) Next(response []byte) (challenge []byte, done bool, err error) {
	if response == nil {
		return []byte{}, false, nil
	}
	if !strings.HasSuffix(string(response), "\x01auth=Bearer "+*x.s.server.token.Load()+"\x01\x01") {
		return nil, false, errRefused
	}
	return nil, true, x.s.Login(User, Password)
}
