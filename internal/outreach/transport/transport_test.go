package transport_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

var body = []byte("Message-ID: <1@shop.example>\r\nSubject: Hello\r\n\r\nHello\r\n.\r\nWorld\r\n" +
	strings.Repeat("x\r\n", 5000))

func private() *transport.Dialer {
	return &transport.Dialer{AllowPrivate: true, Timeout: 10 * time.Second, DotTimeout: 10 * time.Second}
}

func marks(count *int) func(context.Context) error {
	return func(context.Context) error {
		*count++
		return nil
	}
}

func connect(t *testing.T, d *transport.Dialer, s *smtpd.Server) *transport.Conn {
	t.Helper()
	c, failure := d.Connect(t.Context(), transport.Server{Host: s.Host, Port: s.Port, TLS: transport.Plain})
	if failure != nil {
		t.Fatalf("%+v", *failure)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheOutcomeFollowsFromTheStageAndTheReply(t *testing.T) {
	t.Parallel()
	type want struct {
		Outcome  transport.Outcome
		Stage    transport.Stage
		Reply    string
		Hold     bool
		Marks    int
		Accepted int
	}
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	for name, c := range map[string]struct {
		fault smtpd.Fault
		want  want
	}{
		"taken": {smtpd.Fault{}, want{transport.Sent, transport.Dot, "", false, 1, 1}},
		"taken with another code": {
			smtpd.Fault{At: smtpd.Dot, Code: 252, Accept: true}, want{transport.Sent, transport.Dot, "", false, 1, 1},
		},
		"no such user": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 1, 1}},
			want{transport.NotSentPermanent, transport.Rcpt, "550 5.1.1 as the test says", false, 0, 0},
		},
		"mailbox full": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 452, Class: smtp.EnhancedCode{4, 2, 2}},
			want{transport.NotSentTemporary, transport.Rcpt, "452 4.2.2 as the test says", false, 0, 0},
		},
		"too many mails": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 450, Class: smtp.EnhancedCode{4, 7, 1}},
			want{transport.NotSentTemporary, transport.Rcpt, "450 4.7.1 as the test says", true, 0, 0},
		},
		"going away": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 421, Class: smtp.EnhancedCode{4, 3, 2}},
			want{transport.NotSentTemporary, transport.Rcpt, "421 4.3.2 as the test says", true, 0, 0},
		},
		"hangs up after RCPT": {
			smtpd.Fault{At: smtpd.Rcpt, Hang: true},
			want{transport.NotSentTemporary, transport.Rcpt, "", false, 0, 0},
		},
		"refused after the dot": {
			smtpd.Fault{At: smtpd.Dot, Code: 554, Class: smtp.EnhancedCode{5, 6, 0}},
			want{transport.NotSentPermanent, transport.Dot, "554 5.6.0 as the test says", false, 1, 0},
		},
		"later after the dot": {
			smtpd.Fault{At: smtpd.Dot, Code: 451, Class: smtp.EnhancedCode{4, 3, 0}},
			want{transport.NotSentTemporary, transport.Dot, "451 4.3.0 as the test says", false, 1, 0},
		},
		"taken, then the line is lost": {
			smtpd.Fault{At: smtpd.Dot, Hang: true, Accept: true},
			want{transport.Unknown, transport.Dot, "", false, 1, 1},
		},
		"lost before it is taken": {
			smtpd.Fault{At: smtpd.Dot, Hang: true},
			want{transport.Unknown, transport.Dot, "", false, 1, 0},
		},
		"no reply in time": {
			smtpd.Fault{Wait: never},
			want{transport.Unknown, transport.Dot, "", false, 1, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smtpd.Start(t, nil)
			s.Fail(func(string) smtpd.Fault { return c.fault })
			d := private()
			if c.fault.Wait != nil {
				d.DotTimeout = 100 * time.Millisecond
			}
			marked := 0
			to := transport.Envelope{From: "a@shop.example", To: "b@acme.example"}
			r := connect(t, d, s).Send(t.Context(), to, body,
				marks(&marked))
			got := want{r.Outcome, r.Stage, r.Reply.String(), r.Hold, marked, len(s.Accepted())}
			if r.Outcome == transport.Sent {
				got.Reply = ""
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\nerror: %v", diff, r.Err)
			}
		})
	}
}

