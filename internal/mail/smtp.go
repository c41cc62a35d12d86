package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"go.opentelemetry.io/otel/trace"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
)

// SMTP sends system mail through an SMTP server.
type SMTP struct {
	host    string
	options []gomail.Option
	from    string
	address string      // the address of from
	domain  string      // the domain of from, for Message-IDs
	tls     *tls.Config // of a server that expects TLS at once; nil: it does not
}

// sendTime bounds a session.
const sendTime = 15 * time.Second

// session bounds what the server sends in a session: the library reads replies of any length. A certificate mostly has
// 3 to 6 KiB, a reply at most 2 KiB.
var session = outbound.Bounds{Total: 64 << 10, Answer: 64 << 10, Life: sendTime}

// dial connects to the server. The library knows a connection with TLS by its type.
func (s *SMTP) dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	bounded := outbound.Bound(raw, session)
	if s.tls == nil {
		return bounded, nil
	}
	return tls.Client(bounded, s.tls), nil
}

// ErrRefused reports a permanent failure: a retry of the same mail cannot succeed.
var ErrRefused = errors.New("refused permanently")

// NewSMTP returns an SMTP with the given settings. address is smtp://[user:password@]host[:587] with STARTTLS, or
// smtps://[user:password@]host[:465]; ?tls=none disables TLS, for a relay on the same machine. from is the sender, for
// example "Funnelwork <noreply@example.com>".
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("read SMTP settings: want smtp://[user:password@]host[:port]")
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("read SMTP settings: the sender %q is not a mail address", from)
	}
	s := &SMTP{
		host: u.Hostname(), from: sender.String(),
		options: []gomail.Option{gomail.WithTimeout(sendTime)},
	}
	s.address = sender.Address
	s.domain = sender.Address[strings.LastIndexByte(sender.Address, '@')+1:]
	port := 587
	switch {
	case s.host == "":
		return nil, errors.New("read SMTP settings: the host is missing")
	case u.Scheme == "smtps":
		port = 465
		s.options = append(s.options, gomail.WithSSL())
		s.tls = &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	case u.Scheme != "smtp":
		return nil, fmt.Errorf("read SMTP settings: want smtp:// or smtps://, have %q", u.Scheme)
	case u.Query().Get("tls") == "none":
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil {
			return nil, errors.New("read SMTP settings: the port is not a number")
		}
	}
	s.options = append(s.options, gomail.WithPort(port), gomail.WithDialContextFunc(s.dial))
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		auth := gomail.SMTPAuthAutoDiscover
		if u.Query().Get("tls") == "none" {
			auth = gomail.SMTPAuthPlainNoEnc
		}
		s.options = append(s.options, gomail.WithSMTPAuth(auth), gomail.WithUsername(name),
			gomail.WithPassword(password))
	}
	return s, nil
}

// Send sends m. messageID must be the same on every attempt, so that receivers can drop duplicates. A permanent failure
// is ErrRefused.
func (s *SMTP) Send(ctx context.Context, messageID string, m *Message) (err error) {
	ctx, span := spans.Start(ctx, "mail", trace.SpanKindClient)
	defer func() {
		if err != nil {
			spans.Fail(span)
		}
		span.End()
	}()
	msg := gomail.NewMsg()
	from := s.from
	if m.dressed {
		from = (&mail.Address{Name: m.from, Address: s.address}).String()
	}
	if err := errors.Join(msg.From(from), msg.To(m.To)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(messageID + "@" + s.domain)
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("smtp settings: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if refusal, ok := errors.AsType[*gomail.SendError](err); ok && !refusal.IsTemp() && refusal.ErrorCode() >= 500 {
		return fmt.Errorf("send mail: %w: %w", ErrRefused, err)
	}
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}
