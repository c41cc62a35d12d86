package inboundmail_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
)

// front is a listener with a mailbox behind it.
type front struct {
	*testing.T
	db    *testkit.Database
	org   id.ID
	token string
	addr  string
}

func newFront(t *testing.T, s *listener.Server) *front {
	t.Helper()
	f := &front{T: t, db: testkit.DB(t), org: id.New()}
	box := testkit.Box(t)
	if _, err := testkit.Pgx(t, f.db.URL).Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Test')`,
		f.org); err != nil {
		t.Fatal(err)
	}
	boxes := &mailboxes.Service{Box: box}
	if err := f.db.App.Tx(t.Context(), f.org, func(tx *postgres.Tx) error {
		m, _, err := boxes.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.Sandbox), FromEmail: wire.Some("hello@shop.example"),
		}, nil)
		if err != nil {
			return err
		}
		_, f.token, err = boxes.RotateToken(t.Context(), tx, m.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.Inbound, s.Log = inboundmail.Intake(f.db.App, box), testkit.Log(t)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	f.addr = ln.Addr().String()
	return f
}

// client is a connection whose answers are read line by line.
type client struct {
	net.Conn
	*bufio.Reader
}

// connect connects from a loopback address and returns the first answer.
func (f *front) connect(from string) (*client, string) {
	f.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(f.Context(), "tcp", f.addr)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	out := &client{c, bufio.NewReader(c)}
	return out, out.answer()
}

func (c *client) answer() string {
	for {
		line, err := c.ReadString('\n')
		if err != nil {
			return "closed"
		}
		if len(line) < 4 || line[3] != '-' {
			return strings.TrimSpace(line)
		}
	}
}

func (c *client) say(line string) string {
	_, _ = io.WriteString(c, line+"\r\n")
	return c.answer()
}

// send delivers a mail and returns the last answer.
func (f *front) send(c *client, mail string) string {
	f.Helper()
	for _, line := range []string{
		"EHLO client.example", "MAIL FROM:<a@example.com>", "RCPT TO:<" + f.token + "@in.example>", "DATA",
	} {
		if a := c.say(line); a[0] != '2' && a[0] != '3' {
			return a
		}
	}
	return c.say(mail + "\r\n.")
}

func (f *front) messages() (n int) {
	f.Helper()
	if err := testkit.Pgx(f.T, f.db.URL).QueryRow(f.Context(), "SELECT count(*) FROM message WHERE org_id = $1", f.org).
		Scan(&n); err != nil {
		f.Fatal(err)
	}
	return n
}

func TestAThousandConnectionsOfOneAddressKeepNoMailOfAnotherAway(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	var (
		mu       sync.Mutex
		answers  = map[string]int{}
		flooding sync.WaitGroup
	)
	for range 50 {
		flooding.Go(func() {
			for range 20 {
				_, greeting := f.connect("127.0.0.1")
				mu.Lock()
				answers[greeting[:3]]++
				mu.Unlock()
			}
		})
	}
	flooding.Wait()
	if answers["220"] != 20 || answers["421"] != 980 {
		t.Errorf("%v, want 20 connections", answers)
	}
	at := time.Now()
	c, greeting := f.connect("127.1.0.1")
	if a := f.send(c, "Subject: Hello\r\n\r\nHello"); !strings.HasPrefix(a, "250") {
		t.Errorf("a mail of another address: %s, then %s", greeting, a)
	}
	if took := time.Since(at); took > 2*time.Second {
		t.Errorf("a mail of another address took %v", took)
	}
}

func TestANetworkHasALimitOfItsOwnAndAClosedConnectionGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	var open []*client
	for n := range 60 {
		c, greeting := f.connect(fmt.Sprintf("127.0.0.%d", 2+n/15))
		if !strings.HasPrefix(greeting, "220") {
			t.Fatalf("connection %d: %s", n, greeting)
		}
		open = append(open, c)
	}
	if _, greeting := f.connect("127.0.0.200"); !strings.HasPrefix(greeting, "421") {
		t.Errorf("the 61st of a network: %s", greeting)
	}
	if _, greeting := f.connect("127.0.1.1"); !strings.HasPrefix(greeting, "220") {
		t.Errorf("one of another network: %s", greeting)
	}
	if a := open[0].say("QUIT"); !strings.HasPrefix(a, "221") || open[0].answer() != "closed" {
		t.Errorf("QUIT: %s", a)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		_, greeting := f.connect("127.0.0.200")
		if strings.HasPrefix(greeting, "220") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after one has ended: %s", greeting)
		}
	}
}

