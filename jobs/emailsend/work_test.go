package emailsend_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

func TestWhatBecomesOfAnEmailFollowsFromTheServersAnswer(t *testing.T) {
	t.Parallel()
	type want struct {
		Status             string
		Accepted           int
		Retried, Postponed bool
		Reconciles         int
		Events             string
		Suppressed         int
	}
	for name, c := range map[string]struct {
		fault smtpd.Fault
		want  want
	}{
		"taken": {smtpd.Fault{}, want{Status: "sent", Accepted: 1, Events: "email.sent"}},
		"no such user": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 1, 1}},
			want{Status: "failed rejected", Events: "email.failed", Suppressed: 1},
		},
		"refused by policy": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 7, 1}},
			want{Status: "failed rejected", Events: "email.failed"},
		},
		"busy": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 451, Class: smtp.EnhancedCode{4, 2, 1}},
			want{Status: "planned", Retried: true},
		},
		"mailbox turned away": {
			smtpd.Fault{At: smtpd.Rcpt, Code: 421, Class: smtp.EnhancedCode{4, 7, 0}},
			want{Status: "planned", Postponed: true},
		},
		"dies in the body":  {smtpd.Fault{At: smtpd.Body, Hang: true}, want{Status: "planned", Retried: true}},
		"4yz after the dot": {smtpd.Fault{At: smtpd.Dot, Code: 451}, want{Status: "planned", Retried: true}},
		"5yz after the dot": {
			smtpd.Fault{At: smtpd.Dot, Code: 554}, want{Status: "failed rejected", Events: "email.failed"},
		},
		"accepts and drops": {
			smtpd.Fault{At: smtpd.Dot, Hang: true, Accept: true},
			want{"unknown no_reply", 1, false, false, 1, "email.unknown", 0},
		},
		"drops with the dot": {
			smtpd.Fault{At: smtpd.Dot, Hang: true}, want{"unknown no_reply", 0, false, false, 1, "email.unknown", 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			if c.fault.At == smtpd.Body { // more than what is between the two
				p.text = strings.Repeat("Hello\n", 1<<20)
			}
			p.server.Fail(func(string) smtpd.Fault { return c.fault })
			email := p.write("ada@example.com")
			err := p.run(t.Context(), email)
			got := want{
				Status: p.status(email), Accepted: len(p.server.Accepted()), Retried: err != nil && !snoozed(err),
				Postponed:  snoozed(err),
				Reconciles: p.count(`job WHERE kind = 'email.reconcile'`), Suppressed: p.count("suppression"),
			}
			p.scan(`SELECT coalesce(string_agg(type, ' '), '') FROM event`, &got.Events)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if n := p.count(`job_line WHERE held_until > now()`); (n == 1) != c.want.Postponed {
				t.Errorf("%d circuits are open", n)
			}
			p.server.Fail(nil)
			if c.want.Status != "planned" {
				return
			}
			if err := p.run(t.Context(), email); err != nil || p.status(email) != "sent" {
				t.Errorf("the second attempt: %v, %s", err, p.status(email))
			}
		})
	}
}

// TestAnAnswerThatComesLateCountsUntilTheTimeLimit has the server answer the dot late, with time limits of some hundred
// milliseconds in place of ten minutes.
func TestAnAnswerThatComesLateCountsUntilTheTimeLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit time.Duration
		want  string
	}{
		"within the limit": {time.Minute, "sent"},
		"after the limit":  {200 * time.Millisecond, "unknown no_reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			p.job.Dialer.DotTimeout = c.limit
			late := make(chan struct{})
			p.server.Fail(func(string) smtpd.Fault { return smtpd.Fault{Wait: late} })
			email := p.write("ada@example.com")
			if c.limit > time.Second {
				time.AfterFunc(600*time.Millisecond, func() { close(late) })
			}
			if err := p.run(t.Context(), email); err != nil || p.status(email) != c.want {
				t.Errorf("%v, %s, want %s", err, p.status(email), c.want)
			}
			if c.limit < time.Second {
				close(late) // later than any limit, however slow the machine is
			}
			for end := time.Now().Add(5 * time.Minute); len(p.server.Accepted()) == 0 && time.Now().Before(end); {
				<-time.After(10 * time.Millisecond)
			}
			if n := len(p.server.Accepted()); n != 1 {
				t.Errorf("%d accepted", n)
			}
			p.server.Fail(nil)
			if n := p.count(`job WHERE kind = 'email.send'`); n != 0 {
				t.Errorf("%d jobs would send it again", n)
			}
		})
	}
}

