package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// attackers returns the loops that attack the listeners until their context ends.
func (a *attacked) attackers() []func(context.Context) {
	all := []func(context.Context){a.floodTokens, a.floodLinks, a.floodLogins}
	for _, addr := range append([]string{a.api, a.inbound}, a.ops...) {
		for range 4 {
			all = append(all, func(ctx context.Context) { a.sendGarbage(ctx, addr) })
		}
		for range 20 {
			all = append(all, func(ctx context.Context) { a.holdConnections(ctx, addr) })
		}
	}
	for range 10 {
		all = append(all, a.talkToListenerWithoutAMail, a.sendEndlessLines, a.sendEndlessBodies)
	}
	return all
}

// dial connects to addr, from one of 200 addresses of this machine, until ctx ends.
func (a *attacked) dial(ctx context.Context, addr string) (net.Conn, bool) {
	from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(rand.IntN(2)), byte(2+rand.IntN(100)))}
	c, err := (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		a.pause(ctx, 10*time.Millisecond)
		return nil, false
	}
	_ = c.SetDeadline(time.Now().Add(15 * time.Second))
	return c, true
}

func (a *attacked) pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// sendGarbage sends random bytes, whole requests with random parts, and pieces of them.
func (a *attacked) sendGarbage(ctx context.Context, addr string) {
	lines := []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /api/v1/crm/contacts HTTP/1.1\r\nHost: x\r\n", "EHLO x\r\n",
		"Content-Length: 99999999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", "\x16\x03\x01\x02\x00",
		"Authorization: Bearer " + a.token + "\r\n", "\x00\x00",
		"MAIL FROM:<a@b>\r\nRCPT TO:<x@in.example.com>\r\nDATA\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /t/u/" + strings.Repeat("a", 3000) + " HTTP/1.1\r\n",
	}
	for ctx.Err() == nil {
		c, ok := a.dial(ctx, addr)
		if !ok {
			continue
		}
		for range 1 + rand.IntN(6) {
			piece := lines[rand.IntN(len(lines))]
			if rand.IntN(3) == 0 {
				noise := make([]byte, 1+rand.IntN(4096))
				for i := range noise {
					noise[i] = byte(rand.Uint32())
				}
				piece = string(noise)
			}
			if _, err := io.WriteString(c, piece); err != nil {
				break
			}
		}
		_, _ = io.CopyN(io.Discard, c, 4096)
		_ = c.Close()
	}
}

// holdConnections opens connections and lets a request drip in, a byte each second.
func (a *attacked) holdConnections(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		c, ok := a.dial(ctx, addr)
		if !ok {
			continue
		}
		for _, one := range []byte("GET / HTTP/1.1\r\nX-Slow: aaaa") {
			if _, err := c.Write([]byte{one}); err != nil || ctx.Err() != nil {
				break
			}
			a.pause(ctx, time.Second)
		}
		_ = c.Close()
	}
}

// talkToListenerWithoutAMail sends commands that end nothing.
func (a *attacked) talkToListenerWithoutAMail(ctx context.Context) {
	for ctx.Err() == nil {
		c, ok := a.dial(ctx, a.inbound)
		if !ok {
			continue
		}
		for range 200 {
			if _, err := io.WriteString(c, "NOOP\r\n"); err != nil || ctx.Err() != nil {
				break
			}
		}
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
}

// sendEndlessLines sends lines without an end to the HTTP and mail listeners.
func (a *attacked) sendEndlessLines(ctx context.Context) {
	block := []byte(strings.Repeat("x", 64<<10))
	for n := 0; ctx.Err() == nil; n++ {
		addr, start := a.inbound, "EHLO "
		if n%2 == 0 {
			addr, start = a.api, "GET /"
		}
		c, ok := a.dial(ctx, addr)
		if !ok {
			continue
		}
		_, err := io.WriteString(c, start)
		for range 1000 {
			if err != nil || ctx.Err() != nil {
				break
			}
			_, err = c.Write(block)
		}
		_ = c.Close()
	}
}

// sendEndlessBodies uploads bodies that are larger than allowed.
func (a *attacked) sendEndlessBodies(ctx context.Context) {
	block := strings.Repeat("x", 64<<10)
	paths := []string{
		"/api/v1/crm/contacts", "/api/v1/crm/contacts/batch", "/billing/stripe/webhook", "/inbound/email/x",
	}
	for ctx.Err() == nil {
		c, ok := a.dial(ctx, a.api)
		if !ok {
			continue
		}
		_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
			paths[rand.IntN(len(paths))], a.token)
		for range 1000 {
			if err != nil || ctx.Err() != nil {
				break
			}
			_, err = fmt.Fprintf(c, "%x\r\n%s\r\n", len(block), block)
		}
		_ = c.Close()
	}
}

func (a *attacked) floodTokens(ctx context.Context) {
	a.flood(ctx, "GET", "/api/v1/crm/contacts", "")
}

func (a *attacked) floodLinks(ctx context.Context) {
	a.flood(ctx, "GET", "/t/u/AAAA", "")
}

func (a *attacked) floodLogins(ctx context.Context) {
	a.flood(ctx, "POST", "/api/v1/auth/login", `{"email":"ada@example.com","password":"wrong-horse-battery"}`)
}

// flood repeats a request with a wrong token.
func (a *attacked) flood(ctx context.Context, method, path, body string) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := 0; ctx.Err() == nil; i++ {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+a.api+path, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", fmt.Sprintf("Bearer fw_%d", i))
		if res, err := client.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
}
