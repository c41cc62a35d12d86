package emailsend_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

// senderReply is a row of the table of what servers say of a sender.
type senderReply struct {
	provider, line, reason string
	fault                  smtpd.Fault
}

// senderReplies reads the table. The test server has no faults before MAIL, so a reply of an earlier stage comes there.
func senderReplies(t *testing.T) (all []senderReply) {
	t.Helper()
	text, err := os.ReadFile("../../internal/outreach/diagnosis/testdata/sender_replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]smtpd.Stage{
		"connect": smtpd.Mail, "auth": smtpd.Mail, "mail": smtpd.Mail, "rcpt": smtpd.Rcpt, "data": smtpd.Dot,
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		c := strings.Split(line, "|")
		for i := range c {
			c[i] = strings.TrimSpace(c[i])
		}
		code, err := strconv.Atoi(c[2])
		if err != nil || stages[c[1]] == 0 {
			t.Fatal(line)
		}
		r := senderReply{c[0], line, c[5], smtpd.Fault{
			At: stages[c[1]], Code: code, Class: smtp.NoEnhancedCode, Text: c[4],
		}}
		if c[3] != "" {
			for i, part := range strings.Split(c[3], ".") {
				if r.fault.Class[i], err = strconv.Atoi(part); err != nil {
					t.Fatal(line)
				}
			}
		}
		all = append(all, r)
	}
	return all
}

// free makes the mailbox as it is once the limit has ended.
func (p *post) free() {
	p.Helper()
	p.exec(`UPDATE mailbox SET held_until = now() - interval '1 second' WHERE held_until IS NOT NULL`)
}

func TestNoMailIsBurntByWhatAServerSaysOfItsSender(t *testing.T) {
	t.Parallel()
	p := open(t)
	all := senderReplies(t)
	if len(all) < 60 {
		t.Errorf("the table has %d replies", len(all))
	}
	for i, row := range all {
		p.exec(`UPDATE mailbox SET status = 'active', status_reason = '', held_until = NULL, refusals = 0`)
		email := p.write("ada" + strconv.Itoa(i) + "@example.com")
		p.server.Fail(func(string) smtpd.Fault { return row.fault })
		if err := p.run(t.Context(), email); !snoozed(err) {
			t.Errorf("%s: %v", row.line, err)
		}
		var attempts int
		p.scan(`SELECT attempt FROM job WHERE args ->> 'email' = $1::text`, &attempts, email.String())
		if got := p.status(email); got != "planned" || attempts != 0 {
			t.Errorf("%s: %s after %d attempts", row.line, got, attempts)
		}
		var state string
		p.scan(`SELECT status || ' ' || status_reason || ' ' || coalesce(held_until > now(), false)::text FROM `+
			`mailbox WHERE id = $1`,
			&state, p.mailbox)
		if want := "held " + row.reason + " true"; row.reason != "sending_rate" && state != want {
			t.Errorf("%s: the mailbox is %s, want %s", row.line, state, want)
		} else if row.reason == "sending_rate" && p.count(`job_line WHERE held_until > now()`) != 1 {
			t.Errorf("%s: the circuit is closed", row.line)
		}

		p.server.Fail(nil)
		p.free()
		if err := p.run(t.Context(), email); err != nil || p.status(email) != "sent" {
			t.Errorf("%s: %v, %s", row.line, err, p.status(email))
		}
	}
	if n := p.count(`suppression`); n != 0 {
		t.Errorf("%d addresses are suppressed", n)
	}
	if n := len(p.server.Accepted()); n != len(all) {
		t.Errorf("the server has taken %d mails of %d", n, len(all))
	}
}

func TestAMailboxThatIsRefusedIsTriedEverMoreSeldom(t *testing.T) {
	t.Parallel()
	p := open(t)
	email := p.write("ada@example.com")
	p.server.Fail(func(string) smtpd.Fault {
		return smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 7, 1}, Text: "Unable to relay"}
	})
	for _, minutes := range []int{15, 60, 240, 360, 360} {
		if err := p.run(t.Context(), email); !snoozed(err) {
			t.Fatal(err)
		}
		var held int
		p.scan(`SELECT round(extract(epoch FROM held_until - now()) / 60)::int FROM mailbox WHERE id = $1`, &held,
			p.mailbox)
		if held != minutes {
			t.Errorf("held for %d minutes, want %d", held, minutes)
		}
		p.free()
	}
	var detail string
	p.scan(`SELECT refusal_reply FROM mailbox WHERE id = $1`, &detail, p.mailbox)
	if detail != "550 5.7.1 Unable to relay" {
		t.Error(detail)
	}
	p.server.Fail(nil)
	if err := p.run(t.Context(), email); err != nil {
		t.Fatal(err)
	}
	if p.count(`mailbox WHERE refusals > 0`) != 0 {
		t.Error("the refusals are not forgotten")
	}
}

