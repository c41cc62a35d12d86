package inboundmail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
)

// takeReport takes a mail by SMTP and processes it.
func (p *post) takeReport(raw string) {
	p.Helper()
	raw = strings.ReplaceAll(raw, "\n", "\r\n")
	if _, _, err := p.inbound.Intake(p.Context(), inbound.Route{Org: p.org, Mailbox: p.box}, []byte(raw),
		inbound.SMTP); err != nil {
		p.Fatal(err)
	}
	p.process()
}

// report returns a delivery status notification about a Message-ID, with groups of fields of recipients.
func report(messageID string, recipients ...string) string {
	return fmt.Sprintf("From: mailer-daemon@mx.example\nMessage-ID: <%s@mx.example>\nReturn-Path: <>\n"+
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nNot delivered\n"+
		"--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n%s\n"+
		"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <%s>\n\n--b--\n", id.New(),
		strings.Join(recipients, "\n"), messageID)
}

// recipient returns the fields of a recipient.
func recipient(address, action, code, reply string) string {
	return fmt.Sprintf("Final-Recipient: rfc822; %s\nAction: %s\nStatus: %s\nDiagnostic-Code: smtp; "+
		"%s\n", address, action,
		code, reply)
}

func TestAReportThatDoesNotNameAMailOfOursSuppressesNobody(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	const unknown = "550 5.1.1 user unknown"
	p.takeReport(report("made-up@shop.example", recipient("ada@example.com", "failed", "5.1.1", unknown)))
	p.takeReport(report("", recipient("ada@example.com", "failed", "5.1.1", unknown)))
	p.takeReport("From: MAILER-DAEMON@mx.example\nSubject: Undelivered Mail Returned to Sender\nReturn-Path: <>\n" +
		"Message-ID: <x1@mx.example>\n\nThis is the mail system. I could not deliver your mail.\n\n" +
		"<ada@example.com>: 550 5.1.1 user unknown\n")
	p.takeReport("From: abuse@mx.example\nMessage-ID: <x2@mx.example>\n" +
		"Content-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\n" +
		"Content-Type: message/feedback-report\n\nFeedback-Type: abuse\nOriginal-Rcpt-To: ada@example.com\n\n--b--\n")
	if n := p.count(`suppression`); n != 0 {
		t.Errorf("%d addresses are suppressed", n)
	}
	if n := p.count(`email WHERE bounced IS NOT NULL OR complained_at IS NOT NULL`); n != 0 {
		t.Errorf("%d emails have bounced", n)
	}
	if n := p.count(`message WHERE class IN ('bounce', 'complaint') AND contact_id IS NOT NULL`); n != 4 {
		t.Errorf("%d reports are shown, want 4", n)
	}

	p.takeReport(report(p.sent.MessageID, recipient("ada@example.com", "failed", "5.1.1", unknown)))
	if p.bounced() != "0 1 1" {
		t.Errorf("after a report about our mail: %s", p.bounced())
	}
}

func TestOfAReportAboutSeveralRecipientsOursCounts(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	p.takeReport(report(p.sent.MessageID, recipient("bob@example.com", "failed", "5.1.1", "550 5.1.1 user unknown"),
		recipient("ada@example.com", "failed", "5.2.2", "552 5.2.2 mailbox full")))
	if p.bounced() != "1 0 0" {
		t.Errorf("another is unknown: %s", p.bounced())
	}
	second := p.write()
	p.takeReport(report(second.MessageID, recipient("bob@example.com", "failed", "5.1.1", "550 5.1.1 user unknown"),
		recipient("ada@example.com", "delivered", "2.0.0", "250 ok")))
	if p.bounced() != "1 0 0" || p.count(`email WHERE delivered_at IS NOT NULL`) != 1 {
		t.Errorf("ours is delivered: %s", p.bounced())
	}
	third := p.write()
	p.takeReport("From: MAILER-DAEMON@mx.example\nSubject: failure notice\nReturn-Path: <>\nMessage-ID: " +
		"<x3@mx.example>\n\n" +
		"I'm afraid I wasn't able to deliver your message to the following addresses.\n\n<bob@example.com>:\n" +
		"552 5.2.2 mailbox full\n\n<ada@example.com>:\n550 5.1.1 no such user\n\n--- Below this line is a copy of " +
		"the " +
		"message.\n\nMessage-ID: <" + third.MessageID + ">\n")
	if p.bounced() != "1 1 1" {
		t.Errorf("ours is unknown: %s", p.bounced())
	}
}