// The answers come, although the client has sent more than the server reads.
func TestASessionEndsWithAnAnswer(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	for name, c := range map[string]struct {
		lines string
		n     int
		last  string
	}{
		"commands without a mail": {"NOOP\r\n", 200, "421 4.7.0 Too many commands"},
		"unknown verbs and mails without end": {
			"MAIL FROM:<a@example.com>\r\nRSET\r\n", 100, "421 4.7.0 Too many commands",
		},
		"unknown recipients": {
			"MAIL FROM:<a@example.com>\r\n" + strings.Repeat("RCPT TO:<nobody@in.example>\r\n", 40) + "RSET\r\n", 2,
			"421 4.7.0 Too many unknown recipients",
		},
		"a line without an end": {strings.Repeat("x", 64<<10), 4, "500 5.5.2 The line is too long"},
		"a long command": {
			"EHLO " + strings.Repeat("x", 9<<10) + "\r\nNOOP\r\n", 1, "500 5.5.2 The line is too long",
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := f.connect("127.2.0." + fmt.Sprint(1+len(name)))
			if a := conn.say("EHLO client.example"); !strings.HasPrefix(a, "250") {
				t.Fatal(a)
			}
			go func() { _, _ = io.WriteString(conn, strings.Repeat(c.lines, c.n)) }()
			last, n := "", 0
			for a := conn.answer(); a != "closed"; a = conn.answer() {
				last = a
				n++
			}
			if !strings.HasPrefix(last, c.last) || n > 101 {
				t.Errorf("%d answers, the last is %q", n, last)
			}
		})
	}
}

func TestAMailStartsTheCountOfCommandsAnewAndMayHaveLongLines(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	c, _ := f.connect("127.0.0.1")
	for n := range 3 {
		for range 60 {
			if a := c.say("NOOP"); !strings.HasPrefix(a, "250") {
				t.Fatal(a)
			}
		}
		mail := fmt.Sprintf("Subject: %d\r\n\r\n%s%s", n, strings.Repeat("x", 20<<10), strings.Repeat("\r\nline", 300))
		if a := f.send(c, mail); !strings.HasPrefix(a, "250") {
			t.Fatalf("mail %d: %s", n, a)
		}
	}
	// Chunks are no commands, whatever is in them, and however they are cut.
	chunk := "Subject: chunks\r\n\r\n" + strings.Repeat("NOOP\r\n", 500)
	if a := c.say("MAIL FROM:<a@example.com>"); !strings.HasPrefix(a, "250") {
		t.Fatal(a)
	}
	if a := c.say("RCPT TO:<" + strings.ToUpper(f.token) + "@IN.EXAMPLE>"); !strings.HasPrefix(a, "250") {
		t.Fatalf("a token in capitals: %s", a)
	}
	last := fmt.Sprintf("BDAT %d LAST\r\n%s", len(chunk), strings.TrimSuffix(chunk, "\r\n"))
	if a := c.say(last); !strings.HasPrefix(a, "250") {
		t.Fatalf("a chunk: %s", a)
	}
	if a := c.say("NOOP"); !strings.HasPrefix(a, "250") {
		t.Errorf("after a chunk: %s", a)
	}
	if n := f.messages(); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
}

func TestServersOfOursHaveNoLimitsOfStrangers(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*listener.Server{
		"lmtp":    {LMTP: true},
		"trusted": {Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/30")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, s)
			var c *client
			for n := range 100 {
				var greeting string
				if c, greeting = f.connect("127.0.0.1"); !strings.HasPrefix(greeting, "220") {
					t.Fatalf("connection %d: %s", n, greeting)
				}
			}
			for n := range 300 {
				if a := c.say("NOOP"); !strings.HasPrefix(a, "250") {
					t.Fatalf("command %d: %s", n, a)
				}
			}
		})
	}
}

func TestAMailWhoseHeaderIsBeyondALimitIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	f := newFront(t, &listener.Server{})
	c, _ := f.connect("127.0.0.1")
	headers := map[string]string{
		"600 fields":    strings.Repeat("X-Trace: relay\r\n", 600),
		"300 KiB":       strings.Repeat("X-Trace: "+strings.Repeat("r", 900)+"\r\n", 340),
		"a huge field":  "X-Trace: " + strings.Repeat(strings.Repeat("r", 900)+"\r\n ", 340) + "\r\n",
		"none":          "",
		"an endless id": "Message-ID: <" + strings.Repeat("i", 300<<10) + ">\r\n",
	}
	want := 0
	for name, header := range headers {
		for n := range 2 {
			mail := fmt.Sprintf("%sMessage-ID: <%d.%d@example.com>\r\nFrom: a@example.com\r\nSubject: Same\r\n\r\nSame",
				header, n, len(header))
			for range 2 { // the same mail once more is not another
				if a := f.send(c, mail); !strings.HasPrefix(a, "250") {
					t.Fatalf("%s: %s", name, a)
				}
			}
			want++
		}
	}
	if n := f.messages(); n != want {
		t.Errorf("%d messages, want %d", n, want)
	}
}
