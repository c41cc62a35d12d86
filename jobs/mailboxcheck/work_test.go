package mailboxcheck_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
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
	imap   *imapd.Server
	job    mailboxcheck.Job
	org    id.ID
	box    mailboxes.Versioned
}

func open(t *testing.T, password string) *bench {
	t.Helper()
	b := &bench{T: t, db: testkit.DB(t), org: id.New()}
	b.server = smtpd.Start(t, func(s *smtpd.Server, _ *smtp.Server) { s.User, s.Password = "ada", "right" })
	b.imap = imapd.Start(t, "Sent", false)
	box := testkit.Box(t)
	service := &mailboxes.Service{Box: box, AllowPrivate: true}
	b.job = mailboxcheck.Job{
		DB: b.db.App, Mailboxes: service, Dialer: &transport.Dialer{AllowPrivate: true},
		Sent: (&sentfolder.Finder{
			DB: b.db.App, Mailboxes: service, Dialer: &imap.Dialer{AllowPrivate: true},
		}).Has,
		Pauses: []time.Duration{0, time.Millisecond},
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
			IMAP: wire.Some(mailboxes.ServerPatch{
				Host: wire.Some(b.imap.Host), Port: wire.Some(b.imap.Port), TLS: wire.Some(mailboxes.NoTLS),
				Username: wire.Some(imapd.User), Password: wire.Some(secret.Text(imapd.Password)),
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

// files makes the server file what it has accepted in the Sent folder before each search.
func (b *bench) files() {
	search, filed := b.job.Sent, 0
	b.job.Sent = func(ctx context.Context, org, mailbox id.ID, messageID string) (bool, error) {
		for _, a := range b.server.Accepted()[filed:] {
			b.imap.File(b, strings.Trim(a.MessageID, "<>"))
			filed++
		}
		return search(ctx, org, mailbox, messageID)
	}
}

func TestATestMailInTheSentFolderIsTheSentProof(t *testing.T) {
	t.Parallel()
	b := open(t, "right")
	if after := b.check(); after.Status != "active" || after.SentProof {
		t.Errorf("the server files nothing: %+v", after.Mailbox)
	}
	if b.files(); !b.check().SentProof {
		t.Error("the test mail is in the Sent folder, and nothing is proved")
	}
	sql := testkit.Pgx(t, b.db.URL)
	var proved bool
	if err := sql.QueryRow(t.Context(), `SELECT sent_proof FROM mailbox`).Scan(&proved); err != nil || !proved {
		t.Errorf("stored %t, %v", proved, err)
	}
	if b.imap.Stop(); b.check().SentProof {
		t.Error("a Sent folder that cannot be read proves something")
	}
}

func TestARefusedSignInAtTheSentFolderProvesNothing(t *testing.T) {
	t.Parallel()
	b := open(t, "right")
	b.files()
	b.tx(func(tx *postgres.Tx) (err error) {
		_, _, err = b.job.Mailboxes.Update(t.Context(), tx, b.box.ID, nil, &mailboxes.Patch{
			IMAP: wire.Some(mailboxes.ServerPatch{Password: wire.Some(secret.Text("wrong"))}),
		}, nil)
		return err
	})
	if after := b.check(); after.Status != "active" || after.SentProof {
		t.Errorf("%+v", after.Mailbox)
	}
}

func TestAMailboxWhoseTestFailsSaysWhy(t *testing.T) {
	t.Parallel()
	b := open(t, "wrong")
	if after := b.check(); after.Status != "unverified" || after.StatusReason == nil ||
		*after.StatusReason != mailboxes.AuthRefused {
		t.Errorf("after a refused sign-in: %+v", after.Mailbox)
	} else if !strings.Contains(*after.StatusDetail, "The server says: 535") ||
		!strings.Contains(*after.StatusAction, "app password") {
		t.Errorf("after a refused sign-in it shows %q, %q", *after.StatusDetail, *after.StatusAction)
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
