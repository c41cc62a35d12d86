package strangers_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/funnelwork/funnelwork/internal/branding"
)

// datagrams makes the server of a table row answer by UDP, too, at the same port. answer gets a query, and sends what it
// likes. What the client does not read is dropped, so it is not counted.
func datagrams(s *server, answer func(query []byte, send func([]byte) bool)) error {
	l, err := net.ListenPacket("udp", s.address) //nolint:noctx // a local listener
	if err != nil {
		return err
	}
	go func() {
		<-s.quit
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
	tcp  attack
}

// truncated makes the client ask again by TCP.
func truncated(query []byte, send func([]byte) bool) { send(response(query, true, 0)) }

func nameServers() []nameServer {
	nothing := func([]byte, func([]byte) bool) {}
	return []nameServer{
		{"silence", nothing, silent("", "")},
		{"foreign datagrams without end", func(query []byte, send func([]byte) bool) {
			for range 100_000 {
				if !send(append([]byte{query[0] + 1}, query[1:]...)) {
					return
				}
			}
		}, silent("", "")},
		{"datagrams of junk", func(_ []byte, send func([]byte) bool) {
			for range 1000 {
				send(make([]byte, 60_000))
			}
		}, silent("", "")},
		{"a datagram with too many records", func(query []byte, send func([]byte) bool) {
			send(response(query, false, 1000))
		}, silent("", "")},
		{"silence by TCP", truncated, silent("", "")},
		{"a dripping message", truncated, dripping("", "\xff\xff", "x")},
		{"a message that is too long", truncated, endless("", "\xff\xff", "x")},
		{"messages without end", truncated, endless("", "", "\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"a huge message", truncated, attack{"", func(c *conn) {
			head := make([]byte, 2)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(head))
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			raw := response(query, false, 4000)
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...))
		}}},
		{"truncation also by TCP", truncated, attack{"", func(c *conn) {
			head := make([]byte, 2)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(head))
			if _, err := io.ReadFull(c, query); err != nil {
				return
			}
			raw := response(query, true, 0)
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...))
		}}},
	}
}

func TestNoNameServerIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	all := newTable(t)
	for _, n := range nameServers() {
		all.add(hostile{
			name: n.name, bound: 1 << 20, within: 10 * time.Second,
			talk: func(c *conn) {
				defer func() { _ = c.Close() }()
				n.tcp.send(c)
			},
			call: func(ctx context.Context, s *server) error {
				if err := datagrams(s, n.udp); err != nil {
					return errors.Join(errOutcome, err)
				}
				_, err := branding.NameServers{Servers: []string{s.address}}.Ask(ctx, "a.example.", dnsmessage.TypeTXT)
				return err
			},
		})
	}
	all.run()
}
