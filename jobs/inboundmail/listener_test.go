package inboundmail_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/listener"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
)

func TestTheListenerTakesMailForTokensAlone(t *testing.T) {
	t.Parallel()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	sql := testkit.Pgx(t, db.URL)
	if _, err := sql.Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Test')`, org); err != nil {
		t.Fatal(err)
	}
	var token string
	boxes := &mailboxes.Service{Box: box}
	if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		m, _, err := boxes.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.Sandbox), FromEmail: wire.Some("hello@shop.example"),
		}, nil)
		if err != nil {
			return err
		}
		_, token, err = boxes.RotateToken(t.Context(), tx, m.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, lmtp := range []bool{false, true} {
		client := dial(t, &listener.Server{
			Inbound: inboundmail.Intake(db.App, box), Log: testkit.Log(t), LMTP: lmtp,
		}, lmtp)
		if err := client.Mail("", nil); err != nil {
			t.Fatal(err)
		}
		var refused *smtp.SMTPError
		if err := client.Rcpt("hello@shop.example", nil); !errors.As(err, &refused) || refused.Code != 550 {
			t.Errorf("another recipient: %v", err)
		}
		if err := client.Rcpt(token+"@in.example", nil); err != nil {
			t.Fatal(err)
		}
		w, err := client.Data()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("From: ada@example.com\r\nMessage-ID: <1@example.com>\r\n\r\nHello\r\n"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := client.Mail("ada@example.com", &smtp.MailOptions{Size: 151 << 20}); !errors.As(err, &refused) ||
			refused.Code != 552 {
			t.Errorf("a mail that is too large: %v", err)
		}
		if err := client.Mail("ada@example.com", nil); err != nil {
			t.Fatal(err)
		}
		if err := client.Rcpt(token+"@in.example", nil); err != nil {
			t.Fatal(err)
		}
		if w, err = client.Data(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, largeMail)
		line := []byte(strings.Repeat("Q", 76) + "\r\n")
		for range 30 << 20 / len(line) {
			if _, err := w.Write(line); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = io.WriteString(w, "--b--\r\n")
		if err := w.Close(); err != nil {
			t.Errorf("a large mail: %v", err)
		}
		_ = client.Close()
	}
	var n, jobs int
	err := sql.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM message WHERE org_id = $1 AND via = 'smtp'),
		(SELECT count(*) FROM job WHERE org_id = $1 AND kind = 'inbound.mail')`, org).Scan(&n, &jobs)
	if err != nil || n != 2 || jobs != 2 {
		t.Errorf("%d messages, %d jobs, %v: want each mail once", n, jobs, err)
	}
}

// largeMail is the begin of a mail with a text and a file, whose lines follow.
const largeMail = "From: ada@example.com\r\nMessage-ID: <2@example.com>\r\n" +
	"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nYes.\r\n--b\r\nContent-Type: image/jpeg\r\n" +
	"Content-Transfer-Encoding: base64\r\n\r\n"

// dial starts a server until the test ends, and connects to it.
func dial(t *testing.T, s *listener.Server, lmtp bool) *smtp.Client {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(ln.Addr().String(), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	if lmtp {
		return smtp.NewClientLMTP(conn)
	}
	return smtp.NewClient(conn)
}
