package transport_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

// sendTo sends a mail to an address by a server with a dialer.
func sendTo(t *testing.T, s *smtpd.Server, d *transport.Dialer, to string) transport.Result {
	t.Helper()
	d.AllowPrivate, d.Timeout, d.DotTimeout = true, 10*time.Second, 10*time.Second
	c, failure := d.Connect(t.Context(), transport.Server{Host: s.Host, Port: s.Port, TLS: transport.Plain})
	if failure != nil {
		t.Fatalf("%+v", failure)
	}
	defer func() { _ = c.Close() }()
	return c.Send(t.Context(), transport.Envelope{From: "hello@bücher.example", To: to}, []byte("Subject: "+
		"x\r\n\r\nHi\r\n"),
		func(context.Context) error { return nil })
}

func TestADomainOutsideASCIIIsWrittenAsALabels(t *testing.T) {
	t.Parallel()
	s := smtpd.Start(t, nil)
	if r := sendTo(t, s, &transport.Dialer{}, "ada@Straße.example"); r.Outcome != transport.Sent {
		t.Fatalf("%+v", r)
	}
	got := s.Accepted()[0]
	if got.From != "hello@xn--bcher-kva.example" || !strings.HasPrefix(got.To, "ada@xn--") {
		t.Errorf("from %s to %s", got.From, got.To)
	}
}

func TestALocalPartOutsideASCIINeedsAServerThatOffersIt(t *testing.T) {
	t.Parallel()
	plain := smtpd.Start(t, nil)
	r := sendTo(t, plain, &transport.Dialer{}, "jörg@example.com")
	if r.Outcome != transport.NotSentPermanent || !errors.Is(r.Err, transport.ErrUTF8) || len(plain.Accepted()) != 0 {
		t.Errorf("without the extension: %+v", r)
	}
	able := smtpd.Start(t, func(_ *smtpd.Server, s *smtp.Server) { s.EnableSMTPUTF8 = true })
	if r := sendTo(t, able, &transport.Dialer{}, "jörg@example.com"); r.Outcome != transport.Sent {
		t.Fatalf("with it: %+v", r)
	}
	if to := able.Accepted()[0].To; to != "jörg@example.com" {
		t.Error(to)
	}
}

func TestTheClientIntroducesItselfByAPublicName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, url, want string }{
		{"mail.shop.example", "https://shop.example", "mail.shop.example"},
		{"", "https://app.shop.example:8443/x", "app.shop.example"},
		{"", "https://bücher.example", "xn--bcher-kva.example"},
		{"", "https://192.0.2.7", "[192.0.2.7]"},
		{"", "https://[2001:db8::1]:8080", "[IPv6:2001:db8::1]"},
		{"", "http://localhost:8080", ""},
		{"", "http://127.0.0.1:8080", ""},
		{"", "http://[::1]:8080", ""},
		{"", "http://app.localhost", ""},
		{"", "", ""},
		{"", "http://box", ""},
		{"", "http://0.0.0.0:80", ""},
	} {
		if got := transport.HelloName(c.name, c.url); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.name, c.url, got, c.want)
		}
	}
	s := smtpd.Start(t, nil)
	sendTo(t, s, &transport.Dialer{}, "ada@example.com")
	sendTo(t, s, &transport.Dialer{Name: "mail.shop.example"}, "ada@example.com")
	if all := s.Accepted(); all[0].Hello != "[127.0.0.1]" || all[1].Hello != "mail.shop.example" {
		t.Errorf("%q, then %q", all[0].Hello, all[1].Hello)
	}
}
