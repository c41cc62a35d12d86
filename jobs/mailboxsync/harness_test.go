package mailboxsync_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/imapsync"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/imapd"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
	"github.com/funnelwork/funnelwork/jobs/mailboxsync"
)

// post is an org with a mailbox on an IMAP server, and the job that reads it.
type post struct {
	testing.TB
	*testkit.Database
	sql     *pgx.Conn
	server  *imapd.Server
	boxes   *mailboxes.Service
	syncer  *imapsync.Syncer
	org     id.ID
	mailbox id.ID
}

func open(t *testing.T) *post {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	p := &post{
		TB: t, Database: db, sql: testkit.Pgx(t, db.URL), server: imapd.Start(t, "Sent", true), org: id.New(),
		boxes: &mailboxes.Service{Box: box, AllowPrivate: true},
	}
	p.syncer = &imapsync.Syncer{
		DB: db.App, Mailboxes: p.boxes, Inbound: inboundmail.Intake(db.App, box), Log: testkit.Log(t),
		Dialer: &imap.Dialer{AllowPrivate: true, Timeout: 20 * time.Second, MaxReceived: imapsync.MaxReceived},
	}
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, p.org)
	p.tx(func(tx *postgres.Tx) error {
		made, _, err := p.boxes.Create(t.Context(), tx, &mailboxes.Patch{
			Kind: wire.Some(mailboxes.SMTP), FromEmail: wire.Some("hello@shop.example"),
			SMTP: wire.Some(mailboxes.ServerPatch{Host: wire.Some("smtp.shop.example")}), IMAP: p.imap(imapd.Password),
		}, nil)
		p.mailbox = made.ID
		return err
	})
	return p
}

func (p *post) imap(password string) wire.Field[mailboxes.ServerPatch] {
	return wire.Some(mailboxes.ServerPatch{
		Host: wire.Some(p.server.Host), Port: wire.Some(p.server.Port), TLS: wire.Some(mailboxes.NoTLS),
		Username: wire.Some(imapd.User), Password: wire.Some(secret.Text(password)),
	})
}

func (p *post) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.sql.Exec(p.Context(), sql, args...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

func (p *post) tx(fn func(tx *postgres.Tx) error) {
	p.Helper()
	if err := p.App.Tx(p.Context(), p.org, fn); err != nil {
		p.Fatal(err)
	}
}

// count returns the number of rows of a table, of which the condition may follow.
func (p *post) count(from string, args ...any) (n int) {
	p.Helper()
	if err := p.sql.QueryRow(p.Context(), `SELECT count(*) FROM `+from, args...).Scan(&n); err != nil {
		p.Fatalf("%s: %v", from, err)
	}
	return n
}

// work runs the job, and returns what its end writes.
func (p *post) work(ctx context.Context) (*queue.Claimed, error) {
	c := &queue.Claimed{ID: id.New(), Org: p.org}
	run := &queue.Run[mailboxsync.Args]{Claimed: c, Args: mailboxsync.Args{Mailbox: p.mailbox}}
	return c, mailboxsync.Job{Syncer: p.syncer}.Work(ctx, run)
}

// read runs the job to its end and returns what the mailbox shows then.
func (p *post) read() mailboxes.Mailbox {
	p.Helper()
	c, err := p.work(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	p.tx(func(tx *postgres.Tx) error { return c.WriteEffects(p.Context(), tx) })
	return p.shown()
}

func (p *post) shown() (m mailboxes.Mailbox) {
	p.Helper()
	p.tx(func(tx *postgres.Tx) error {
		v, err := p.boxes.Get(p.Context(), tx, p.mailbox, true)
		m = v.Mailbox
		return err
	})
	return m
}

// deliver puts a mail into the inbox and returns its UID.
func (p *post) deliver(name string) uint32 {
	p.Helper()
	return p.server.Deliver(p, imap.Inbox, mail(name), time.Now())
}

func mail(name string) string {
	return fmt.Sprintf("From: Bob <bob@example.com>\r\nMessage-ID: <%[1]s@example.com>\r\nSubject: Re: Hello\r\n\r\n"+
		"Hello %[1]s\r\n", name)
}

// has fails unless the mailbox has exactly n messages, each with one job and one sealed mail.
func (p *post) has(n int) {
	p.Helper()
	for _, table := range []string{"message", "message_raw", "job"} {
		where := ` WHERE org_id = $1`
		if table == "job" {
			where += ` AND kind = 'inbound.mail'`
		}
		if got := p.count(table+where, p.org); got != n {
			p.Errorf("%d rows of %s, want %d", got, table, n)
		}
	}
}

var errKilled = errors.New("killed")

// killed makes the n-th mail from now on fail between its fetch and its commit.
func (p *post) killed(n int) {
	whole := *p.syncer.Inbound
	broken := whole
	broken.Enqueue = func(ctx context.Context, tx *postgres.Tx, message id.ID) error {
		if n--; n == 0 {
			return errKilled
		}
		return whole.Enqueue(ctx, tx, message)
	}
	p.syncer.Inbound = &broken
}
