package mailboxcheck_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/mailboxcheck"

	"github.com/emersion/go-smtp"
)

// bench is a mailbox on a test server, and the job.
type bench struct {
	*testing.T
	db     *testkit.Database
	server *smtpd.Server
	job    mailboxcheck.Job
	org    id.ID
	box    mailboxes.Versioned
}

func open(t *testing.T, password string) *bench {
	t.Helper()
	b := &bench{T: t, db: testkit.DB(t), org: id.New()}
	b.server = smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.User, s.Password = "ada", "right" })
	box := testkit.Box(t)
	service := &mailboxes.Service{Box: box, AllowPrivate: true}
	b.job = mailboxcheck.Job{
		DB: b.db.App, Mailboxes: service, Dialer: &transport.Dialer{AllowPrivate: true},
		Records: func(context.Context, string) branding.MailRecords {
			return branding.MailRecords{SPF: "pass", DKIM: "missing", DMARC: "unknown"}
		},
	}
	if _, err := testkit.Pgx(t, b.db.URL).Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Test')`,
		b.org); err != nil {
		t.Fatal(err)
	}
	b.tx(func(tx *postgres.Tx) (err error) {
		b.box, _, err = service.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.SMTP), FromEmail: wire.Some("ada@example.com"),
			SMTP: wire.Some(mailboxes.ServerPatch{
				Host: wire.Some(b.server.Host), Port: wire.Some(b.server.Port), TLS: wire.Some(mailboxes.NoTLS),
				Username: wire.Some("ada"), Password: wire.Some(secret.Text(password)),
			}),
		}, nil)
		return err
	})
	return b
}

func (b *bench) tx(fn func(*postgres.Tx) error) {
	b.Helper()
	if err := b.db.App.Tx(b.Context(), b.org, fn); err != nil {
		b.Fatal(err)
	}
}

// check runs the job and returns the mailbox afterwards.
func (b *bench) check() (after mailboxes.Versioned) {
	b.Helper()
	run := &queue.Run[mailboxcheck.Args]{
		Claimed: &queue.Claimed{ID: id.New(), Org: b.org}, Args: mailboxcheck.Args{Mailbox: b.box.ID},
	}
	if err := b.job.Work(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	b.tx(func(tx *postgres.Tx) error { return run.WriteEffects(b.Context(), tx) })
	b.tx(func(tx *postgres.Tx) (err error) {
		after, err = b.job.Mailboxes.Get(b.Context(), tx, b.box.ID, false)
		return err
	})
	return after
}

func TestAMailboxWhoseTestMailIsTakenIsActive(t *testing.T) {
	t.Parallel()
	b := open(t, "right")
	after := b.check()
	if after.Status != "active" || after.StatusReason != nil || after.CheckedAt == nil ||
		after.Domain.SPF != "pass" || after.Domain.DKIM != "missing" || after.Domain.DMARC != "unknown" {
		t.Errorf("after the test: %+v", after.Mailbox)
	}
	if got := b.server.Accepted(); len(got) != 1 || got[0].From != "ada@example.com" || got[0].To != got[0].From {
		t.Errorf("the server took %+v", got)
	}
}

func TestAMailboxWhoseTestFailsSaysWhy(t *testing.T) {
	t.Parallel()
	b := open(t, "wrong")
	if after := b.check(); after.Status != "unverified" || after.StatusReason == nil ||
		*after.StatusReason != mailboxes.AuthRefused {
		t.Errorf("after a refused sign-in: %+v", after.Mailbox)
	}
	c := open(t, "right")
	c.server.Fail(func(string) smtpd.Fault { return smtpd.Fault{At: smtpd.Rcpt, Code: 550} })
	if after := c.check(); after.Status != "unverified" || *after.StatusReason != mailboxes.TestRefused {
		t.Errorf("after a refused mail: %+v", after.Mailbox)
	}
	c.server.Fail(func(string) smtpd.Fault { return smtpd.Fault{At: smtpd.Dot, Hang: true} })
	if after := c.check(); after.Status != "unverified" || *after.StatusReason != mailboxes.TestUnanswered {
		t.Errorf("after an unanswered mail: %+v", after.Mailbox)
	}
	if c.server.Fail(nil); c.check().Status != "active" {
		t.Error("a later test does not make it active")
	}
}

func TestAnActiveMailboxIsDisabledAtTheFifthRefusedSignIn(t *testing.T) {
	t.Parallel()
	b := open(t, "right")
	b.check()
	sql := testkit.Pgx(t, b.db.URL)
	for n := range 5 {
		var before, after string
		read := func(at *string) {
			if err := sql.QueryRow(t.Context(), `SELECT status FROM mailbox`).Scan(at); err != nil {
				t.Fatal(err)
			}
		}
		read(&before)
		b.tx(func(tx *postgres.Tx) error { return b.job.Mailboxes.SignInRefused(t.Context(), tx, b.box.ID) })
		if read(&after); before != "active" || (after == "disabled") != (n == 4) {
			t.Errorf("refusal %d: %s, then %s", n+1, before, after)
		}
	}
	var said int
	if err := sql.QueryRow(t.Context(), `SELECT count(*) FROM event WHERE type = 'mailbox.disabled'`).
		Scan(&said); err != nil || said != 1 {
		t.Errorf("announced %d times, %v", said, err)
	}
}
