package outbox

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/mail"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// answerAfter is when a recipient answers: later than the sender records that its mail was accepted.
const answerAfter = 500 * time.Millisecond

// Answer takes a mail that comes back to an address of the org.
type Answer func(ctx context.Context, org id.ID, to string, raw []byte) error

// startAnswer starts the answer of the recipient, if it gives one. Run waits for it.
func (s *session) startAnswer(raw []byte) {
	mail := answerOf(s.recipientName(), s.from, s.to, raw, time.Now())
	if mail == nil || s.server.answers == nil {
		return
	}

	org := s.org
	to := s.from
	s.server.open.Go(func() {
		select {
		case <-time.After(answerAfter):
		case <-s.ctx.Done():
			return
		}

		if err := s.server.answers(s.ctx, org, to, mail); err != nil {
			s.server.log.WarnContext(s.ctx, "answer of the sandbox not taken", "org_id", org.String(), "error", err)
		}
	})
}

// answerOf returns the mail with which a recipient answers, or nil if it does not.
func answerOf(act, from, to string, raw []byte, now time.Time) []byte {
	o := original{id: "<unknown@sandbox.localhost>"}
	if m, err := mail.ReadMessage(bytes.NewReader(raw)); err == nil {
		o.id, o.subject, o.date = m.Header.Get("Message-ID"), m.Header.Get("Subject"), m.Header.Get("Date")
	}

	switch act {
	case "reply":
		return o.answerMail(to, from, now, "Re: ", "",
			"Thank you for your mail. Let us talk next week.\n\n"+
				"On "+o.date+", "+from+" wrote:\n> ...\n")
	case "ooo":
		return o.answerMail(to, from, now, "Automatic reply: ", "Auto-Submitted: auto-replied\n",
			"I am out of the office until "+now.AddDate(0, 0, 7).Format("2 January 2006")+".\n")
	case "complain":
		return o.answerReport("feedback-report", "abuse@sandbox.localhost", from, now,
			"message/feedback-report",
			"Feedback-Type: abuse\nUser-Agent: Sandbox/1\nVersion: 1\nOriginal-Rcpt-To: "+to+"\n", "message/rfc822")
	case "bounce-later":
		return o.answerReport("delivery-status", "MAILER-DAEMON@sandbox.localhost", from, now,
			"message/delivery-status",
			"Reporting-MTA: dns; sandbox.localhost\n\nFinal-Recipient: rfc822; "+to+"\nAction: failed\nStatus: 5.1.1\n"+
				"Diagnostic-Code: smtp; 550 5.1.1 There is no such user (sandbox)\n", "text/rfc822-headers")
	}

	return nil
}

// original is the mail that is answered.
type original struct{ id, subject, date string }

func (o original) answerMail(from, to string, now time.Time, prefix, header, text string) []byte {
	subject := o.subject
	if d := (mime.WordDecoder{}); strings.Contains(subject, "=?") {
		if plain, err := d.DecodeHeader(subject); err == nil {
			subject = plain
		}
	}

	return withCRLF(mailHeader(from, to, mime.QEncoding.Encode("utf-8", prefix+subject),
		now) + header +
		"In-Reply-To: " + o.id + "\nReferences: " + o.id + "\nContent-Type: text/plain; charset=utf-8\n\n" + text)
}

func (o original) answerReport(kind, from, to string, now time.Time, media, fields,
	returned string,
) []byte {
	return withCRLF(mailHeader(from, to, "Report about your mail",
		now) + "Return-Path: <>\nAuto-Submitted: auto-generated\n" +
		"Content-Type: multipart/report; report-type=" + kind + "; boundary=report\n\n" +
		"--report\n\nThis is a report about your mail.\n--report\nContent-Type: " + media + "\n\n" + fields +
		"\n--report\nContent-Type: " + returned + "\n\nMessage-ID: " + o.id + "\nSubject: " + o.subject +
		"\n\n--report--\n")
}

func mailHeader(from, to, subject string, now time.Time) string {
	return fmt.Sprintf("From: <%s>\nTo: <%s>\nSubject: %s\nDate: %s\nMessage-ID: <%s@sandbox.localhost>\n"+
		"MIME-Version: 1.0\n",
		from, to, subject, now.Format(time.RFC1123Z), id.New())
}

func withCRLF(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }
