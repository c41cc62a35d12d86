package strangers_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// smtpAttacks returns the attacks on the reader of a reply with the code.
func smtpAttacks(code string) []strangers.Attack {
	return []strangers.Attack{
		strangers.Endless("an endless line", code+" ", "x"),
		strangers.Endless("endless lines", "", code+"-x\r\n"),
		strangers.Endless("endless empty lines", "", code+"-\r\n"),
		strangers.Endless("endless breaks of lines", "", "\n"),
		strangers.Endless("an endless sign-in", "", "334 \r\n"),
		strangers.Dripping("a dripping line", code+" ", "x"),
		strangers.Dripping("dripping lines", "", code+"-x\r\n"),
		strangers.Silent("silence", ""),
		strangers.Silent("silence within a reply", code+"-x\r\n"),
	}
}

// sendMail sends a mail, and returns an error unless it was sent.
func sendMail(ctx context.Context, s *strangers.Server, way string, roots *tls.Config, limit time.Duration) error {
	d := transport.Dialer{AllowPrivate: true, Timeout: limit, DotTimeout: limit, Roots: roots}
	c, failed := d.Connect(ctx, transport.Server{
		Host: s.Host, Port: s.Port, TLS: way, Username: "ada", Password: "right",
	})
	if failed != nil {
		return notSent(*failed, transport.NotSentTemporary)
	}
	defer func() { _ = c.Close() }()
	want := transport.NotSentTemporary
	r := c.Send(ctx, transport.Envelope{From: "a@shop.example", To: "b@example.com"}, []byte("Subject: x\r\n\r\nx\r\n"),
		func(context.Context) error {
			want = transport.Unknown
			return nil
		})
	return notSent(r, want)
}

func notSent(r transport.Result, want transport.Outcome) error {
	switch {
	case r.Outcome == transport.Sent:
		return nil
	case r.Outcome != want || r.Reply.Code != 0:
		return fmt.Errorf("%w: %+v", errOutcome, r)
	}
	return r.Err
}

// systemMail sends a mail of the system.
func systemMail(ctx context.Context, s *strangers.Server) error {
	m, err := mail.NewSMTP("smtp://"+s.Address+"?tls=none", "Test <a@shop.example>")
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	return m.Send(ctx, "1", &mail.Message{To: "b@example.com", Subject: "x", Text: "x", HTML: "x"})
}

func TestNoMailServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	secure, roots := strangers.Certificates(t)
	all := newTable(t)
	for _, way := range strangers.Ways {
		for _, phase := range strangers.SMTPPhases {
			if phase == "STARTTLS" && way != transport.StartTLS {
				continue
			}
			for _, a := range smtpAttacks(codeOf(phase)) {
				all.add(hostile{
					name: way + " " + phase + ": " + a.Name, talk: strangers.SMTP(phase, way, secure, a),
					bound: 512 << 10, within: 10 * time.Second,
					call: func(ctx context.Context, s *strangers.Server) error {
						return sendMail(ctx, s, way, roots, time.Second)
					},
				})
			}
		}
	}
	for _, phase := range []string{"greeting", "EHLO", "RCPT", "."} {
		for _, a := range smtpAttacks(codeOf(phase)) {
			all.add(hostile{
				name: "system mail " + phase + ": " + a.Name, talk: strangers.SMTP(phase, transport.Plain, nil, a),
				bound: 128 << 10, within: 40 * time.Second, maySucceed: phase == ".",
				call: systemMail,
			})
		}
	}
	all.run()
}

// codeOf returns the code of a good reply.
func codeOf(phase string) string {
	switch phase {
	case "greeting", "STARTTLS":
		return "220"
	case "AUTH":
		return "235"
	case "DATA":
		return "354"
	default:
		return "250"
	}
}
