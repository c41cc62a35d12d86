package inboundmail_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// greet opens a connection and greets the server.
func (f *front) greet(from, hello string) *client {
	f.Helper()
	c, greeting := f.connect(from)
	if !strings.HasPrefix(greeting, "220") {
		f.Fatalf("greeted with %s", greeting)
	}
	if a := c.say(hello + " client.example"); !strings.HasPrefix(a, "250") {
		f.Fatalf("%s: %s", hello, a)
	}
	return c
}

// ends fails unless the next answer has a code and the connection is closed behind it.
func (f *front) ends(c *client, what, code string) {
	f.Helper()
	if a := c.answer(); !strings.HasPrefix(a, code) || c.answer() != "closed" {
		f.Errorf("%s: %s, want %s and the end", what, a, code)
	}
}

func TestAHundredCommandsOfAnyKindEndASessionWithoutAMail(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	for _, command := range []string{
		"NOOP", "RSET", "VRFY ada", "HELP", "EHLO again.example", "AUTH PLAIN AAAA", "MAIL FROM:<ada@example.com>",
		"RCPT TO:<ada@in.example>", "DATA", "STARTTLS", "EXPN all",
	} {
		c := f.greet("127.3.0.1", "EHLO")
		for n := 2; n <= 100; n++ {
			if a := c.say(command); strings.HasPrefix(a, "421") || a == "closed" {
				t.Fatalf("%s: %s at command %d", command, a, n)
			}
		}
		_, _ = io.WriteString(c, command+"\r\n")
		f.ends(c, command, "421 4.7.0")
		_ = c.Close()
	}
}

func TestFiftyUnknownRecipientsEndASessionAlsoWithMailsBetweenThem(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	c := f.greet("127.3.0.2", "EHLO")
	for round := range 5 {
		if a := c.say("MAIL FROM:<ada@example.com>"); !strings.HasPrefix(a, "250") {
			t.Fatal(a)
		}
		for n := range 10 {
			a, want := c.say(fmt.Sprintf("RCPT TO:<%d@in.example>", n)), "550"
			if round == 4 && n == 9 {
				want = "421 4.7.0"
			}
			if !strings.HasPrefix(a, want) {
				t.Fatalf("recipient %d of mail %d: %s", n, round, a)
			}
		}
		if round < 4 {
			if a := f.send(c, fmt.Sprintf("Message-ID: <%d@example.com>\r\n\r\nHello", round)); a[:3] != "250" {
				t.Fatal(a)
			}
		}
	}
	if a := c.answer(); a != "closed" || f.messages() != 4 {
		t.Errorf("after the last one: %s; %d mails", a, f.messages())
	}
}

func TestServersOfOursHaveNoLimitsOfASession(t *testing.T) {
	t.Parallel()
	for hello, s := range map[string]*listener.Server{
		"LHLO": {LMTP: true},
		"EHLO": {Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/30")}},
	} {
		t.Run(hello, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, s)
			c := f.greet("127.0.0.1", hello)
			for n := range 300 {
				if a := c.say("RSET"); !strings.HasPrefix(a, "250") {
					t.Fatalf("command %d: %s", n, a)
				}
			}
			if a := c.say("MAIL FROM:<>"); !strings.HasPrefix(a, "250") {
				t.Fatal(a)
			}
			for n := range 120 {
				if a := c.say("RCPT TO:<nobody@in.example>"); !strings.HasPrefix(a, "550") {
					t.Fatalf("recipient %d: %s", n, a)
				}
			}
			for _, line := range []string{
				"RCPT TO:<" + f.token + "@in.example>", "DATA", "Subject: Hello\r\n\r\nHello\r\n.",
			} {
				if a := c.say(line); a[0] != '2' && a[0] != '3' {
					t.Fatalf("%q: %s", line, a)
				}
			}
			if f.messages() != 1 {
				t.Errorf("%d mails, want 1", f.messages())
			}
		})
	}
}

