package worker_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/broadcastprepare"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
)

// audience is how many contacts get a broadcast while workers are killed.
var audience = flag.Int("audience", 300, "contacts that get a broadcast while workers are killed")

// broadcasting is the role of a worker that sends broadcasts.
const broadcasting = "worker that sends broadcasts"

// broadcastService returns the service of broadcasts that adds jobs.
func broadcastService(box *secret.Sealer) *broadcasts.Service {
	return &broadcasts.Service{
		Emails: &emails.Service{
			Box: box, Mailboxes: &mailboxes.Service{Box: box, AllowPrivate: true},
			Suppressions: &suppression.Service{Box: box},
		},
		Templates: &templates.Service{Box: box, PublicURL: "https://shop.test"}, AllowPrivate: true,
		Prepare: func(ctx context.Context, tx *postgres.Tx, broadcast id.ID, run int, _ time.Time) error {
			return broadcastprepare.Kind.Add(ctx, tx, broadcastprepare.Args{Broadcast: broadcast, Run: run})
		},
		Send: func(ctx context.Context, tx *postgres.Tx, email, mailbox id.ID) error {
			return emailsendbulk.Kind.Add(ctx, tx, emailsendbulk.Args{Email: email}, queue.ConcurrencyKey(mailbox))
		},
	}
}

// broadcastHandlers returns the handlers of a worker that sends broadcasts.
func broadcastHandlers(app *postgres.DB, box *secret.Sealer) []queue.Handler {
	s := broadcastService(box)
	return []queue.Handler{
		broadcastprepare.Handler(s),
		emailsendbulk.Handler(emailsend.Job{
			DB: app, Emails: s.Emails,
			Dialer: &transport.Dialer{AllowPrivate: true, Timeout: 20 * time.Second, DotTimeout: 20 * time.Second},
		}),
		emailreconcile.Job{DB: app, Mailboxes: s.Emails.Mailboxes}.Handler(),
	}
}

// TestABroadcastReachesEachAddressOnceWhileWorkersAreKilled kills two workers again and again while a broadcast is
// prepared and sent, and pauses and resumes it meanwhile.
func TestABroadcastReachesEachAddressOnceWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	p := openMailer(t)
	p.exec(`UPDATE mailbox SET daily_cap = NULL, gap_min = 0, gap_max = 0`)
	p.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, gen_random_uuid(), 'a' || n || '@example.com', 'a' || n || '@example.com', 'A', 'B', 'b', 'lead',
			now(), now() FROM generate_series(1, $2) n`, p.org, *audience)
	p.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at) SELECT org_id, id, 0, 0, 'test', 'prior', 0, '{}', now() FROM contact`)
	p.server.Fail(func(string) smtpd.Fault {
		replies := make(chan struct{})
		time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { close(replies) })
		f := smtpd.Fault{Wait: replies}
		switch rand.IntN(100) {
		case 0: // takes the mail and dies
			f.At, f.Hang, f.Accept = smtpd.Dot, true, true
		case 1: // dies with the dot
			f.At, f.Hang = smtpd.Dot, true
		case 2:
			f.At, f.Code = smtpd.Rcpt, 451
		}
		return f
	})
	s, news := p.schedule()
	running := [...]*exec.Cmd{p.process(broadcasting), p.process(broadcasting)}
	kills := 0
	for begun := time.Now(); ; {
		p.number(`SELECT 1 FROM pg_sleep($1)`, 1+rand.Float64()*1.5)
		p.retryNow()
		p.exec(`UPDATE job SET run_at = now() WHERE kind = 'broadcast.prepare' AND owner IS NULL AND run_at > now()`)
		if p.text(`SELECT status FROM broadcast`) == broadcasts.Sent {
			break
		}
		if time.Since(begun) > 3*time.Minute+time.Duration(*audience)*100*time.Millisecond {
			t.Fatalf("%s: %s", p.text(`SELECT status FROM broadcast`), p.statuses())
		}
		which := rand.IntN(len(running))
		kill(running[which])
		kills++
		running[which] = p.process(broadcasting)
		switch kills % 4 {
		case 2:
			p.turn(s.Pause, news)
		case 3:
			p.turn(s.Resume, news)
		}
	}
	for _, cmd := range running {
		kill(cmd)
	}
	t.Logf("%d kills: %s", kills, p.statuses())
	p.reached(*audience)
}

// schedule creates a broadcast to all contacts and sends it.
func (m *mailer) schedule() (s *broadcasts.Service, news id.ID) {
	m.t.Helper()
	s = broadcastService(m.emails.Box)
	ctx := m.t.Context()
	err := m.db.App.Tx(ctx, m.org, func(tx *postgres.Tx) error {
		if _, _, err := orgsending.Update(ctx, tx, &orgsending.Patch{
			PostalAddress: wire.Some("1 High Street"), DomainDailyCap: wire.Field[int]{Set: true, Null: true},
		}, func(*orgsending.Settings) error { return nil }); err != nil {
			return err
		}
		row, err := broadcasts.Create(ctx, tx, &broadcasts.Patch{
			Name: wire.Some("News"), MailboxID: wire.Some(m.mailbox.String()),
			Filter: wire.Some(map[string]any{"field": "stage", "op": "eq", "value": "lead"}),
			Email: wire.Some(broadcasts.MailPatch{
				Subject: wire.Some("News"), Text: wire.Some("Hi {{ contact.first_name }}\n{{ unsubscribe_url }}"),
			}),
		}, "")
		if err == nil {
			news = row.Value.ID
			_, err = s.Schedule(ctx, tx, news, nil)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return s, news
}

// turn pauses or resumes a broadcast, unless it is over.
func (m *mailer) turn(do func(context.Context, *postgres.Tx, id.ID) (broadcasts.Row, error), news id.ID) {
	m.t.Helper()
	if err := m.db.App.Tx(m.t.Context(), m.org, func(tx *postgres.Tx) error {
		_, err := do(m.t.Context(), tx, news)
		return err
	}); err != nil && m.text(`SELECT status FROM broadcast`) != broadcasts.Sent {
		m.t.Fatal(err)
	}
}

// reached compares the rows with the server's log after a broadcast.
func (m *mailer) reached(want int) {
	m.t.Helper()
	accepted := map[string]int{}
	for _, a := range m.server.Accepted() {
		accepted[strings.Trim(a.MessageID, "<>")]++
	}
	for messageID, n := range accepted {
		if n > 1 {
			m.t.Errorf("%s was accepted %d times", messageID, n)
		}
	}
	lost := 0
	rows, err := m.sql.Query(m.t.Context(), `SELECT message_id FROM email WHERE status = 'sent'`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var messageID string
		if err := rows.Scan(&messageID); err != nil {
			m.t.Fatal(err)
		}
		if accepted[messageID] == 0 {
			lost++
		}
	}
	if lost > 0 {
		m.t.Errorf("%d emails are sent, and the server does not have them", lost)
	}
	for what, sql := range map[string]string{
		"emails":                       `SELECT count(*) FROM email WHERE status IN ('sent', 'unknown')`,
		"addresses":                    `SELECT count(DISTINCT to_email) FROM email`,
		"recipients that were written": `SELECT count(*) FROM broadcast_recipient WHERE written`,
		"sendable contacts":            `SELECT sendable FROM broadcast`,
	} {
		if n := m.number(sql); n != want {
			m.t.Errorf("%d %s, want %d", n, what, want)
		}
	}
	if n := m.number(`SELECT count(*) FROM event WHERE type = 'broadcast.completed'`); n != 1 {
		m.t.Errorf("%d events broadcast.completed", n)
	}
}
