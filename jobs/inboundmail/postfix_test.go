package inboundmail_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// listen starts a listener for incoming mails, and returns its port.
func (p *post) listen(t *testing.T) int {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&listener.Server{Inbound: p.inbound, Log: testkit.Log(t)}).Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	at, _ := ln.Addr().(*net.TCPAddr)
	return at.Port
}

// send sends an email by the mailbox's server, with the job that does so.
func (p *post) send(t *testing.T, email id.ID, port int) {
	t.Helper()
	p.exec(`UPDATE mailbox SET kind = 'smtp', smtp_host = '127.0.0.1', smtp_port = $1, smtp_tls = 'none'`, port)
	p.exec(`UPDATE email SET status = 'planned', marked_at = NULL, sent_at = NULL WHERE id = $1`, email)
	box := p.inbound.Box
	job := emailsend.Job{
		DB: p.App, Dialer: &transport.Dialer{AllowPrivate: true},
		Emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box, AllowPrivate: true},
			Suppressions: &suppression.Service{Box: box},
		},
	}
	fence := id.New()
	c := &queue.Claimed{ID: id.New(), Org: p.org, Fence: &fence, Attempt: 1, MaxAttempts: 8}
	p.exec(`INSERT INTO job (org_id, id, kind, args, lane, max_attempts, owner, lease_until)
		VALUES ($1, $2, 'email.send', '{}', 'default', 8, $3, now() + interval '1 minute')`, c.Org, c.ID, fence)
	run := &queue.Run[emailsend.Args]{Claimed: c, Args: emailsend.Args{Email: email}}
	if err := job.Work(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := p.App.Tx(t.Context(), p.org, func(tx *postgres.Tx) error {
		return c.WriteEffects(t.Context(), tx)
	}); err != nil {
		t.Fatal(err)
	}
	if p.count(`email WHERE id = $1 AND status = 'sent' AND server_id <> ''`, email) != 1 {
		t.Fatal("the relay has not accepted the mail under an id of its own")
	}
}

// awaitMessage waits until a message arrives by SMTP.
func (p *post) awaitMessage(t *testing.T) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for p.count(`message WHERE via = 'smtp'`) == 0 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("no report has arrived")
		}
	}
}

// A real round trip: our send, Debian's Postfix, a server that does not know the recipient, Postfix's own report, and
// our listener.
func TestARealReportOfPostfixSuppressesTheAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code       int
		class      smtp.EnhancedCode
		bounced    string
		suppressed int
	}{
		"no such user": {550, smtp.EnhancedCode{5, 1, 1}, "hard", 1},
		"mailbox full": {452, smtp.EnhancedCode{4, 2, 2}, "soft", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, "hello@shop.example")
			far := smtpd.Start(t, nil)
			far.Fail(func(string) smtpd.Fault {
				return smtpd.Fault{At: smtpd.Rcpt, Code: c.code, Class: c.class}
			})
			port := testkit.Postfix(t, fmt.Sprintf(`virtual_alias_domains =
virtual_alias_maps = inline:{ { hello@shop.example = %s@in.example } }
transport_maps = inline:{ { in.example = smtp:[127.0.0.1]:%d }, { example.com = smtp:[127.0.0.1]:%d } }
`, p.token(t), p.listen(t), far.Port))
			p.send(t, p.sent.ID, port)
			p.awaitMessage(t)
			p.process()
			if p.count(`message WHERE class = 'bounce' AND bounce = $1 AND match = 'references' AND email_id = $2`,
				c.bounced, p.sent.ID) != 1 {
				t.Error("the report is not read as a bounce of the email")
			}
			if p.count(`email WHERE id = $1 AND bounced = $2`, p.sent.ID, c.bounced) != 1 {
				t.Error("the email has not bounced")
			}
			if n := p.count(`suppression WHERE org_id = $1 AND reason = 'hard_bounce'`, p.org); n != c.suppressed {
				t.Errorf("%d suppressions, want %d", n, c.suppressed)
			}
		})
	}
}

// token gives the mailbox a new inbound address and returns its token.
func (p *post) token(t *testing.T) (token string) {
	t.Helper()
	boxes := &mailboxes.Service{Box: p.inbound.Box}
	if err := p.App.Tx(t.Context(), p.org, func(tx *postgres.Tx) (err error) {
		_, token, err = boxes.RotateToken(t.Context(), tx, p.box)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return token
}