func TestThreeBouncesForAnothersFaultSuppressNobody(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	for _, reply := range []string{
		"552 5.3.4 message too large", "552 5.3.4 message size exceeds limit", "550 5.7.1 sender rate limit exceeded",
		"552 5.3.4 message too large",
	} {
		p.takeReport(report(p.write().MessageID, recipient("ada@example.com", "failed", "5.0.0", reply)))
	}
	if p.bounced() != "4 0 0" {
		t.Error(p.bounced())
	}
}

func TestADelayNoticeIsNoBounce(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	for i, text := range []string{
		"Your message has not yet been delivered to\nthe following recipient. No action\nis required on your part.\n" +
			"Delivery attempts will\ncontinue to be made for 3 days.\n\n  ada@example.com\n",
		"THIS IS A WARNING MESSAGE\nONLY. YOU DO NOT NEED TO\nRESEND YOUR MESSAGE.\n\nDelivery to ada@example.com " +
			"has been\n" +
			"delayed: 550 user unknown\n",
		"Ihre Nachricht an ada@example.com konnte noch nicht\nzugestellt werden. Die Zustellung\nwird " +
			"weiter\nversucht.\n" +
			"undeliverable so far\n",
	} {
		p.takeReport(fmt.Sprintf("From: MAILER-DAEMON@mx.example\nSubject: Undelivered mail: warning\nReturn-Path: "+
			"<>\n"+
			"Message-ID: <d%d@mx.example>\n\n%s\nMessage-ID: <%s>\n", i, text, p.sent.MessageID))
	}
	if p.bounced() != "0 0 0" || p.count(`message WHERE bounce = 'delayed'`) != 3 {
		t.Errorf("%s, %d delays", p.bounced(), p.count(`message WHERE bounce = 'delayed'`))
	}
}

func TestAReportOfAFailedAuthenticationIsFiled(t *testing.T) {
	t.Parallel()
	p := open(t, "hello@shop.example")
	for i, kind := range []string{"auth-failure", "not-spam", "dmarc"} {
		p.takeReport(fmt.Sprintf("From: Ada <ada@example.com>\nMessage-ID: <f%d@mx.example>\nSubject: FW: Hello\n"+
			"Content-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\n\nThis is a "+
			"report.\n--b\n"+
			"Content-Type: message/feedback-report\n\nFeedback-Type: %s\nOriginal-Rcpt-To: ada@example.com\n\n--b\n"+
			"Content-Type: message/rfc822\n\nMessage-ID: <%s>\nTo: ada@example.com\n\nHello\n--b--\n", i, kind,
			p.sent.MessageID))
	}
	if n := p.count(`message WHERE class = 'list'`); n != 3 {
		t.Errorf("%d are filed", n)
	}
	if n := p.count(`thread WHERE unread`); n != 0 {
		t.Errorf("%d are shown as answers", n)
	}
	if n := p.count(`email WHERE replied_at IS NOT NULL OR complained_at IS NOT NULL`); n != 0 {
		t.Errorf("%d emails are answered or complained about", n)
	}
}

func TestAComplaintNeedsNoReportFields(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"a field of the mail that is reported": "Subject: FW\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" +
			"Content-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: <ada@example.com>\n",
		"a subject": "Subject: complaint about message from 192.0.2.1\nContent-Type: multipart/mixed; " +
			"boundary=b\n\n--b\n" +
			"Content-Type: message/rfc822\n\nTo: ada@example.com\n",
		"the type of a report": "Subject: Abuse\nContent-Type: multipart/report; report-type=feedback-report; " +
			"boundary=b\n\n" +
			"--b\nContent-Type: message/rfc822\n\nTo: ada@example.com\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, "hello@shop.example")
			p.takeReport("From: staff@webmail.example\nMessage-ID: <c1@webmail.example>\n" + head +
				"Message-ID: <" + p.sent.MessageID + ">\n\nHello\n--b--\n")
			if p.count(`email WHERE complained_at IS NOT NULL`) != 1 || p.count(`suppression`) != 1 {
				t.Errorf("%d complaints", p.count(`message WHERE class = 'complaint'`))
			}
		})
	}
}
