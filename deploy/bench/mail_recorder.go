package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// point is a moment of a mail's life at which its sender is killed.
type point string

// The points, in the order in which a mail passes them.
const (
	atGreeting  point = "before the greeting of the first connection"
	atRecipient point = "when the recipient is named"
	atBody      point = "when the body is to follow"
	atDotLost   point = "after the dot, with a server that dies and has not stored the mail"
	atDotStored point = "after the dot, with a server that dies and has stored the mail"
	atReply     point = "after the reply, before anything is recorded"
)

// stop is the kill of a sender. kill returns once the sender is dead.
type stop struct {
	at    point
	after int // mails that the server has stored before
	kill  func()
	// hold keeps the sender from recording anything, until the function that it returns is called, which first waits
	// until the sender tries to, and kills it.
	hold func() (kill func())
}

// recorder is an SMTP server in this process that stores who got a mail, and kills the sender at a point.
type recorder struct {
	address string
	delay   time.Duration // before the reply to each mail

	mu     sync.Mutex
	stored map[string]int // mails by address
	all    int
	next   *stop
}

// record starts a recorder, which ends with w.
func (w *world) record(ctx context.Context) (*recorder, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", freeAddress(ctx))
	if err != nil {
		return nil, err
	}
	r := &recorder{address: l.Addr().String(), stored: map[string]int{}}
	w.closers = append(w.closers, func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(ctx, conn)
		}
	}()
	return r, nil
}

// await forgets all mails. The sender is killed at s, or never if s is nil.
func (r *recorder) await(s *stop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored, r.all, r.next = map[string]int{}, 0, s
}

// count returns how many mails are stored, and how many of the addresses got more than one.
func (r *recorder) count() (all, doubled int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.stored {
		if n > 1 {
			doubled++
		}
	}
	return r.all, doubled
}

// has reports whether an address got a mail.
func (r *recorder) has(address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stored[address] > 0
}

// reached returns the stop if it is at p and its time has come; it is returned once.
func (r *recorder) reached(p point) *stop {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.next
	if s == nil || s.at != p || r.all < s.after {
		return nil
	}
	r.next = nil
	return s
}

// pass kills the sender if it is to die at p, and reports whether the connection goes on.
func (r *recorder) pass(p point) bool {
	s := r.reached(p)
	if s != nil {
		s.kill()
	}
	return s == nil
}

// serve speaks with one connection of a sender.
func (r *recorder) serve(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	if !r.pass(atGreeting) {
		return
	}
	say("220 recorder")
	for to, body := "", false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch word := strings.ToUpper(line); {
		case body && line == ".\r\n":
			if body = false; !r.dot(ctx, to, say) {
				return
			}
		case body:
		case strings.HasPrefix(word, "RCPT"):
			_, rest, _ := strings.Cut(line, "<")
			to, _, _ = strings.Cut(rest, ">")
			if !r.pass(atRecipient) {
				return
			}
			say("250 go on")
		case strings.HasPrefix(word, "DATA"):
			if body = r.pass(atBody); !body {
				return
			}
			say("354 go on")
		case strings.HasPrefix(word, "QUIT"):
			say("221 bye")
			return
		default:
			say("250 recorder")
		}
	}
}

// dot stores a mail and replies. It reports whether the connection goes on.
func (r *recorder) dot(ctx context.Context, to string, say func(string)) bool {
	if !r.pass(atDotLost) {
		return false
	}
	r.mu.Lock()
	r.stored[to]++
	r.all++
	r.mu.Unlock()
	if !r.pass(atDotStored) {
		return false
	}
	if s := r.reached(atReply); s != nil {
		kill := s.hold()
		say("250 stored")
		kill()
		return false
	}
	if r.delay > 0 && pause(ctx, r.delay) != nil {
		return false
	}
	say("250 stored")
	return true
}
