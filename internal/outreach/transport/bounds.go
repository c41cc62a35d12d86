package transport

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// lines bounds the text of a reply. A reply of EHLO, the longest one, has about 20 lines of up to 100 bytes. The client
// joins the lines one by one, so many short ones would cost more than their bytes.
var lines = outbound.LineBounds{Bytes: 16 << 10, Lines: 128, Length: 2000}

// bounds returns the bounds of the connection for the next part of the session, below TLS: its handshake brings the
// server's certificates, mostly 3 to 6 KiB.
func bounds(life time.Duration) outbound.Bounds {
	return outbound.Bounds{Total: 256 << 10, Answer: 48 << 10, Life: life}
}

// startTLS greets the server, and returns the encrypted connection. Its server greets again after the handshake as far
// as the client can see: the client of go-smtp that changes to TLS itself has no place for bounds above TLS.
func startTLS(raw *outbound.Conn, config *tls.Config, name string, limit time.Duration) (net.Conn, error) {
	plain := outbound.BoundLines(raw, lines)
	client := smtp.NewClient(plain)
	client.CommandTimeout = limit
	if err := client.Hello(name); err != nil {
		return nil, err
	}
	if ok, _ := client.Extension("STARTTLS"); !ok {
		return nil, errors.New("the server does not offer STARTTLS")
	}
	if err := plain.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(plain, "STARTTLS\r\n"); err != nil {
		return nil, err
	}
	// What follows the reply in plain text is dropped with the reader.
	if _, _, err := textproto.NewReader(bufio.NewReader(plain)).ReadResponse(220); err != nil {
		return nil, refusal(err)
	}
	secure := tls.Client(raw, config)
	if err := secure.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	if err := secure.Handshake(); err != nil { //nolint:noctx // the deadline bounds it, and Open closes the connection
		return nil, err
	}
	return outbound.Greeted(secure, "220 ready\r\n"), nil
}

// refusal returns the error of a reply as go-smtp returns it.
func refusal(err error) error {
	e, ok := errors.AsType[*textproto.Error](err)
	if !ok {
		return err
	}
	refused := &smtp.SMTPError{Code: e.Code, EnhancedCode: smtp.EnhancedCodeNotSet, Message: e.Msg}
	var c smtp.EnhancedCode
	if n, _ := fmt.Sscanf(e.Msg, "%d.%d.%d ", &c[0], &c[1], &c[2]); n == len(c) {
		refused.EnhancedCode = c
	}
	return refused
}
