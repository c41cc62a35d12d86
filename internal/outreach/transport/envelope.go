package transport

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/idna"
)

// Errors of an address that a mail cannot be sent to by this server. Their texts may be shown to the org.
var (
	ErrDomain = errors.New("the domain of the address is not a domain name")
	ErrUTF8   = errors.New("the address has characters that are not ASCII, which the server does not support " +
		"(SMTPUTF8)")
)

// ascii returns an address with its domain as A-labels (RFC 5890). needsUTF8 reports that its local part is not ASCII.
func ascii(address string) (_ string, needsUTF8 bool, err error) {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address, false, nil
	}
	local, domain := address[:at], address[at+1:]
	if !isASCII(domain) {
		if domain, err = idna.Lookup.ToASCII(domain); err != nil {
			return "", false, fmt.Errorf("%w: %w", ErrDomain, err)
		}
	}
	return local + "@" + domain, !isASCII(local), nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// encode returns the envelope as the server takes it, and the options of MAIL. A failure is a result that is certainly
// not sent.
func (c *Conn) encode(e Envelope) (Envelope, *smtp.MailOptions, *Result) {
	from, fromUTF8, err := ascii(e.From)
	if err != nil {
		return e, nil, &Result{Outcome: NotSentPermanent, Stage: Mail, Err: err}
	}
	to, toUTF8, err := ascii(e.To)
	if err != nil {
		return e, nil, &Result{Outcome: NotSentPermanent, Stage: Rcpt, Err: err}
	}
	if !fromUTF8 && !toUTF8 {
		return Envelope{from, to}, nil, nil
	}
	if offered, _ := c.client.Extension("SMTPUTF8"); !offered {
		return e, nil, &Result{Outcome: NotSentPermanent, Stage: Rcpt, Err: ErrUTF8}
	}
	return Envelope{from, to}, &smtp.MailOptions{UTF8: true}, nil
}
