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

func TestAConnectionIsIdleForFiveSecondsAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all Idle
		k := key{mailbox: id.New()}
		all.put(k, sent(t))
		time.Sleep(idleFor - time.Millisecond)
		synctest.Wait()
		if all.n != 1 {
			t.Error("it was closed too early")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if all.n != 0 || all.take(k) != nil {
			t.Error("it was not closed")
		}
		time.Sleep(time.Minute) // until the server's end is closed, too
	})
}

func TestATakenConnectionIsNotClosedByItsTimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all Idle
		k := key{mailbox: id.New()}
		conn := sent(t)
		all.put(k, conn)
		time.Sleep(idleFor / 2)
		if all.take(k) != conn || all.take(k) != nil {
			t.Error("it was not taken, or taken twice")
		}
		time.Sleep(idleFor / 2)
		all.put(k, conn)
		time.Sleep(idleFor / 2) // the timer of the first time would be over
		synctest.Wait()
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
		if all.n != maxIdle || len(all.conns) != maxIdle {
			t.Errorf("%d connections of %d mailboxes", all.n, len(all.conns))
		}
		_ = more.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if all.n != 0 || len(all.conns) != 0 {
			t.Errorf("%d are left", all.n)
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
