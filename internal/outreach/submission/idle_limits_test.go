package submission

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

// mute is a server that accepts mails and, once it has accepted one, replies to nothing. It returns the client's end.
func mute(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { _ = server.Close() })
	go func() { // ends with the connection
		lines, data := bufio.NewScanner(server), false
		_, _ = server.Write([]byte("220 mute\r\n"))
		for accepted := false; lines.Scan(); {
			reply := "250 ok\r\n"
			switch line := lines.Text(); {
			case accepted, data && line != ".":
				continue
			case line == ".":
				data, accepted = false, true
			case strings.HasPrefix(line, "DATA"):
				data, reply = true, "354 go on\r\n"
			}
			_, _ = server.Write([]byte(reply))
		}
	}()
	return client
}

// sent returns a connection to a mute server by which a mail was sent.
func sent(t *testing.T) *transport.Conn {
	t.Helper()
	conn, failure := (&transport.Dialer{AllowPrivate: true}).Open(t.Context(), mute(t),
		transport.Server{Host: "mute.example", TLS: transport.Plain})
	if failure != nil {
		t.Fatalf("%+v", *failure)
	}
	if r := another(t, conn); r.Outcome != transport.Sent {
		t.Fatalf("%+v", r)
	}
	return conn
}

func another(t *testing.T, conn *transport.Conn) transport.Result {
	t.Helper()
	return conn.Send(t.Context(), transport.Envelope{From: "a@shop.example", To: "b@example.com"},
		[]byte("Subject: x\r\n\r\nx\r\n"), func(context.Context) error { return nil })
}

// passes lets time pass in the bubble, and waits until what it began has ended.
func passes(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the bubble's clock
	synctest.Wait()
}

// held returns the number of connections, and of mailboxes that have some.
func (i *Idle) held() (conns, mailboxes int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.n, len(i.conns)
}

func TestAConnectionIsIdleForFiveSecondsAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all Idle
		k := key{mailbox: id.New()}
		all.put(k, sent(t))
		passes(idleFor - time.Millisecond)
		if n, _ := all.held(); n != 1 {
			t.Error("it was closed too early")
		}
		passes(2 * time.Millisecond)
		if n, _ := all.held(); n != 0 || all.take(k) != nil {
			t.Error("it was not closed")
		}
		passes(time.Minute) // until the server's end is closed, too
	})
}

func TestATakenConnectionIsNotClosedByItsTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all Idle
		k := key{mailbox: id.New()}
		conn := sent(t)
		all.put(k, conn)
		passes(idleFor / 2)
		if all.take(k) != conn || all.take(k) != nil {
			t.Error("it was not taken, or taken twice")
		}
		passes(idleFor / 2)
		all.put(k, conn)
		passes(idleFor / 2) // the timer of the first time would be over
		if all.take(k) != conn {
			t.Error("the first timer has closed it")
		}
		_ = conn.Close()
	})
}

func TestTheIdleConnectionsOfAProcessAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all Idle
		for range maxIdle {
			all.put(key{mailbox: id.New()}, sent(t))
		}
		more := sent(t)
		if all.keep(key{mailbox: id.New()}, more) {
			t.Error("one more was kept")
		}
		if n, mailboxes := all.held(); n != maxIdle || mailboxes != maxIdle {
			t.Errorf("%d connections of %d mailboxes", n, mailboxes)
		}
		_ = more.Close()
		passes(time.Minute)
		if n, mailboxes := all.held(); n != 0 || mailboxes != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

func TestAServerThatDoesNotReplyAfterAMailHoldsUpNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, began := sent(t), time.Now()
		_ = conn.Close()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the end of the session took %v", took)
		}
		conn, began = sent(t), time.Now()
		if r := another(t, conn); r.Outcome != transport.NotSentTemporary || r.Stage != transport.Connect {
			t.Errorf("%+v", r)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the next mail waited %v", took)
		}
	})
}
