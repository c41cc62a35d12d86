package testkit

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// NameServer is a private DNS server of one test, by UDP and TCP on one loopback port. It has only the given records
// and does not follow CNAMEs; every other name does not exist.
type NameServer struct {
	Addr string // host:port

	t     testing.TB
	mu    sync.Mutex
	zone  map[string][]dnsmessage.ResourceBody // by name and type
	names map[string]int                       // records of any type
	how   map[string]Trouble
	asked map[string]int
	lame  bool
}

// Trouble is a failure with which queries for a name are answered instead of its records.
type Trouble int

// The failures.
const (
	Silent   Trouble = iota + 1 // no response
	ServFail                    // SERVFAIL
	Refused                     // REFUSED
	Garbage                     // an invalid message, then a response to another query, then nothing
	Cut                         // truncated by UDP, so that the client retries by TCP
)

// DNS starts a NameServer.
func DNS(t testing.TB) *NameServer {
	t.Helper()
	n := &NameServer{
		t: t, zone: map[string][]dnsmessage.ResourceBody{}, names: map[string]int{},
		how: map[string]Trouble{}, asked: map[string]int{},
	}
	var (
		stream net.Listener
		packet net.PacketConn
		err    error
	)
	for range 50 { // find a port that is free for both
		if stream, err = net.Listen("tcp", "127.0.0.1:0"); err != nil { //nolint:noctx // answers at once
			continue
		}
		if packet, err = net.ListenPacket("udp", stream.Addr().String()); err == nil { //nolint:noctx // as above
			break
		}
		_ = stream.Close()
	}
	if err != nil {
		t.Fatalf("testkit: dns: %v", err)
	}
	n.Addr = stream.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { n.datagrams(packet) })
	serving.Go(func() { n.connections(stream) })
	t.Cleanup(func() {
		_ = packet.Close()
		_ = stream.Close()
		serving.Wait()
	})
	return n
}

// Set sets the records of a name for one type: TXT, CNAME, A, AAAA or NS. No values remove them. A vertical bar
// separates the strings of one TXT record.
func (n *NameServer) Set(name, kind string, values ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	key := dnsKey(name, kind)
	n.names[dnsName(name)] += len(values) - len(n.zone[key])
	n.zone[key] = nil
	for _, v := range values {
		var body dnsmessage.ResourceBody
		switch kind {
		case "TXT":
			body = &dnsmessage.TXTResource{TXT: strings.Split(v, "|")}
		case "CNAME":
			body = &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(dnsName(v))}
		case "NS":
			body = &dnsmessage.NSResource{NS: dnsmessage.MustNewName(dnsName(v))}
		case "A":
			body = &dnsmessage.AResource{A: netip.MustParseAddr(v).As4()}
		case "AAAA":
			body = &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(v).As16()}
		default:
			n.t.Fatalf("testkit: dns: type %s", kind)
		}
		n.zone[key] = append(n.zone[key], body)
	}
}

// Trouble makes queries for a name fail as how; 0 ends it.
func (n *NameServer) Trouble(name string, how Trouble) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.how[dnsName(name)] = how
}

// Disown makes responses non-authoritative from now on.
func (n *NameServer) Disown() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lame = true
}

// Asked returns the number of queries for a name.
func (n *NameServer) Asked(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[dnsName(name)]
}

func dnsName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) + "." }

func dnsKey(name, kind string) string { return dnsName(name) + " " + kind }

func (n *NameServer) datagrams(on net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		size, from, err := on.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		for _, out := range n.answer(buf[:size], true) {
			_, _ = on.WriteTo(out, from)
		}
	}
}

func (n *NameServer) connections(on net.Listener) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		c, err := on.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer func() { _ = c.Close() }()
			var size [2]byte
			if _, err := io.ReadFull(c, size[:]); err != nil {
				return
			}
			buf := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(c, buf); err != nil {
				return
			}
			for _, out := range n.answer(buf, false) {
				_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...))
			}
		})
	}
}

func (n *NameServer) answer(in []byte, datagram bool) [][]byte {
	var msg dnsmessage.Message
	if msg.Unpack(in) != nil || len(msg.Questions) != 1 {
		return nil
	}
	q := msg.Questions[0]
	name := dnsName(q.Name.String())
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[name]++
	msg.Additionals = nil
	msg.Response, msg.Authoritative, msg.RecursionAvailable = true, !n.lame, true
	switch how := n.how[name]; {
	case how == Silent:
		return nil
	case how == ServFail:
		msg.RCode = dnsmessage.RCodeServerFailure
	case how == Refused:
		msg.RCode = dnsmessage.RCodeRefused
	case how == Garbage:
		other := msg
		other.ID++
		return [][]byte{[]byte("no message"), pack(other)}
	case how == Cut && datagram:
		msg.Truncated = true
	default:
		kind := strings.TrimPrefix(q.Type.String(), "Type")
		bodies := n.zone[dnsKey(name, kind)]
		if len(bodies) == 0 {
			bodies = n.zone[dnsKey(name, "CNAME")]
		}
		for _, b := range bodies {
			msg.Answers = append(msg.Answers,
				dnsmessage.Resource{Header: dnsmessage.ResourceHeader{
					Name: q.Name, Class: dnsmessage.ClassINET,
					TTL: 60,
				}, Body: b})
		}
		if n.names[name] == 0 {
			msg.RCode = dnsmessage.RCodeNameError
		}
	}
	return [][]byte{pack(msg)}
}

func pack(msg dnsmessage.Message) []byte {
	out, err := msg.Pack()
	if err != nil {
		return nil
	}
	return out
}
