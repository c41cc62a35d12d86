package submission

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

func marked(context.Context) error { return nil }

func connector() *Connector {
	return &Connector{Dialer: &transport.Dialer{AllowPrivate: true}, Idle: &Idle{}}
}

func boxOn(host string, port int) *mailboxes.Sending {
	return &mailboxes.Sending{ID: id.New(), Kind: "smtp", Host: host, Port: port, TLS: transport.Plain}
}

func (c *Connector) mail(t *testing.T, m *mailboxes.Sending, to string) transport.Result {
	t.Helper()
	body := []byte("Message-ID: <" + to + ">\r\nTo: " + to + "\r\n\r\nGood day\r\n")
	return c.Send(t.Context(), id.ID{}, m, transport.Envelope{From: "a@shop.example", To: to}, body, marked)
}

func TestTheMailsOfAMailboxUseOneConnectionUpToALimit(t *testing.T) {
	t.Parallel()
	server, c := smtpd.Start(t, nil), connector()
	box := boxOn(server.Host, server.Port)
	for n := range maxMails + 2 {
		if r := c.mail(t, box, fmt.Sprintf("%d@example.com", n)); r.Outcome != transport.Sent {
			t.Fatalf("mail %d: %+v", n, r)
		}
	}
	if n := server.Sessions(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	if r := c.mail(t, boxOn(server.Host, server.Port), "b@example.com"); r.Outcome != transport.Sent {
		t.Fatalf("%+v", r)
	}
	if n := server.Sessions(); n != 3 {
		t.Errorf("another mailbox has not got a connection of its own: %d", n)
	}
	if n := len(server.Accepted()); n != maxMails+3 {
		t.Errorf("%d mails accepted", n)
	}
}

func TestOtherCredentialsDoNotUseAConnection(t *testing.T) {
	t.Parallel()
	server := smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.User, s.Password = "ada", "right" })
	c, box := connector(), boxOn(server.Host, server.Port)
	box.Username, box.Password = "ada", secret.Text("right")
	if r := c.mail(t, box, "b@example.com"); r.Outcome != transport.Sent {
		t.Fatalf("%+v", r)
	}
	box.Password = secret.Text("wrong")
	if r := c.mail(t, box, "c@example.com"); r.Stage != transport.Auth || r.Outcome != transport.NotSentTemporary {
		t.Errorf("%+v", r)
	}
}

func TestAConnectionThatHasRefusedAMailIsNotKept(t *testing.T) {
	t.Parallel()
	server, c := smtpd.Start(t, nil), connector()
	server.Fail(func(to string) smtpd.Fault {
		if to == "no@example.com" {
			return smtpd.Fault{At: smtpd.Rcpt, Code: 550}
		}
		return smtpd.Fault{}
	})
	box := boxOn(server.Host, server.Port)
	if r := c.mail(t, box, "no@example.com"); r.Outcome != transport.NotSentPermanent {
		t.Errorf("%+v", r)
	}
	if r := c.mail(t, box, "b@example.com"); r.Outcome != transport.Sent || server.Sessions() != 2 {
		t.Errorf("%+v, %d connections", r, server.Sessions())
	}
}

// relay passes connections on to a server, and ends them on demand.
type relay struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (r *relay) start(t *testing.T, to string) (host string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			on, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, from, on)
			r.mu.Unlock()
			all.Go(func() { _, _ = io.Copy(on, from) })
			all.Go(func() { _, _ = io.Copy(from, on) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.end()
		all.Wait()
	})
	address, _ := l.Addr().(*net.TCPAddr)
	return "127.0.0.1", address.Port
}

func (r *relay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

func TestAMailIsSentOnceAlthoughTheServerHasEndedTheIdleConnection(t *testing.T) {
	t.Parallel()
	server, c := smtpd.Start(t, nil), connector()
	var between relay
	box := boxOn(between.start(t, net.JoinHostPort(server.Host, strconv.Itoa(server.Port))))
	for n := range 3 {
		if r := c.mail(t, box, fmt.Sprintf("%d@example.com", n)); r.Outcome != transport.Sent {
			t.Fatalf("mail %d: %+v", n, r)
		}
		between.end()
	}
	if accepted, sessions := len(server.Accepted()), server.Sessions(); accepted != 3 || sessions != 3 {
		t.Errorf("%d mails accepted in %d sessions", accepted, sessions)
	}
}

// A server that has taken a mail on a connection that was idle, and dies before it replies, gets the mail once.
func TestAMailWhoseFateIsUnknownIsNotSentAgainOnAnotherConnection(t *testing.T) {
	t.Parallel()
	server, c := smtpd.Start(t, nil), connector()
	server.Fail(func(to string) smtpd.Fault {
		switch to {
		case "dies@example.com":
			return smtpd.Fault{At: smtpd.Dot, Hang: true, Accept: true}
		case "later@example.com":
			return smtpd.Fault{At: smtpd.Rcpt, Code: 450}
		}
		return smtpd.Fault{}
	})
	box := boxOn(server.Host, server.Port)
	for _, to := range []string{"dies@example.com", "later@example.com"} {
		if r := c.mail(t, box, "b@example.com"); r.Outcome != transport.Sent {
			t.Fatalf("%+v", r)
		}
		before, marks := server.Sessions(), 0
		e := transport.Envelope{From: "a@shop.example", To: to}
		r := c.Send(t.Context(), id.ID{}, box, e, []byte("Subject: x\r\n\r\nx\r\n"), func(context.Context) error {
			marks++
			return nil
		})
		if want := map[string]transport.Outcome{
			"dies@example.com": transport.Unknown, "later@example.com": transport.NotSentTemporary,
		}[to]; r.Outcome != want || marks > 1 || server.Sessions() != before {
			t.Errorf("%s: %+v, %d marks, %d further connections", to, r, marks, server.Sessions()-before)
		}
	}
	taken := 0
	for _, a := range server.Accepted() {
		if a.To == "dies@example.com" {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("the mail was taken %d times", taken)
	}
}

func TestManyMailsAtOnceHaveNoMoreConnectionsThanThereAreSenders(t *testing.T) {
	t.Parallel()
	const senders, mails = 10, 20
	server, c := smtpd.Start(t, nil), connector()
	box := boxOn(server.Host, server.Port)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for n := range mails {
				if r := c.mail(t, box, fmt.Sprintf("%d-%d@example.com", s, n)); r.Outcome != transport.Sent {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, a := range server.Accepted() {
		seen[a.To] = true
	}
	if len(seen) != senders*mails || len(server.Accepted()) != senders*mails || server.Sessions() > senders {
		t.Errorf("%d recipients, %d mails, %d connections", len(seen), len(server.Accepted()), server.Sessions())
	}
}

func TestAnIdleConnectionExpires(t *testing.T) {
	t.Parallel()
	server, c := smtpd.Start(t, nil), connector()
	box := boxOn(server.Host, server.Port)
	c.mail(t, box, "b@example.com")
	for k, all := range c.Idle.conns {
		c.Idle.expire(k, all[0])
		c.Idle.expire(k, all[0]) // a timer that comes too late finds nothing
	}
	if c.Idle.n != 0 || len(c.Idle.conns) != 0 {
		t.Errorf("%d connections are kept", c.Idle.n)
	}
	if r := c.mail(t, box, "c@example.com"); r.Outcome != transport.Sent || server.Sessions() != 2 {
		t.Errorf("%+v, %d connections", r, server.Sessions())
	}
}
