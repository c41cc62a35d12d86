package strangers_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// imapAttacks returns the attacks on the reader of answers.
func imapAttacks() []strangers.Attack {
	return []strangers.Attack{
		strangers.Endless("an endless line", "* OK ", "x"),
		strangers.Endless("endless lines", "", "* OK x\r\n"),
		strangers.Endless("endless capabilities", "* CAPABILITY", " A1 B2 C3"),
		strangers.Endless("an endless list", "* LIST (", "\\A "),
		strangers.Endless("endless folders", "", "* LIST () \"/\" a\r\n"),
		strangers.Endless("an endless search", "* SEARCH", " 9 7 5 3 1"),
		strangers.Endless("endless mails", "", "* 1 FETCH (UID 5 FLAGS (\\Seen \\Draft))\r\n"),
		strangers.Endless("a huge literal", "* 1 FETCH (UID 5 BODY[] {10000000000}\r\n", "x"),
		strangers.Endless("a large literal", "* 1 FETCH (UID 5 BODY[] {26000000}\r\n", "x"),
		strangers.Endless("a literal where none is read", "* 1 FETCH (UID 5 ENVELOPE ({20000000}\r\n", "x"),
		strangers.Endless("a string without an end", "* 1 FETCH (UID 5 BODY[] \"", "x\r\n"),
		strangers.Endless("a literal in a text", "* OK {20000000}\r\n", "x"),
		strangers.Endless("endless lists in lists", "* 1 FETCH (BODYSTRUCTURE ", "("),
		strangers.Endless("endless lists in lists behind ends of lists",
			"* 1 FETCH (BODYSTRUCTURE "+strings.Repeat(")", 4<<10), "("),
		strangers.Endless("endless lists in lists of a folder", "* LIST () \"/\" a ", "(a "),
		strangers.Dripping("a dripping line", "* OK ", "x"),
		strangers.Dripping("dripping lines", "", "* OK x\r\n"),
		strangers.Dripping("a dripping literal", "* 1 FETCH (UID 5 BODY[] {20000000}\r\n", "x"),
		strangers.Silent("silence", ""),
		strangers.Silent("silence within a line", "* OK "),
	}
}

// readMail does all that is done in a mailbox, and returns the first error.
func readMail(ctx context.Context, s *strangers.Server, way string, roots *tls.Config, limit time.Duration) error {
	d := imap.Dialer{AllowPrivate: true, Timeout: limit, Roots: roots, MaxReceived: 64 << 20}
	c, err := d.Connect(ctx, imap.Server{Host: s.Host, Port: s.Port, TLS: way, Username: "ada", Password: "right"})
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
	secure, roots := strangers.Certificates(t)
	all := newTable(t)
	for _, way := range strangers.Ways {
		for _, phase := range strangers.IMAPPhases {
			if phase == "STARTTLS" && way != transport.StartTLS {
				continue
			}
			bound := int64(1 << 20)
			if phase == "BODY" {
				bound = 26 << 20
			}
			for _, a := range imapAttacks() {
				all.add(hostile{
					name: way + " " + phase + ": " + a.Name, talk: strangers.IMAP(phase, way, secure, a),
					bound: bound, within: 15 * time.Second,
					call: func(ctx context.Context, s *strangers.Server) error {
						return readMail(ctx, s, way, roots, 2*time.Second)
					},
				})
			}
		}
	}
	all.run()
}
