package emailreconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/sentfolder"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
)

// doubt is an org with an email whose fate is unknown, and the job that looks for evidence.
type doubt struct {
	*testing.T
	db     *testkit.Database
	sql    *pgx.Conn
	imap   *imapd.Server
	emails *emails.Service
	job    emailreconcile.Job
	org    id.ID
	email  id.ID
	mailID string
	resent int
}

// open makes the email, whose mark is 16 minutes old. proof is the mailbox's sent_proof.
func open(t *testing.T, proof bool, password string) *doubt {
	t.Helper()
	d := &doubt{T: t, db: testkit.DB(t), org: id.New(), imap: imapd.Start(t, "Sent", false)}
	d.sql = testkit.Pgx(t, d.db.URL)
	box := testkit.Box(t)
	boxes := &mailboxes.Service{Box: box, AllowPrivate: true}
	d.emails = &emails.Service{Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}}
	finder := sentfolder.Finder{DB: d.db.App, Mailboxes: boxes, Dialer: &imap.Dialer{AllowPrivate: true}}
	d.job = emailreconcile.Job{
		DB: d.db.App, Mailboxes: boxes, Search: finder.Has,
		Resend: func(context.Context, *postgres.Tx, *emails.Row) error {
			d.resent++
			return nil
		},
	}
	d.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, d.org)
	contact := id.New()
	d.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, 'ada@example.com', 'ada@example.com', 'Ada', 'L', 'l', 'lead', now(),
		now())`, d.org, contact)
	d.tx(func(tx *postgres.Tx) error {
		v, _, err := boxes.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.SMTP), FromEmail: wire.Some("hello@shop.example"),
			SMTP: wire.Some(mailboxes.ServerPatch{Host: wire.Some("127.0.0.1")}),
			IMAP: wire.Some(mailboxes.ServerPatch{
				Host: wire.Some(d.imap.Host), Port: wire.Some(d.imap.Port), TLS: wire.Some(mailboxes.NoTLS),
				Username: wire.Some(imapd.User), Password: wire.Some(secret.Text(password)),
			}),
		}, nil)
		if err != nil {
			return err
		}
		tx.Queue(`UPDATE mailbox SET status = 'active', sent_proof = $2 WHERE org_id = $1`, d.org, proof)
		m, err := boxes.ForSending(t.Context(), tx, v.ID)
		if err != nil {
			return err
		}
		full, err := d.emails.Create(t.Context(), tx, &emails.New{
			Mailbox: m, ContactID: contact, ToEmail: "ada@example.com", Subject: "Hello", Purpose: emails.Personal,
			Text: "Hello",
		})
		if err == nil {
			d.email, d.mailID = full.ID, full.MessageID
		}
		return err
	})
	out, err := d.emails.Begin(t.Context(), d.db.App, d.org, d.email, id.New())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.emails.Mark(t.Context(), d.db.App, out, []byte("mime"), "true"); err != nil {
		t.Fatal(err)
	}
	d.tx(func(tx *postgres.Tx) error { return out.Doubt(t.Context(), tx, emails.NoReply) })
	d.passes(16 * time.Minute)
	return d
}

func (d *doubt) exec(sql string, args ...any) {
	d.Helper()
	if _, err := d.sql.Exec(d.Context(), sql, args...); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
}

func (d *doubt) tx(fn func(*postgres.Tx) error) {
	d.Helper()
	if err := d.db.App.Tx(d.Context(), d.org, fn); err != nil {
		d.Fatal(err)
	}
}

// passes moves the mark and the evidence back.
func (d *doubt) passes(by time.Duration) {
	d.Helper()
	d.exec(`UPDATE email SET marked_at = marked_at - $1::interval, evidence = coalesce((
		SELECT jsonb_agg(v || jsonb_build_object('at', to_char(
			(v ->> 'at')::timestamptz AT TIME ZONE 'UTC' - $1::interval, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))
		FROM jsonb_array_elements(evidence) v), '[]')`, by)
}

// run runs the job once and returns what Work returned.
func (d *doubt) run(last bool) error {
	d.Helper()
	run := &queue.Run[emailreconcile.Args]{
		Claimed: &queue.Claimed{ID: id.New(), Org: d.org, MaxAttempts: 20}, Args: emailreconcile.Args{Email: d.email},
	}
	if last {
		run.Claimed.Attempt = 20
	}
	err := d.job.Work(d.Context(), run)
	d.tx(func(tx *postgres.Tx) error { return run.WriteEffects(d.Context(), tx) })
	return err
}

// state returns the status of the email, and its evidence.
func (d *doubt) state() (s string) {
	d.Helper()
	if err := d.sql.QueryRow(d.Context(), `SELECT concat_ws(' ', status, (SELECT string_agg(v ->> 'result', ' ')
		FROM jsonb_array_elements(evidence) v)) FROM email`).Scan(&s); err != nil {
		d.Fatal(err)
	}
	return s
}

func snoozed(err error) bool {
	_, ok := queue.SnoozeOf(err)
	return ok
}

func TestAMailInTheSentFolderWasSent(t *testing.T) {
	t.Parallel()
	for _, proof := range []bool{true, false} {
		d := open(t, proof, imapd.Password)
		d.imap.File(t, d.mailID)
		if err := d.run(false); err != nil || d.state() != "sent found" || d.resent != 0 {
			t.Errorf("with proof %t: %v, %s", proof, err, d.state())
		}
		var said int
		if err := d.sql.QueryRow(t.Context(), `SELECT count(*) FROM event WHERE type = 'email.sent'
			AND data::text LIKE '%sent_folder%'`).Scan(&said); err != nil || said != 1 {
			t.Errorf("email.sent with its evidence was announced %d times, %v", said, err)
		}
	}
}

func TestAMailThatIsAbsentTwiceIsPlannedAgain(t *testing.T) {
	t.Parallel()
	d := open(t, true, imapd.Password)
	if err := d.run(false); !snoozed(err) || d.state() != "unknown absent" {
		t.Fatalf("the first search: %v, %s", err, d.state())
	}
	if err := d.run(false); !snoozed(err) || d.state() != "unknown absent" {
		t.Errorf("too early for the second search: %v, %s", err, d.state())
	}
	d.passes(15 * time.Minute)
	if err := d.run(false); err != nil || d.state() != "planned absent absent" || d.resent != 1 {
		t.Fatalf("the second search: %v, %s, resent %d times", err, d.state(), d.resent)
	}
	out, err := d.emails.Begin(t.Context(), d.db.App, d.org, d.email, id.New())
	if err != nil || out == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	mime, err := out.MIME(t.Context(), d.db.App)
	if err != nil || out.MessageID != d.mailID || !strings.Contains(string(mime), "Message-ID: <"+d.mailID+">") {
		t.Errorf("the second mail has the Message-ID %s, want %s, %v", out.MessageID, d.mailID, err)
	}
}

func TestAMailThatTurnsUpLateIsNotSentAgain(t *testing.T) {
	t.Parallel()
	d := open(t, true, imapd.Password)
	if err := d.run(false); !snoozed(err) {
		t.Fatal(err)
	}
	d.passes(15 * time.Minute)
	d.imap.File(t, d.mailID)
	if err := d.run(false); err != nil || d.state() != "sent absent found" || d.resent != 0 {
		t.Errorf("%v, %s", err, d.state())
	}
}

func TestAbsenceWithoutProofLeavesTheMailToAPerson(t *testing.T) {
	t.Parallel()
	d := open(t, false, imapd.Password)
	if err := d.run(false); !snoozed(err) {
		t.Fatal(err)
	}
	d.passes(15 * time.Minute)
	if err := d.run(false); err != nil || d.state() != "unknown absent absent" || d.resent != 0 {
		t.Errorf("%v, %s", err, d.state())
	}
}

func TestNoAnswerFromTheServerIsNoEvidence(t *testing.T) {
	t.Parallel()
	d := open(t, true, imapd.Password)
	d.imap.Stop()
	if err := d.run(false); err == nil || snoozed(err) || d.state() != "unknown" {
		t.Errorf("a server that is away: %v, %s", err, d.state())
	}
	if err := d.run(true); err != nil || d.state() != "unknown" || d.resent != 0 {
		t.Errorf("the last attempt: %v, %s", err, d.state())
	}
	wrong := open(t, true, "wrong")
	if err := wrong.run(false); err != nil || wrong.state() != "unknown" || wrong.resent != 0 {
		t.Errorf("a refused sign-in: %v, %s", err, wrong.state())
	}
}
