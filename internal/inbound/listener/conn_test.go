package listener

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// networksOfStranger is the networks of a client with limits.
func networksOfStranger() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("198.51.100.7/32"), netip.MustParsePrefix("198.51.100.0/24")}
}

func TestASessionOfAStrangerEndsAfterTenMinutesWhateverTheDeadlineOfACommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, stop := dripping(20 * time.Second)
		began := time.Now()
		for {
			_ = c.SetDeadline(time.Now().Add(idle))
			if _, err := c.Read(make([]byte, 1)); err != nil {
				break
			}
		}
		if took := time.Since(began); took != maxSession {
			t.Errorf("ended after %v", took)
		}
		stop()
	})
}

// dripping returns a connection of a stranger that sends a byte at each interval, and a function that ends both.
func dripping(interval time.Duration) (c *conn, stop func()) {
	ours, theirs := net.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for {
			if _, err := theirs.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(interval) //nolint:forbidigo // the client's pace, in a bubble
		}
	}()
	c = newConn(ours, networksOfStranger(), nil, func() {})
	return c, func() {
		_ = c.Close()
		_ = theirs.Close()
		<-written
	}
}

func TestEachReadOfAMailHasTheIdleTimeToItselfButNotBeyondTheEndOfTheSession(t *testing.T) {
	t.Parallel()
	for interval, want := range map[time.Duration]time.Duration{50 * time.Second: maxSession, 2 * idle: idle} {
		synctest.Test(t, func(t *testing.T) {
			c, stop := dripping(interval)
			_ = c.SetDeadline(time.Now().Add(idle)) // as the library does before it reads the command DATA
			c.startMail()
			began := time.Now()
			for {
				if _, err := c.Read(make([]byte, 1)); err != nil {
					break
				}
			}
			if took := time.Since(began); took != want {
				t.Errorf("a byte each %v: ended after %v, want %v", interval, took, want)
			}
			stop()
		})
	}
}

// pipes is a listener whose connections are pipes from one address.
type pipes struct {
	from  net.Addr
	conns chan net.Conn
	done  chan struct{}
}

type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return pipe{c, p.from}, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return p.from }

func TestASessionOfAStrangerEndsWithAnAnswerAfterTenMinutesAndNoneOfOurs(t *testing.T) {
	t.Parallel()
	const pace = 21 * time.Second
	for name, c := range map[string]struct {
		server *Server
		pause  time.Duration
		last   string
		after  time.Duration
	}{
		"a busy stranger":         {&Server{}, pace, "421", maxSession},
		"a silent stranger":       {&Server{}, 2 * time.Minute, "421", idle},
		"LMTP":                    {&Server{LMTP: true}, pace, "250", 57 * pace},
		"a trusted network":       {&Server{Trusted: networksOfStranger()}, pace, "250", 57 * pace},
		"a silent LMTP client":    {&Server{LMTP: true}, 2 * time.Minute, "421", idle},
		"a silent trusted client": {&Server{Trusted: networksOfStranger()}, 2 * time.Minute, "421", idle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{
					from: &net.TCPAddr{IP: net.IPv4(198, 51, 100, 7), Port: 9}, conns: make(chan net.Conn),
					done: make(chan struct{}),
				}
				s := c.server
				s.Log = slog.New(slog.DiscardHandler)
				served := make(chan error, 1)
				go func() { served <- s.Serve(t.Context(), p) }()
				ours, theirs := net.Pipe()
				p.conns <- ours
				last, after := sendNoops(theirs, c.pause)
				if !strings.HasPrefix(last, c.last) || after != c.after {
					t.Errorf("%q after %v, want %s after %v", last, after, c.last, c.after)
				}
				_ = theirs.Close()
				_ = p.Close()
				if err := <-served; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// sendNoops sends a NOOP at each interval for 20 minutes, or until the server ends the session. It returns the last
// answer and when it came.
func sendNoops(c net.Conn, interval time.Duration) (last string, after time.Duration) {
	began, answers := time.Now(), make(chan string, 100)
	go func() {
		defer close(answers)
		for r := bufio.NewReader(c); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			answers <- line
		}
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case line, open := <-answers:
			if !open {
				return last, after
			}
			last, after = line, time.Since(began)
		case <-tick.C:
			if time.Since(began) > 20*time.Minute {
				return last, after
			}
			_, _ = io.WriteString(c, "NOOP\r\n")
		}
	}
}

func TestAClientIsCountedByItsAddressAndItsNetwork(t *testing.T) {
	t.Parallel()
	a := &admission{trusted: []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8:5::/48"),
	}}
	for remote, want := range map[string]string{
		"198.51.100.7":               "198.51.100.7/32 198.51.100.0/24",
		"::ffff:198.51.100.7":        "198.51.100.7/32 198.51.100.0/24",
		"2001:db8:1:2:3:4:5:6":       "2001:db8:1:2::/64 2001:db8:1::/48",
		"fe80::1%lo":                 "fe80::/64 fe80::/48",
		"2001:db8:6:1:ffff:ffff::ff": "2001:db8:6:1::/64 2001:db8:6::/48",
		"10.1.2.3":                   "",
		"::ffff:10.1.2.3":            "",
		"2001:db8:5:1::1":            "",
	} {
		addr := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(remote), 25))
		limited, networks := a.classifyClient(addr)
		var all []string
		for _, n := range networks {
			all = append(all, n.String())
		}
		if got := strings.Join(all, " "); got != want || limited != (want != "") {
			t.Errorf("%s: %q, limited %t; want %q", remote, got, limited, want)
		}
	}
}
