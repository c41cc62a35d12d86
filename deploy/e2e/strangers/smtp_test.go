package strangers_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

// smtpPhases are the replies that a server of mail attacks with.
var smtpPhases = []string{"greeting", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "."}

// talkSMTP returns a server that replies as it should until the phase, and then attacks. secure is the configuration of
// a server with TLS, and way how the client comes to it.
func talkSMTP(phase, way string, secure *tls.Config, a attack) func(*conn) {
	return func(c *conn) {
		if way == transport.ImplicitTLS {
			c = &conn{tls.Server(c.Conn, secure), c.server}
		}
		defer func() { _ = c.Close() }()
		if phase == "greeting" {
			a.send(c)
			return
		}
		say(c, "220 test ready")
		lines := bufio.NewReader(c)
		for data := false; ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if data && word != "." {
				continue
			}
			_, encrypted := c.Conn.(*tls.Conn)
			if word == phase && (way == transport.Plain || word == "STARTTLS" || encrypted) {
				a.send(c)
				return
			}
			data = word == "DATA"
			switch word {
			case "EHLO":
				say(c, "250-test", "250-STARTTLS", "250 AUTH PLAIN")
			case "STARTTLS":
				say(c, "220 go on")
				c = &conn{tls.Server(c.Conn, secure), c.server}
				lines = bufio.NewReader(c)
			case "DATA":
				say(c, "354 go on")
			case "AUTH":
				say(c, "235 welcome")
			default:
				say(c, "250 2.0.0 fine")
			}
		}
	}
}

func say(w io.Writer, lines ...string) { _, _ = io.WriteString(w, strings.Join(lines, "\r\n")+"\r\n") }

// smtpAttacks returns the attacks on the reader of a reply with the code.
func smtpAttacks(code string) []attack {
	return []attack{
		endless("an endless line", code+" ", "x"),
		endless("endless lines", "", code+"-x\r\n"),
		endless("endless empty lines", "", code+"-\r\n"),
		endless("endless breaks of lines", "", "\n"),
		endless("an endless sign-in", "", "334 \r\n"),
		dripping("a dripping line", code+" ", "x"),
		dripping("dripping lines", "", code+"-x\r\n"),
		silent("silence", ""),
		silent("silence within a reply", code+"-x\r\n"),
	}
}

// sendMail sends a mail, and returns an error unless it was sent.
func sendMail(ctx context.Context, s *server, way string, roots *tls.Config, limit time.Duration) error {
	d := transport.Dialer{AllowPrivate: true, Timeout: limit, DotTimeout: limit, Roots: roots}
	c, failed := d.Connect(ctx, transport.Server{
		Host: s.host, Port: s.port, TLS: way, Username: "ada", Password: "right",
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
func systemMail(ctx context.Context, s *server) error {
	m, err := mail.NewSMTP("smtp://"+s.address+"?tls=none", "Test <a@shop.example>")
	if err != nil {
		return errors.Join(errOutcome, err)
	}
	return m.Send(ctx, "1", &mail.Message{To: "b@example.com", Subject: "x", Text: "x", HTML: "x"})
}

func TestNoMailServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	secure, roots := certificates(t)
	all := newTable(t)
	for _, way := range ways {
		for _, phase := range smtpPhases {
			if phase == "STARTTLS" && way != transport.StartTLS {
				continue
			}
			for _, a := range smtpAttacks(codeOf(phase)) {
				all.add(hostile{
					name: way + " " + phase + ": " + a.name, talk: talkSMTP(phase, way, secure, a),
					bound: 512 << 10, within: 10 * time.Second,
					call: func(ctx context.Context, s *server) error { return sendMail(ctx, s, way, roots, time.Second) },
				})
			}
		}
	}
	for _, phase := range []string{"greeting", "EHLO", "RCPT", "."} {
		for _, a := range smtpAttacks(codeOf(phase)) {
			all.add(hostile{
				name: "system mail " + phase + ": " + a.name, talk: talkSMTP(phase, transport.Plain, nil, a),
				bound: 128 << 10, within: 40 * time.Second, maySucceed: phase == ".",
				call: systemMail,
			})
		}
	}
	all.run()
}

// ways are the ways to secure a connection.
var ways = []string{transport.Plain, transport.StartTLS, transport.ImplicitTLS}

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
