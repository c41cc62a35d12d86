package mail_test

import (
	"context"
	"errors"
	"io"
	"net"
	netmail "net/mail"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// inbox is a mail server that stores what it receives.
type inbox struct {
	mu     sync.Mutex
	got    []string
	logins []string
	refuse *smtp.SMTPError // response to every recipient
}

func (b *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{box: b}, nil }

type session struct{ box *inbox }

func (*session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.box.mu.Lock()
		defer s.box.mu.Unlock()
		s.box.logins = append(s.box.logins, user+" "+password)
		return nil
	}), nil
}

func (*session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(string, *smtp.RcptOptions) error {
	if s.box.refuse != nil {
		return s.box.refuse
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.got = append(s.box.got, string(b))
	return err
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }

func (b *inbox) serve(t *testing.T) (addr string) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := smtp.NewServer(b)
	s.AllowInsecureAuth = true
	s.Domain = "mx.test"
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return ln.Addr().String()
}

func TestAMailGoesOutByTheServerOfTheSettings(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	out, err := mail.NewSMTP("smtp://user:pass@"+box.serve(t)+"?tls=none", "Funnelwork <noreply@crm.test>")
	if err != nil {
		t.Fatal(err)
	}
	m := mail.Invite("ünï@example.com", "https://crm.test", "tok/en", "Tom &\r\nBcc: <x@y>")
	m.To = "bob@example.com"
	if err := out.Send(t.Context(), "0190", &m); err != nil {
		t.Fatal(err)
	}
	if len(box.got) != 1 || len(box.logins) != 1 || box.logins[0] != "user pass" {
		t.Fatalf("%d mails, logins %q; want 1 and user pass", len(box.got), box.logins)
	}
	got, err := netmail.ReadMessage(strings.NewReader(box.got[0]))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Message-ID": "<0190@crm.test>", "To": "<bob@example.com>", "From": `"Funnelwork" <noreply@crm.test>`,
		"Auto-Submitted": "auto-generated", "Bcc": "",
	} {
		if have := got.Header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if !strings.Contains(box.got[0], "multipart/alternative") {
		t.Error("not in both forms")
	}
	if m.Text !=
		"You are invited to join “Tom & Bcc: <x@y>” on Funnelwork. The link is good for seven days.\n\nAccept the "+
			"invitation:\nhttps://crm.test/accept-invite?token=tok%2Fen\n\nIf you do not know the sender, do "+
			"nothing.\n" {
		t.Errorf("%q", m.Text)
	}
	if strings.Contains(m.HTML, "<x@y>") {
		t.Error("an org's name is not escaped")
	}
}

func TestALastingRefusalIsToldFromAPassingOne(t *testing.T) {
	t.Parallel()
	for code, lasting := range map[int]bool{550: true, 451: false} {
		box := &inbox{refuse: &smtp.SMTPError{
			Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1},
			Message: "no",
		}}
		out, err := mail.NewSMTP("smtp://"+box.serve(t)+"?tls=none", "noreply@crm.test")
		if err != nil {
			t.Fatal(err)
		}
		m := mail.Reset("bob@example.com", "https://crm.test", "t")
		if err := out.Send(t.Context(), "1", &m); err == nil || errors.Is(err, mail.ErrRefused) != lasting {
			t.Errorf("%d: %v, want lasting = %v", code, err, lasting)
		}
	}
	out, err := mail.NewSMTP("smtp://127.0.0.1:1?tls=none", "noreply@crm.test")
	if err != nil {
		t.Fatal(err)
	}
	m := mail.Reset("bob@example.com", "https://crm.test", "t")
	if err := out.Send(t.Context(), "1", &m); err == nil || errors.Is(err, mail.ErrRefused) {
		t.Errorf("a server that is away: %v", err)
	}
}

func TestWithoutTLSOnTheOtherSideNothingIsSent(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	out, err := mail.NewSMTP("smtp://user:pass@"+box.serve(t), "noreply@crm.test")
	if err != nil {
		t.Fatal(err)
	}
	m := mail.Reset("bob@example.com", "https://crm.test", "t")
	if err := out.Send(t.Context(), "1", &m); err == nil || len(box.got)+len(box.logins) != 0 {
		t.Errorf("%v, %d mails, %d logins over a plain connection", err, len(box.got), len(box.logins))
	}
}

func TestSettingsThatCannotBeAreRefusedWithoutRepeatingThePassword(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{"", "a@b.test"},
		{"http://u:hunter2@h", "a@b.test"},
		{"smtp://u:hunter2@", "a@b.test"},
		{"smtp://u:hunter2@h:x", "a@b.test"},
		{"smtp://u:hunter2@h", "nobody"},
		{"smtp://u:hunter2@[::1", "a@b.test"},
	} {
		if _, err := mail.NewSMTP(tc[0], tc[1]); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v", tc, err)
		}
	}
}

func TestAMailIsStoredSealedAndReadUntilItIsSent(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	box := testkit.Box(t)
	m := mail.Reset("bob@example.com", "https://crm.test", "the-token")
	org := id.New()
	var letter id.ID
	in := func(fn func(ctx context.Context, tx *postgres.Tx) error) {
		t.Helper()
		if err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error { return fn(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	in(func(_ context.Context, tx *postgres.Tx) (err error) {
		letter, err = mail.Write(tx, box, m)
		return err
	})
	var raw string
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		`SELECT system_mail::text || encode(body, 'escape') FROM system_mail`).Scan(&raw); err != nil ||
		strings.Contains(raw, "the-token") {
		t.Errorf("%q, %v: the token can be read in the database", raw, err)
	}
	read := func() (got *mail.Message) {
		in(func(ctx context.Context, tx *postgres.Tx) (err error) {
			got, err = mail.Read(ctx, tx, box, letter)
			return err
		})
		return got
	}
	if got := read(); got == nil || !reflect.DeepEqual(*got, m) {
		t.Errorf("%+v, want %+v", got, m)
	}
	in(func(_ context.Context, tx *postgres.Tx) error { return mail.ToSandbox(tx, box, letter, &m) })
	in(func(_ context.Context, tx *postgres.Tx) error { return mail.ToSandbox(tx, box, letter, &m) })
	if got := read(); got != nil {
		t.Errorf("%+v after it was sent", got)
	}
	var kept int
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(), `SELECT count(*) FROM sandbox_mail`).
		Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d in the sandbox, %v", kept, err)
	}
	if err := db.System.Tx(t.Context(), id.ID{}, func(tx *postgres.Tx) error {
		_, err := mail.WriteToKnown(tx, box, mail.Reset("nobody@example.com", "https://crm.test", "t"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(), `SELECT count(*) FROM system_mail`).
		Scan(&kept); err != nil || kept != 1 {
		t.Errorf("%d mails with one to nobody known (%v), want 1", kept, err)
	}
}
