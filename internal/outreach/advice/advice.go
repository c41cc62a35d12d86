package advice

import (
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"unicode"
)

// Problem is a call of a mail server that failed.
type Problem struct {
	Protocol string // SMTP or IMAP
	Host     string
	Port     int
	TLS      string // tls, starttls or none
	SignIn   bool   // the sign-in failed
	Reply    string // of the server, with its code; "": none
	Err      error  // nil: there is a reply
}

// Advice is what people read of a Problem. Both are sentences.
type Advice struct{ Detail, Action string }

// Of returns the advice for a problem. Its members are empty if nothing is known beyond that it failed.
func Of(p *Problem) Advice {
	if p.Reply != "" {
		return ofReply(p)
	}
	if a, ok := ofCertificate(p); ok {
		return a
	}
	return ofConnection(p)
}

// server names the server of a problem.
func (p *Problem) server() string {
	return "The " + p.Protocol + " server " + net.JoinHostPort(p.Host, strconv.Itoa(p.Port))
}

// ofReply returns the advice for what a server has replied, which the detail quotes.
func ofReply(p *Problem) Advice {
	said := oneLine(p.Reply)
	a := Advice{Detail: "The server says: " + said}
	lower := strings.ToLower(said)
	for i := range replies {
		r := &replies[i]
		if r.anywhere || p.SignIn {
			for _, w := range r.words {
				if strings.Contains(lower, w) {
					a.Action = r.action
					return a
				}
			}
		}
	}
	if p.SignIn {
		a.Action = wrongPassword
	}
	return a
}

// ofConnection returns the advice for a connection that failed before the server has said what is wrong.
func ofConnection(p *Problem) Advice {
	text := ""
	if p.Err != nil {
		text = strings.ToLower(p.Err.Error())
	}
	var record tls.RecordHeaderError
	switch {
	case p.Err == nil:
		return Advice{}
	case strings.Contains(text, "starttls"):
		return Advice{
			p.server() + " offers no STARTTLS, so that the connection would not be encrypted.",
			"Choose the encryption tls with port " + p.tlsPort() + ", or ask the operator of the server to " +
				"offer STARTTLS.",
		}
	case errors.As(p.Err, &record):
		return Advice{
			p.server() + " does not begin with TLS.",
			"Choose the encryption starttls for this port, or tls with port " + p.tlsPort() + ".",
		}
	case strings.Contains(text, "protocol version"), strings.Contains(text, "unsupported versions"),
		strings.Contains(text, "handshake failure"), strings.Contains(text, "no supported versions"):
		return Advice{
			p.server() + " speaks only versions of TLS that are not safe any more, or none that this service knows.",
			"Ask the operator of the server to offer TLS 1.2 or 1.3.",
		}
	case strings.Contains(text, "no sign-in that can be used"), strings.Contains(text, "doesn't support auth"):
		return Advice{
			p.server() + " offers no sign-in with a password on this connection.",
			"Use the port for mail programs, 587 with starttls or 465 with tls, or clear the user name if the " +
				"server needs " +
				"no sign-in.",
		}
	}
	return Advice{Action: p.portAction(text)}
}

// portAction returns what to do about a server that does not respond, or "".
func (p *Problem) portAction(text string) string {
	var dns *net.DNSError
	switch {
	case errors.As(p.Err, &dns):
		return "Check how the name of the server is written. The provider's help pages have it, often smtp. or " +
			"imap. and the " +
			"domain."
	case p.Port == 25:
		return "Use port 587 with starttls or 465 with tls: port 25 is for mail between servers, and many " +
			"networks block it."
	case p.TLS == "starttls" && (p.Port == 465 || p.Port == 993):
		return "Choose the encryption tls: on port " + strconv.Itoa(p.Port) + " a server expects it from the start."
	case p.TLS == "tls" && (p.Port == 587 || p.Port == 143):
		return "Choose the encryption starttls: on port " + strconv.Itoa(p.Port) + " a connection begins without it."
	case strings.Contains(text, "refused"):
		return "Check the port: nothing listens on this one. Mail programs use 587 or 465 to send, and 993 to read."
	}
	return ""
}

func (p *Problem) tlsPort() string {
	if p.Protocol == "IMAP" {
		return "993"
	}
	return "465"
}

const longestReply = 400

// oneLine returns a reply on one line.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(strings.ToValidUTF8(s, "")); len(runes) > longestReply {
		return string(runes[:longestReply]) + "…"
	}
	return strings.ToValidUTF8(s, "")
}