func TestARefusedMarkSendsNothing(t *testing.T) {
	t.Parallel()
	s := smtpd.Start(t, nil)
	c := connect(t, private(), s)
	suppressed := errors.New("suppressed")
	for _, b := range [][]byte{body, []byte("Subject: short\r\n\r\nHi\r\n")} {
		r := c.Send(t.Context(), transport.Envelope{From: "a@shop.example", To: "b@acme.example"}, b,
			func(context.Context) error { return suppressed })
		if r.Outcome != transport.MarkRefused || !errors.Is(r.Err, suppressed) {
			t.Errorf("%+v", r)
		}
		c = connect(t, private(), s)
	}
	r := c.Send(t.Context(), transport.Envelope{From: "a@shop.example", To: "b@acme.example"}, body, marks(new(int)))
	if got := s.Accepted(); r.Outcome != transport.Sent || len(got) != 1 {
		t.Errorf("%+v, %d accepted", r, len(got))
	}
}

func TestTheBodyArrivesAsItIsAndAConnectionSendsSeveralMails(t *testing.T) {
	t.Parallel()
	s := smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.User, s.Password = "ada", "secret" })
	c, failure := private().Connect(t.Context(),
		transport.Server{Host: s.Host, Port: s.Port, TLS: transport.Plain, Username: "ada", Password: "secret"})
	if failure != nil {
		t.Fatalf("%+v", *failure)
	}
	for range 3 {
		if r := c.Send(t.Context(), transport.Envelope{From: "a@shop.example", To: "b@acme.example"}, body,
			marks(new(int))); r.Outcome != transport.Sent {
			t.Fatalf("%+v", r)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	got := s.Accepted()
	if len(got) != 3 || s.Sessions() != 1 {
		t.Fatalf("%d mails over %d connections", len(got), s.Sessions())
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(body), "\r\n", "\n"),
		strings.ReplaceAll(string(got[2].Raw), "\r\n", "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestARefusedSignInHoldsTheMailbox(t *testing.T) {
	t.Parallel()
	s := smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.User, s.Password = "ada", "secret" })
	_, r := private().Connect(t.Context(),
		transport.Server{Host: s.Host, Port: s.Port, TLS: transport.Plain, Username: "ada", Password: "wrong"})
	if r == nil || r.Outcome != transport.NotSentTemporary || r.Stage != transport.Auth || !r.Hold ||
		r.Reply.Code != 535 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNotAPublicMailServerIsNotDialled(t *testing.T) {
	t.Parallel()
	s := smtpd.Start(t, nil)
	d := &transport.Dialer{}
	for _, c := range []struct {
		host string
		port int
		want error
	}{
		{"127.0.0.1", 25, transport.ErrHost},
		{"localhost", 25, transport.ErrHost},
		{"10.0.0.1", 587, transport.ErrHost},
		{"[::1]", 25, transport.ErrHost},
		{"0x7f.1", 25, transport.ErrHost},
		{"169.254.169.254", 25, transport.ErrHost},
		{"mail.example.com", 80, transport.ErrPort},
		{"mail.example.com", 6379, transport.ErrPort},
		{"mail.example.com", 587, nil},
	} {
		if err := d.CheckAddress(c.host, c.port); !errors.Is(err, c.want) {
			t.Errorf("%s:%d: %v, want %v", c.host, c.port, err, c.want)
		}
	}
	if _, r := d.Connect(t.Context(), transport.Server{Host: s.Host, Port: s.Port, TLS: transport.Plain}); r == nil ||
		r.Outcome != transport.NotSentPermanent {
		t.Errorf("%+v", r)
	}
	if s.Sessions() != 0 {
		t.Error("the server was connected to")
	}
}
