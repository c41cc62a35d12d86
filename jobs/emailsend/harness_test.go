package emailsend_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// post is an org with a mailbox on a test server, and the job that sends its emails.
type post struct {
	testing.TB
	*testkit.Database
	sql          *pgx.Conn
	server       *smtpd.Server
	emails       *emails.Service
	job          emailsend.Job
	store        *store.Store
	org, mailbox id.ID
	text         string // of the emails
}

func open(t testing.TB) *post {
	t.Helper()
	db, box := testkit.DB(t), testkit.Box(t)
	boxes := &mailboxes.Service{Box: box, AllowPrivate: true}
	p := &post{
		TB: t, Database: db, sql: testkit.Pgx(t, db.URL), server: smtpd.Start(t, nil), org: id.New(), mailbox: id.New(),
		emails: &emails.Service{Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}},
		store:  store.New(db.App, db.System), text: "Hello",
	}
	p.store.Hooks = store.HooksOf(emailsend.Hook())
	p.job = emailsend.Job{
		DB: db.App, Emails: p.emails,
		Dialer: &transport.Dialer{AllowPrivate: true, Timeout: 10 * time.Second, DotTimeout: 10 * time.Second},
	}
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, p.org)
	p.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, smtp_port,
		smtp_tls, status, created_at, updated_at) VALUES ($1, $2, 'Box', 'smtp', 'hello@shop.example',
		'hello@shop.example', 'shop.example', $3, $4, 'none', 'active', now(), now())`, p.org, p.mailbox, p.server.Host,
		p.server.Port)
	return p
}

func (p *post) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.sql.Exec(p.Context(), sql, args...); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

func (p *post) scan(sql string, to any, args ...any) {
	p.Helper()
	if err := p.sql.QueryRow(p.Context(), sql, args...).Scan(to); err != nil {
		p.Fatalf("%s: %v", sql, err)
	}
}

// write creates an email to a fresh contact with the address, and its job.
func (p *post) write(to string) id.ID {
	p.Helper()
	contact := id.New()
	p.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, lower($3), 'Ada', 'L', 'l', 'lead', now(), now())`, p.org, contact,
		to)
	var email id.ID
	err := p.App.Tx(p.Context(), p.org, func(tx *postgres.Tx) error {
		m, err := p.emails.Mailboxes.ForSending(p.Context(), tx, p.mailbox)
		if err != nil {
			return err
		}
		full, err := p.emails.Create(p.Context(), tx, &emails.New{
			Mailbox: m, ContactID: contact, ToEmail: to, Subject: "Hello", Purpose: emails.Personal, Text: p.text,
		})
		if err != nil {
			return err
		}
		email = full.ID
		return emailsend.Kind.Add(p.Context(), tx, emailsend.Args{Email: email}, queue.ConcurrencyKey(p.mailbox))
	})
	if err != nil {
		p.Fatal(err)
	}
	return email
}

// run runs the email's job once, as a worker does, and returns what Work returned.
func (p *post) run(ctx context.Context, email id.ID) error {
	p.Helper()
	var job id.ID
	p.exec(`UPDATE job_line SET held_until = now() WHERE held_until > now()`) // the time has passed
	p.exec(`UPDATE job SET run_at = now(), due = true, wake_at = coalesce(wake_at, now())
		WHERE args ->> 'email' = $1::text AND kind LIKE 'email.send%'`, email.String())
	p.scan(`SELECT id FROM job WHERE args ->> 'email' = $1::text AND kind LIKE 'email.send%'`, &job, email.String())
	c, err := p.store.Claim(p.Context(), p.org, job)
	if err != nil {
		p.Fatal(err)
	}
	err = p.job.Handler().Call(ctx, c)
	v := store.Completion{Outcome: store.Done}
	if d, ok := queue.SnoozeOf(err); ok {
		v = store.Completion{Outcome: store.Snoozed, In: d}
	} else if err != nil {
		v = store.Completion{Outcome: store.Failed, Error: err.Error(), In: time.Second}
	}
	if err := p.store.Finish(p.Context(), c, v); err != nil {
		p.Fatal(err)
	}
	return err
}

func (p *post) status(email id.ID) (s string) {
	p.Helper()
	p.scan(`SELECT status || coalesce(' ' || nullif(status_reason, ''), '') FROM email WHERE id = $1`, &s, email)
	return s
}

func (p *post) count(sql string) (n int) {
	p.Helper()
	p.scan(`SELECT count(*) FROM `+sql, &n)
	return n
}

// snoozed reports whether an error postpones the job without an attempt.
func snoozed(err error) bool {
	_, ok := queue.SnoozeOf(err)
	return ok
}

// resume resumes the mailbox, as a person does, or as the sweep does at the end of a hold.
func (p *post) resume() {
	p.Helper()
	err := p.App.Tx(p.Context(), p.org, func(tx *postgres.Tx) error {
		_, err := p.emails.Mailboxes.Resume(p.Context(), tx, p.mailbox)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
}