func TestALineThatIsTooLongIsAnsweredThenTheConnectionIsClosed(t *testing.T) {
	t.Parallel()
	strangers := newFront(t, &listener.Server{})
	ours := newFront(t, &listener.Server{LMTP: true})
	for name, c := range map[string]*client{
		"a stranger": strangers.greet("127.5.0.1", "EHLO"), "a server of ours": ours.greet("127.0.0.1", "LHLO"),
	} {
		go func() { _, _ = io.WriteString(c, "NOOP "+strings.Repeat("x", 8<<20)) }()
		strangers.ends(c, name, "500 5.5.2")
	}
	c := strangers.greet("127.5.0.2", "EHLO")
	if a := c.say("NOOP"); !strings.HasPrefix(a, "250") {
		t.Fatal(a)
	}
	_, _ = io.WriteString(c, "RSET")
	for range 9 { // in pieces
		_, _ = io.WriteString(c, strings.Repeat("x", 1000))
	}
	strangers.ends(c, "pieces", "500 5.5.2")
	c = strangers.greet("127.5.0.3", "EHLO")
	for _, line := range []string{"MAIL FROM:<a@example.com>", "RCPT TO:<" + strangers.token + "@in.example>"} {
		if a := c.say(line); !strings.HasPrefix(a, "250") {
			t.Fatal(a)
		}
	}
	chunk := "Subject: x\r\n\r\n" + strings.Repeat("x", 1<<20) // a chunk has no lines
	_, _ = io.WriteString(c, fmt.Sprintf("BDAT %d LAST\r\n%s", len(chunk), chunk))
	if a := c.answer(); !strings.HasPrefix(a, "250") {
		t.Fatal(a)
	}
	_, _ = io.WriteString(c, "NOOP "+strings.Repeat("x", 9000)+"\r\n")
	strangers.ends(c, "after a chunk", "500 5.5.2")
}

// begin begins a mail.
func (f *front) begin(from string) *client {
	f.Helper()
	c := f.greet(from, "EHLO")
	for _, line := range []string{"MAIL FROM:<a@example.com>", "RCPT TO:<" + f.token + "@in.example>", "DATA"} {
		if a := c.say(line); a[0] != '2' && a[0] != '3' {
			f.Fatalf("%q: %s", line, a)
		}
	}
	return c
}

func TestTheMailsOfOneAddressLeaveMemoryForThoseOfAnother(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	large := strings.Repeat(strings.Repeat("x", 78)+"\r\n", (20<<20)/80)
	for range 3 { // without an end
		if _, err := io.WriteString(f.begin("127.6.0.1"), large); err != nil {
			t.Fatal(err)
		}
	}
	for n := 4; ; n++ { // the server may not have read all of them yet
		a := f.begin("127.6.0.1").say(large + ".")
		if strings.HasPrefix(a, "452 4.3.1") {
			break
		}
		if n == 40 || !strings.HasPrefix(a, "250") {
			t.Fatalf("mail %d of the address: %s", n, a)
		}
	}
	if a := f.begin("127.6.1.1").say(large + "."); !strings.HasPrefix(a, "250") {
		t.Errorf("a mail of another address: %s", a)
	}
}

func TestAnOlderInboundAddressMustArriveAsItWasWritten(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	c := f.greet("127.6.0.1", "EHLO")
	f.token = base64.RawURLEncoding.EncodeToString(append(f.org[:], bytes.Repeat([]byte{0xa7}, 20)...))
	sum := sha256.Sum256([]byte(f.token))
	if _, err := testkit.Pgx(t, f.db.URL).Exec(t.Context(), `UPDATE mailbox SET inbound_hash = $1 WHERE org_id = $2`,
		sum[:], f.org); err != nil {
		t.Fatal(err)
	}
	if a := f.send(c, "Subject: Hello\r\n\r\nHello"); !strings.HasPrefix(a, "250") {
		t.Errorf("as it was written: %s", a)
	}
	f.token = strings.ToLower(f.token)
	if a := f.send(c, "Subject: Hello\r\n\r\nHello again"); !strings.HasPrefix(a, "550") {
		t.Errorf("in another case: %s", a)
	}
}
