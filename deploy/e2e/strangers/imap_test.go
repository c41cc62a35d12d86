package strangers_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

// imapPhases are the commands whose answers a server attacks.
var imapPhases = []string{"greeting", "STARTTLS", "CAPABILITY", "AUTHENTICATE", "EXAMINE", "LIST", "SEARCH", "FETCH", "BODY"}

// talkIMAP is talkSMTP for IMAP.
func talkIMAP(phase, way string, secure *tls.Config, a attack) func(*conn) {
	return func(c *conn) {
		if way == transport.ImplicitTLS {
			c = &conn{tls.Server(c.Conn, secure), c.server}
		}
		defer func() { _ = c.Close() }()
		if phase == "greeting" {
			a.send(c)
			return
		}
		say(c, "* OK ready")
		for lines := bufio.NewReader(c); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			tag, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			word := strings.TrimPrefix(rest, "UID ")
			word, _, _ = strings.Cut(word, " ")
			if word == "FETCH" && strings.Contains(rest, "BODY.PEEK") {
				word = "BODY"
			}
			if word == phase {
				a.send(c)
				return
			}
			switch word {
			case "CAPABILITY":
				say(c, "* CAPABILITY IMAP4rev1 STARTTLS AUTH=PLAIN SASL-IR")
			case "EXAMINE":
				say(c, "* 3 EXISTS", "* OK [UIDVALIDITY 1] x", "* OK [UIDNEXT 9] x")
			case "SEARCH":
				say(c, "* SEARCH 5 6 7")
			}
			say(c, tag+" OK done")
			if word == "STARTTLS" {
				c = &conn{tls.Server(c.Conn, secure), c.server}
				lines = bufio.NewReader(c)
			}
		}
	}
}

// imapAttacks returns the attacks on the reader of answers.
func imapAttacks() []attack {
	return []attack{
		endless("an endless line", "* OK ", "x"),
		endless("endless lines", "", "* OK x\r\n"),
		endless("endless capabilities", "* CAPABILITY", " A1 B2 C3"),
		endless("an endless list", "* LIST (", "\\A "),
		endless("endless folders", "", "* LIST () \"/\" a\r\n"),
		endless("an endless search", "* SEARCH", " 9 7 5 3 1"),
		endless("endless mails", "", "* 1 FETCH (UID 5 FLAGS (\\Seen \\Draft))\r\n"),
		endless("a huge literal", "* 1 FETCH (UID 5 BODY[] {10000000000}\r\n", "x"),
		endless("a large literal", "* 1 FETCH (UID 5 BODY[] {26000000}\r\n", "x"),
		endless("a literal where none is read", "* 1 FETCH (UID 5 ENVELOPE ({20000000}\r\n", "x"),
		endless("a string without an end", "* 1 FETCH (UID 5 BODY[] \"", "x\r\n"),
		endless("a literal in a text", "* OK {20000000}\r\n", "x"),
		endless("endless lists in lists", "* 1 FETCH (BODYSTRUCTURE ", "("),
		endless("endless lists in lists behind ends of lists", "* 1 FETCH (BODYSTRUCTURE "+strings.Repeat(")", 4<<10), "("),
		endless("endless lists in lists of a folder", "* LIST () \"/\" a ", "(a "),
		dripping("a dripping line", "* OK ", "x"),
		dripping("dripping lines", "", "* OK x\r\n"),
		dripping("a dripping literal", "* 1 FETCH (UID 5 BODY[] {20000000}\r\n", "x"),
		silent("silence", ""),
		silent("silence within a line", "* OK "),
	}
}

// readMail does all that is done in a mailbox, and returns the first error.
func readMail(ctx context.Context, s *server, way string, roots *tls.Config, limit time.Duration) error {
	d := imap.Dialer{AllowPrivate: true, Timeout: limit, Roots: roots, MaxReceived: 64 << 20}
	c, err := d.Connect(ctx, imap.Server{Host: s.host, Port: s.port, TLS: way, Username: "ada", Password: "right"})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Examine(imap.Inbox); err != nil {
		return err
	}
	if _, err := c.From(1); err != nil {
		return err
	}
	if _, err := c.Summaries([]uint32{5, 6, 7}); err != nil {
		return err
	}
	if _, err := c.Mail(5, 25<<20); err != nil && !errors.Is(err, imap.ErrNoMail) {
		return err
	}
	if _, err := c.Sent(); err != nil && !errors.Is(err, imap.ErrNoFolder) {
		return err
	}
	return nil
}

func TestNoIMAPServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	secure, roots := certificates(t)
	all := newTable(t)
	for _, way := range ways {
		for _, phase := range imapPhases {
			if phase == "STARTTLS" && way != transport.StartTLS {
				continue
			}
			bound := int64(1 << 20)
			if phase == "BODY" {
				bound = 26 << 20
			}
			for _, a := range imapAttacks() {
				all.add(hostile{
					name: way + " " + phase + ": " + a.name, talk: talkIMAP(phase, way, secure, a),
					bound: bound, within: 15 * time.Second,
					call: func(ctx context.Context, s *server) error {
						return readMail(ctx, s, way, roots, 2*time.Second)
					},
				})
			}
		}
	}
	all.run()
}