func TestAnEmailOfARunThatIsGoneIsUnknownAndNotSentAgain(t *testing.T) {
	t.Parallel()
	p := open(t)
	email := p.write("ada@example.com")
	out, err := p.emails.Begin(t.Context(), p.App, p.org, email, id.New())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.emails.Mark(t.Context(), p.App, out, nil, "true"); err != nil {
		t.Fatal(err)
	}
	if err := p.run(t.Context(), email); err != nil {
		t.Fatal(err)
	}
	if got := p.status(email); got != "unknown interrupted" || len(p.server.Accepted()) != 0 {
		t.Errorf("status %s, %d accepted", got, len(p.server.Accepted()))
	}
	if n := p.count(`job WHERE kind = 'email.reconcile'`); n != 1 {
		t.Errorf("%d reconciliations", n)
	}
}

func TestAMailboxThatMayNotSendPostponesItsEmails(t *testing.T) {
	t.Parallel()
	p := open(t)
	email := p.write("ada@example.com")
	p.exec(`UPDATE mailbox SET status = 'held', held_until = now() + interval '1 hour'`)
	if err := p.run(t.Context(), email); !snoozed(err) || p.status(email) != "planned" {
		t.Errorf("%v, %s", err, p.status(email))
	}
	p.exec(`UPDATE mailbox SET status = 'active', daily_cap = 1`)
	if err := p.run(t.Context(), email); err != nil || p.status(email) != "sent" {
		t.Errorf("%v, %s", err, p.status(email))
	}
	next := p.write("eve@example.com")
	if err := p.run(t.Context(), next); !snoozed(err) || len(p.server.Accepted()) != 1 {
		t.Errorf("above the cap: %v, %d accepted", err, len(p.server.Accepted()))
	}
}

func TestAMailboxWhoseMailsBounceIsDisabled(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.server.Fail(func(string) smtpd.Fault {
		return smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 1, 1}}
	})
	for _, to := range []string{"a@example.com", "b@example.com", "c@example.com", "d@example.com"} {
		if n := p.count(`mailbox WHERE status = 'disabled'`); n != 0 {
			t.Fatalf("disabled before %s", to)
		}
		if err := p.run(t.Context(), p.write(to)); err != nil {
			t.Fatal(err)
		}
	}
	n := p.count(`mailbox WHERE status = 'disabled' AND status_reason = 'bounce_rate' AND health_bounced = 4`)
	if n != 1 {
		t.Error("four of four mails bounced, and the mailbox still sends")
	}
	if n := p.count(`event WHERE type = 'mailbox.disabled'`); n != 1 {
		t.Errorf("announced %d times", n)
	}
}

// TestARelayGetsItsMailsAtItsRate sends with 4 connections. A mail arrives after its moment, however slow the machine
// is, so no mail arrives before all moments up to its own.
func TestARelayGetsItsMailsAtItsRate(t *testing.T) {
	t.Parallel()
	const rate, connections, each = 10, 4, 4
	p := open(t)
	p.exec(`UPDATE mailbox SET daily_cap = NULL, rate_per_second = $1, gap_min = 0, gap_max = 0`, rate)
	var claims []*queue.Claimed
	for i := range connections * each {
		email := p.write(fmt.Sprintf("%d@example.com", i))
		var job id.ID
		p.scan(`SELECT id FROM job WHERE args ->> 'email' = $1::text`, &job, email.String())
		p.exec(`UPDATE job SET due = true, wake_at = coalesce(wake_at, now()) WHERE id = $1`, job)
		c, err := p.store.Claim(t.Context(), p.org, job)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	began := time.Now()
	var all sync.WaitGroup
	for n := range connections {
		all.Go(func() {
			for _, c := range claims[n*each : (n+1)*each] {
				if err := p.job.Handler().Call(t.Context(), c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	log := p.server.Accepted()
	if len(log) != connections*each {
		t.Fatalf("%d mails were accepted", len(log))
	}
	for i := range log {
		if d := log[i].At.Sub(began); d < time.Duration(i)*time.Second/rate {
			t.Errorf("%d mails were accepted within %s", i+1, d)
		}
	}
	t.Logf("%d mails in %s", len(log), log[len(log)-1].At.Sub(log[0].At))
}
