package strangers_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// datagrams makes the server of a table row answer by UDP, too, at the same port. answer gets a query, and sends what
// it likes. What the client does not read is dropped, so it is not counted.
func datagrams(s *strangers.Server, answer func(query []byte, send func([]byte) bool)) error {
	l, err := net.ListenPacket("udp", s.Address)
	if err != nil {
		return err
	}
	go func() {
		<-s.Stopped()
		_ = l.Close()
	}()
	go func() {
		query := make([]byte, 4096)
		for {
			n, from, err := l.ReadFrom(query)
			if err != nil {
				return
			}
			answer(query[:n], func(b []byte) bool {
				_, err := l.WriteTo(b, from)
				return err == nil
			})
		}
	}()
	return nil
}

// response returns a response to a query with n records.
func response(query []byte, truncated bool, n int) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil {
		return nil
	}
	asked, err := p.AllQuestions()
	if err != nil {
		return nil
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: head.ID, Response: true, Truncated: truncated},
		Questions: asked,
	}
	for range n {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: asked[0].Name, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.TXTResource{TXT: []string{"x"}},
		})
	}
	raw, err := m.Pack()
	if err != nil {
		return nil
	}
	return raw
}

// nameServer is a hostile name server: what it sends by UDP and by TCP.
type nameServer struct {
	name string
	udp  func(query []byte, send func([]byte) bool)
	tcp  strangers.Attack
}

// sendTruncated makes the client ask again by TCP.
func sendTruncated(query []byte, send func([]byte) bool) { send(response(query, true, 0)) }

// respond answers a query by TCP with n records.
func respond(truncated bool, n int) strangers.Attack {
	return strangers.Attack{Send: func(c *strangers.Conn) {
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		raw := response(query, truncated, n)
		_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...))
	}}
}

func nameServers() []nameServer {
	nothing := func([]byte, func([]byte) bool) {}
	return []nameServer{
		{"silence", nothing, strangers.Silent("", "")},
		{"foreign datagrams without end", func(query []byte, send func([]byte) bool) {
			for range 100_000 {
				if !send(append([]byte{query[0] + 1}, query[1:]...)) {
					return
				}
			}
		}, strangers.Silent("", "")},
		{"datagrams of junk", func(_ []byte, send func([]byte) bool) {
			for range 1000 {
				send(make([]byte, 60_000))
			}
		}, strangers.Silent("", "")},
		{"a datagram with too many records", func(query []byte, send func([]byte) bool) {
			send(response(query, false, 1000))
		}, strangers.Silent("", "")},
		{"silence by TCP", sendTruncated, strangers.Silent("", "")},
		{"a dripping message", sendTruncated, strangers.Dripping("", "\xff\xff", "x")},
		{"a message that is too long", sendTruncated, strangers.Endless("", "\xff\xff", "x")},
		{"messages without end", sendTruncated, strangers.Endless("", "", "\x00\x0c"+strings.Repeat("\x00", 12))},
		{"a huge message", sendTruncated, respond(false, 4000)},
		{"truncation also by TCP", sendTruncated, respond(true, 0)},
	}
}

func TestNoNameServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	all := newTable(t)
	for _, n := range nameServers() {
		all.add(hostile{
			name: n.name, bound: 1 << 20, within: 10 * time.Second,
			talk: func(c *strangers.Conn) {
				defer func() { _ = c.Close() }()
				n.tcp.Send(c)
			},
			call: func(ctx context.Context, s *strangers.Server) error {
				if err := datagrams(s, n.udp); err != nil {
					return errors.Join(errOutcome, err)
				}
				_, err := branding.NameServers{Servers: []string{s.Address}}.Ask(ctx, "a.example.", dnsmessage.TypeTXT)
				return err
			},
		})
	}
	all.run()
}
