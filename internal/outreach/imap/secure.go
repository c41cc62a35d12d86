package imap

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
)

var (
	errGreeting   = errors.New("the server does not greet")
	errNoStartTLS = errors.New("the server refuses STARTTLS")
)

// plainLines bounds the text before STARTTLS.
var plainLines = outbound.LineBounds{Bytes: 16 << 10, Lines: 64, Length: 8 << 10}

// secure returns the connection with TLS as the server's settings have it. Bounds of what the server sends are set
// above TLS as well, so go-imap, which has no place for them, does not change to TLS itself.
func (d *Dialer) secure(raw *outbound.Conn, s Server) (net.Conn, error) {
	if s.TLS != transport.ImplicitTLS && s.TLS != transport.StartTLS {
		return raw, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.Roots != nil {
		config = d.Roots.Clone()
	}
	config.ServerName = s.Host
	if s.TLS == transport.StartTLS {
		if err := startTLS(outbound.BoundLines(raw, plainLines)); err != nil {
			return nil, err
		}
	}
	conn := tls.Client(raw, config)
	if err := conn.Handshake(); err != nil { //nolint:noctx // Connect closes the connection when ctx ends
		return nil, err
	}
	if s.TLS == transport.StartTLS {
		return outbound.Greeted(conn, "* OK ready\r\n"), nil
	}
	return conn, nil
}

// startTLS waits for the greeting, and makes the server expect a handshake. What follows its answer in plain text is
// dropped. A server that greets with PREAUTH is refused (RFC 9051 section 7.1.4).
func startTLS(c net.Conn) error {
	const tag = "S0 "
	lines := bufio.NewReader(c)
	if line, err := lines.ReadString('\n'); err != nil || !hasPrefixFold(line, "* OK") {
		return errors.Join(errGreeting, err)
	}
	if _, err := io.WriteString(c, tag+"STARTTLS\r\n"); err != nil {
		return err
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if answer, ok := strings.CutPrefix(line, tag); ok {
			if !hasPrefixFold(answer, "OK") {
				return errNoStartTLS
			}
			return nil
		}
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