// A server that passes mails on while it reads them gives the reply of the recipient's server: one recipient must not
// hold the mails to all others for ever.
func TestARefusalThatOnlyOneMailGetsIsItsOwn(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.server.Fail(func(to string) smtpd.Fault {
		if to != "odd@example.com" {
			return smtpd.Fault{}
		}
		return smtpd.Fault{
			At: smtpd.Dot, Code: 554, Class: smtp.EnhancedCode{5, 7, 1}, Text: "Client host blocked using a block list",
		}
	})
	odd := p.write("odd@example.com")
	for i := range 3 {
		if p.status(odd) != "planned" {
			t.Fatalf("the mail is %s after %d refusals", p.status(odd), i)
		}
		if err := p.run(t.Context(), odd); !snoozed(err) {
			t.Fatal(err)
		}
		p.free()
		other := p.write("ada" + strconv.Itoa(i) + "@example.com")
		if err := p.run(t.Context(), other); err != nil || p.status(other) != "sent" {
			t.Fatalf("%v: %s", err, p.status(other))
		}
	}
	if got := p.status(odd); got != "failed rejected" {
		t.Error(got)
	}
	if p.count(`suppression`) != 0 {
		t.Error("the address is suppressed")
	}
}

func TestARefusalLeavesAMailboxThatAPersonHoldsOrThatIsDisabled(t *testing.T) {
	t.Parallel()
	p := open(t)
	for _, state := range []string{`'held', status_reason = 'held_by_user'`, `'disabled', status_reason = ` +
		`'bounce_rate'`} {
		email := p.write(id.New().String() + "@example.com")
		p.server.Fail(func(string) smtpd.Fault {
			p.exec(`UPDATE mailbox SET held_until = NULL, status = ` + state)
			return smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 4, 5}, Text: "Daily sending " +
				"limit"}
		})
		if err := p.run(t.Context(), email); !snoozed(err) {
			t.Error(err)
		}
		if p.count(`mailbox WHERE held_until IS NULL AND status = `+strings.Replace(state, ",", " AND", 1)) != 1 {
			t.Errorf("the mailbox is no longer %s", state)
		}
		p.exec(`UPDATE mailbox SET status = 'active', status_reason = ''`)
	}
}

func TestAMailDoesNotBecomeLateWhileItsMailboxMayNotSend(t *testing.T) {
	t.Parallel()
	for _, state := range []string{
		`status = 'held', status_reason = 'held_by_user'`, `status = 'held', held_until = now() + interval '1 hour'`,
		`status = 'disabled', status_reason = 'bounce_rate'`,
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			email := p.write("ada@example.com")
			p.exec(`UPDATE email SET due_at = now() - interval '40 hours'`)
			p.exec(`UPDATE mailbox SET verified_at = now(), ` + state)
			if err := p.run(t.Context(), email); !snoozed(err) || p.status(email) != "planned" {
				t.Fatalf("%v: %s", err, p.status(email))
			}
			p.resume()
			if err := p.run(t.Context(), email); err != nil || p.status(email) != "sent" {
				t.Errorf("%v: %s", err, p.status(email))
			}
		})
	}
}

func TestOnlyTheAddressIsSuppressedForWhatASessionSaysOfIt(t *testing.T) {
	t.Parallel()
	p := open(t)
	for i, c := range []struct {
		fault  smtpd.Fault
		isHard bool
	}{
		{smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.NoEnhancedCode, Text: "No such user"}, true},
		{smtpd.Fault{At: smtpd.Rcpt, Code: 553, Class: smtp.EnhancedCode{5, 3, 0}, Text: "No such user here"}, true},
		{smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 7, 1}, Text: "Recipient unknown"}, true},
		{smtpd.Fault{At: smtpd.Dot, Code: 550, Class: smtp.EnhancedCode{5, 1, 1}, Text: "User unknown"}, true},
		{smtpd.Fault{At: smtpd.Rcpt, Code: 550, Class: smtp.EnhancedCode{5, 1, 1}, Text: "Mailbox over quota"}, false},
		{smtpd.Fault{At: smtpd.Rcpt, Code: 552, Class: smtp.EnhancedCode{5, 2, 2}, Text: "Mailbox full"}, false},
		{smtpd.Fault{At: smtpd.Dot, Code: 552, Class: smtp.EnhancedCode{5, 3, 4}, Text: "Message too large"}, false},
		{smtpd.Fault{At: smtpd.Dot, Code: 554, Class: smtp.EnhancedCode{5, 7, 1}, Text: "Spam content"}, false},
		{smtpd.Fault{At: smtpd.Dot, Code: 550, Class: smtp.NoEnhancedCode, Text: "Sorry"}, false},
	} {
		email := p.write("ada" + strconv.Itoa(i) + "@example.com")
		p.server.Fail(func(string) smtpd.Fault { return c.fault })
		if err := p.run(t.Context(), email); err != nil || p.status(email) != "failed rejected" {
			t.Errorf("%+v: %v, %s", c.fault, err, p.status(email))
		}
		n := p.count(`suppression`)
		p.exec(`DELETE FROM suppression`)
		p.exec(`UPDATE mailbox SET status = 'active', status_reason = ''`) // it is disabled for its bounces
		if (n == 1) != c.isHard {
			t.Errorf("%+v: %d suppressions", c.fault, n)
		}
	}
}
