package mailboxes

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
)

// SilenceOf returns a sentence for people if err, of a call of a server, says that the server could not be reached or
// did not respond. Otherwise it returns "".
func SilenceOf(server, host string, port int, err error) string {
	name := "The SMTP server "
	if server == Retrieval {
		name = "The IMAP server "
	}
	name += net.JoinHostPort(host, strconv.Itoa(port))
	var (
		dns     *net.DNSError
		op      *net.OpError
		timeout interface{ Timeout() bool }
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
	)
	switch {
	case err == nil, errors.As(err, &cert), errors.As(err, &record):
		return ""
	case errors.As(err, &dns):
		return name + " was not found: the look-up of its name failed."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return name + " did not respond in time."
	case errors.Is(err, syscall.ECONNREFUSED):
		return name + " refused the connection."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return name + " closed the connection before it had responded."
	case errors.As(err, &op) && op.Op == "dial":
		return name + " could not be reached."
	}
	return ""
}
