package branding

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// This package implements its own DNS client, because net.Resolver does not distinguish a failed query from a missing
// name, reads the hosts file, and cannot query authoritative servers without recursion.

// NameServers queries recursive name servers, in order, until one answers.
type NameServers struct {
	// Servers are host:port. If empty, the system's servers are used.
	Servers []string
}

// Ask implements View.
func (r NameServers) Ask(ctx context.Context, name string, kind dnsmessage.Type) ([]dnsmessage.Resource, error) {
	servers := r.Servers
	if len(servers) == 0 {
		var err error
		if servers, err = systemServers(); err != nil {
			return nil, err
		}
	}

	got, err := askAny(ctx, servers, question{name: name, kind: kind, recurse: true})

	return got.answers, err
}

// systemServers reads /etc/resolv.conf on each call, because it changes with the network.
func systemServers() (servers []string, err error) {
	f, err := os.Open("/etc/resolv.conf")
	if err != nil {
		return nil, fmt.Errorf("find the system's resolver: %w", err)
	}

	defer func() { _ = f.Close() }()

	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "nameserver" {
			servers = append(servers, net.JoinHostPort(words[1], "53"))
		}
	}

	if len(servers) == 0 {
		return nil, errors.New("/etc/resolv.conf has no name server")
	}

	return servers, nil
}

type question struct {
	name    string // with trailing dot
	kind    dnsmessage.Type
	recurse bool
	ident   uint16 // of the query that was sent
}

// reply is a valid response: the name's records, or the fact that there are none.
type reply struct {
	answers       []dnsmessage.Resource
	authoritative bool
}

// The client tries all servers twice, because a datagram may get lost.
const (
	askRounds = 2
	askTime   = 1500 * time.Millisecond // per server, by UDP and then TCP
)

func askAny(ctx context.Context, servers []string, q question) (reply, error) {
	err := errors.New("no name server to query")
	for range askRounds {
		for _, server := range servers {
			var got reply
			if got, err = queryServer(ctx, server, q); err == nil {
				return got, nil
			}
			if ctx.Err() != nil {
				return reply{}, ctx.Err()
			}
		}
	}

	return reply{}, err
}

// queryServer queries one server by UDP, and by TCP if the response was truncated.
func queryServer(ctx context.Context, server string, q question) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()

	for _, network := range []string{"udp", "tcp"} {
		msg, err := exchangeMessage(ctx, network, server, q)
		if err != nil {
			return reply{}, fmt.Errorf("query %s for %s: %w", server, q.name, err)
		}

		switch {
		case msg.Truncated:
			continue
		case msg.RCode == dnsmessage.RCodeSuccess, msg.RCode == dnsmessage.RCodeNameError:
			return reply{msg.Answers, msg.Authoritative}, nil
		default:
			return reply{}, fmt.Errorf("query %s for %s: %s", server, q.name, msg.RCode)
		}
	}

	return reply{}, fmt.Errorf("query %s for %s: the response is truncated", server, q.name)
}

const (
	// datagram is the UDP response size that is safe from fragmentation (DNS flag day 2020).
	datagram = 1232
	// maxDatagram is what is read of one, for servers that send more than they were asked to.
	maxDatagram = 4096
	// maxForeign bounds the datagrams that are not the response to a query.
	maxForeign = 64
	// maxAnswers bounds the records of a response. In memory, each has about 600 bytes, whose name may have 2 on the
	// wire.
	maxAnswers = 256
)

var (
	errForeign = errors.New("the response does not match the question")
	errTooMuch = errors.New("the response has too many records")
)

func exchangeMessage(ctx context.Context, network, server string, q question) (*dnsmessage.Message,
	error,
) {
	out, ident, err := q.pack()
	q.ident = ident
	if err != nil {
		return nil, err
	}

	conn, err := (&net.Dialer{}).DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}

	defer func() { _ = conn.Close() }()

	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}

	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()

	if network == "tcp" {
		out = append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)
	}

	if _, err := conn.Write(out); err != nil {
		return nil, err
	}

	for range maxForeign {
		raw, err := readMessage(conn, network)
		if err != nil {
			return nil, err
		}

		msg, err := q.unpack(raw)
		if err == nil || network == "tcp" || errors.Is(err, errTooMuch) {
			return msg, err
		}
	}

	return nil, errForeign
}

// unpack returns the header and the answers of a response. It does not return a message that does not match the
// question: it may be spoofed.
func (q question) unpack(raw []byte) (*dnsmessage.Message, error) {
	var p dnsmessage.Parser
	head, err := p.Start(raw)
	if err != nil {
		return nil, err
	}

	asked, err := p.Question()
	if err != nil {
		return nil, err
	}

	if !head.Response || head.ID != q.ident || asked.Type != q.kind || !sameName(asked.Name.String(), q.name) {
		return nil, errForeign
	}

	if _, err := p.Question(); !errors.Is(err, dnsmessage.ErrSectionDone) {
		return nil, errForeign
	}

	msg := &dnsmessage.Message{Header: head}
	for {
		one, err := p.Answer()
		switch {
		case errors.Is(err, dnsmessage.ErrSectionDone):
			return msg, nil
		case err != nil:
			return nil, err
		case len(msg.Answers) == maxAnswers:
			return nil, errTooMuch
		}

		msg.Answers = append(msg.Answers, one)
	}
}

// readMessage returns one message.
func readMessage(conn net.Conn, network string) ([]byte, error) {
	if network == "udp" {
		buf := make([]byte, maxDatagram)
		n, err := conn.Read(buf)
		return buf[:n], err
	}

	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}

	buf := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, buf)

	return buf, err
}

func (q question) pack() (msg []byte, ident uint16, err error) {
	name, err := dnsmessage.NewName(q.name)
	if err != nil {
		return nil, 0, err
	}

	var random [2]byte
	_, _ = rand.Read(random[:]) // never fails
	ident = binary.BigEndian.Uint16(random[:])
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: ident, RecursionDesired: q.recurse})
	var size dnsmessage.ResourceHeader
	err = errors.Join(
		b.StartQuestions(), b.Question(dnsmessage.Question{Name: name, Type: q.kind, Class: dnsmessage.ClassINET}),
		b.StartAdditionals(),
		size.SetEDNS0(datagram, dnsmessage.RCodeSuccess, false), b.OPTResource(size, dnsmessage.OPTResource{}))
	if err != nil {
		return nil, 0, err
	}

	msg, err = b.Finish()

	return msg, ident, err
}
