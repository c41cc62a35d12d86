package imap_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
)

func serverOf(s *imapd.Server) imap.Server {
	return imap.Server{Host: s.Host, Port: s.Port, TLS: "none", Username: imapd.User, Password: imapd.Password}
}

func connect(t *testing.T, s imap.Server) (*imap.Conn, error) {
	t.Helper()
	c, err := (&imap.Dialer{AllowPrivate: true, Timeout: 20 * time.Second}).Connect(t.Context(), s)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestAMailIsFoundInTheFolderOfSentMail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		folder string
		marked bool
	}{
		"marked":        {"Archive/Out", true},
		"usual name":    {"Sent Items", false},
		"below another": {"INBOX/Gesendet", false},
	} {
		s := imapd.Start(t, c.folder, c.marked)
		conn, err := connect(t, serverOf(s))
		if err != nil {
			t.Fatal(err)
		}
		folder, err := conn.Sent()
		if err != nil || folder != c.folder {
			t.Errorf("%s: folder %q, %v", name, folder, err)
		}
		if found, err := conn.Has(folder, "1@shop.example"); err != nil || found {
			t.Errorf("%s: found %t before it was filed, %v", name, found, err)
		}
		s.File(t, "1@shop.example")
		if found, err := conn.Has(folder, "1@shop.example"); err != nil || !found {
			t.Errorf("%s: found %t, %v", name, found, err)
		}
		if found, err := conn.Has(folder, "2@shop.example"); err != nil || found {
			t.Errorf("%s: another mail is found %t, %v", name, found, err)
		}
	}
}

func TestAMailboxWithoutAFolderOfSentMailSaysSo(t *testing.T) {
	t.Parallel()
	conn, err := connect(t, serverOf(imapd.Start(t, "Elsewhere", false)))
	if err != nil {
		t.Fatal(err)
	}
	if folder, err := conn.Sent(); !errors.Is(err, imap.ErrNoFolder) {
		t.Errorf("%q, %v", folder, err)
	}
}

func TestARefusedSignInDiffersFromAServerThatIsAway(t *testing.T) {
	t.Parallel()
	s := imapd.Start(t, "Sent", false)
	wrong := serverOf(s)
	wrong.Password = "wrong"
	if _, err := connect(t, wrong); !errors.Is(err, imap.ErrRefused) {
		t.Errorf("wrong password: %v", err)
	}
	s.Stop()
	if _, err := connect(t, serverOf(s)); err == nil || errors.Is(err, imap.ErrRefused) {
		t.Errorf("a server that is away: %v", err)
	}
}

func TestATokenSignsIn(t *testing.T) {
	t.Parallel()
	s := imapd.Start(t, "Sent", false)
	s.RequireToken("fresh")
	at := serverOf(s)
	at.AccessToken = "fresh"
	conn, err := connect(t, at)
	if err != nil {
		t.Fatal(err)
	}
	if folder, err := conn.Sent(); err != nil || folder != "Sent" {
		t.Errorf("%q, %v", folder, err)
	}
	at.AccessToken = "stale"
	if _, err := connect(t, at); !errors.Is(err, imap.ErrRefused) {
		t.Errorf("another token: %v", err)
	}
}

func TestOnlyPublicServersAreReadWithTLS(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]imap.Server{
		"loopback":  {Host: "127.0.0.1", Port: 993, TLS: "tls"},
		"localhost": {Host: "localhost", Port: 993, TLS: "tls"},
		"port":      {Host: "imap.example.com", Port: 6379, TLS: "tls"},
		"no TLS":    {Host: "imap.example.com", Port: 143, TLS: "none"},
		"metadata":  {Host: "169.254.169.254", Port: 143, TLS: "starttls"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := (&imap.Dialer{}).Connect(ctx, s); !errors.Is(err, imap.ErrNotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
