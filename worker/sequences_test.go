package worker_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/enrolments"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/scoring"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/emailsendbulk"
	"github.com/funnelwork/funnelwork/jobs/sequencestep"
)

var (
	walkers = flag.Int("walkers", 60, "contacts that walk through a sequence while workers are killed")
	flushes = flag.Bool("flushes", false, "Redis is emptied every minute meanwhile")
)

// walking is the role of a worker that executes the steps of sequences and sends their emails.
const walking = "worker that executes sequences"

// walkHandlers returns the handlers of a worker that executes sequences.
func walkHandlers(app *postgres.DB, box *secret.Sealer, replies *replyjournal.Journal) []queue.Handler {
	boxes := &mailboxes.Service{Box: box, AllowPrivate: true}
	service := &emails.Service{Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}}
	model := scoring.Shipped()
	return []queue.Handler{
		emailsendbulk.Handler(emailsend.Job{
			DB: app, Emails: service,
			Dialer:  &transport.Dialer{AllowPrivate: true, Timeout: 20 * time.Second, DotTimeout: 20 * time.Second},
			Replies: replies,
		}),
		emailreconcile.Job{DB: app, Mailboxes: boxes}.Handler(),
		sequencestep.Handler(&enrolments.Engine{
			Emails: service, Templates: &templates.Service{Box: box, PublicURL: "https://shop.test"},
			Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
			Model: func(context.Context, *postgres.Tx) (*scoring.Model, error) { return model, nil },
		}),
	}
}

// walkSteps returns four emails, three days apart.
func walkSteps() []steps.Step {
	list := make([]steps.Step, 4)
	for i := range list {
		list[i] = steps.Step{
			Key: fmt.Sprint("mail-", i+1), Kind: steps.KindEmail,
			Delay: schedule.Delay{Value: 3, Unit: schedule.Days},
			Email: &steps.Email{
				Subject: fmt.Sprint("Mail ", i+1), Text: "Hello {{ contact.first_name }}", Thread: steps.NewThread,
			},
		}
	}
	list[0].Delay.Value = 0
	steps.Complete(list)
	return list
}

// sequence inserts an active sequence whose window never closes.
func (m *mailer) sequence(list []steps.Step) id.ID {
	m.t.Helper()
	i := id.New()
	s := sequences.Settings{
		MailboxIDs: []id.ID{m.mailbox}, Rotation: "sticky", LateAfterHours: 720,
		Schedule: sequences.Schedule{
			TimeZone: "UTC", Days: []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, From: "00:00",
			To:       "24:00",
			Holidays: []string{},
		},
	}
	encoded := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			m.t.Fatal(err)
		}
		return string(b)
	}
	m.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
		VALUES ($1, $2, 'Welcome', 'welcome', 'active', 1, 1, now(), now())`, m.org, i)
	m.exec(`INSERT INTO sequence_version (org_id, sequence_id, number, settings, created_at, activated_at)
		VALUES ($1, $2, 1, $3, now(), now())`, m.org, i, encoded(s))
	for n, step := range list {
		m.exec(`INSERT INTO sequence_step (org_id, sequence_id, version, position, key, kind, body)
			VALUES ($1, $2, 1, $3, $4, $5, $6)`, m.org, i, n, step.Key, step.Kind, encoded(step))
	}
	return i
}

// enrolAll inserts n contacts, each at a domain of its own because of the caps, and enrols them.
func (m *mailer) enrolAll(sequence id.ID, n int) {
	m.t.Helper()
	all := make([]id.ID, n)
	for i := range all {
		all[i] = id.New()
	}
	m.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT $1, u.id, 'w@d' || n || '.example', 'w@d' || n || '.example', 'A', 'B', 'b', 'lead', now(), now()
		FROM unnest($2::uuid[]) WITH ORDINALITY AS u (id, n)`, m.org, all)
	m.exec(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at) SELECT org_id, id, 0, 0, 'test', 'prior', 0, '{}', now() FROM contact`)
	service := &enrolments.Service{Suppressions: m.emails.Suppressions}
	for len(all) > 0 {
		part := all[:min(len(all), 1000)]
		all = all[len(part):]
		if err := m.db.App.Tx(m.t.Context(), m.org, func(tx *postgres.Tx) error {
			_, err := service.Enrol(m.t.Context(), tx, &enrolments.Request{Sequence: sequence}, part)
			return err
		}); err != nil {
			m.t.Fatal(err)
		}
	}
}

// transitions returns how many transitions of enrolments there are.
func (m *mailer) transitions() int {
	m.t.Helper()
	return m.number(`SELECT count(*) FROM enrolment_history`)
}

// TestContactsWalkThroughASequenceOnceWhileWorkersAreKilled kills two workers and the sessions of Postgres again and
// again while contacts walk through a sequence of four emails. Days pass by moving the due times back.
func TestContactsWalkThroughASequenceOnceWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	p := openMailer(t)
	p.exec(`UPDATE mailbox SET daily_cap = NULL, gap_min = 0, gap_max = 0`)
	p.server.Fail(func(string) smtpd.Fault {
		replies := make(chan struct{})
		time.AfterFunc(time.Duration(rand.IntN(50))*time.Millisecond, func() { close(replies) })
		f := smtpd.Fault{Wait: replies}
		switch rand.IntN(80) {
		case 0: // takes the mail and dies
			f.At, f.Hang, f.Accept = smtpd.Dot, true, true
		case 1: // dies with the dot
			f.At, f.Hang = smtpd.Dot, true
		case 2:
			f.At, f.Code = smtpd.Rcpt, 451
		}
		return f
	})
	list := walkSteps()
	p.enrolAll(p.sequence(list), *walkers)
	running := [...]*exec.Cmd{p.process(walking), p.process(walking)}
	kills, seen := 0, 0
	flushed := time.Now()
	for begun := time.Now(); ; {
		p.number(`SELECT 1 FROM pg_sleep($1)`, 0.3+rand.Float64()*0.7)
		// On a busy machine, workers that are killed more often than this would do nothing but start.
		for until := time.Now().Add(5 * time.Second); p.transitions() == seen && time.Now().Before(until); {
			p.number(`SELECT 1 FROM pg_sleep(0.05)`)
		}
		p.retryNow()
		p.exec(`UPDATE enrolment SET due_at = due_at - interval '3 days' WHERE due_at > now()`)
		p.exec(`UPDATE send_group SET wake_at = now() WHERE wake_at > now()`)
		if p.number(`SELECT count(*) FROM enrolment WHERE ended_at IS NULL`) == 0 {
			break
		}
		if time.Since(begun) > 3*time.Minute+time.Duration(*walkers)*time.Second/2 {
			t.Fatalf("enrolments are left: %s, %s", p.statuses(), p.text(`SELECT string_agg(state || ' ' || n, ', ')
				FROM (SELECT state, count(*) AS n FROM enrolment GROUP BY state) x`))
		}
		which := rand.IntN(len(running))
		seen = p.transitions()
		kill(running[which])
		kills++
		running[which] = p.process(walking)
		if kills%9 == 0 { // as when Postgres restarts
			p.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
				AND pid <> pg_backend_pid()`)
		}
		if *flushes && time.Since(flushed) > time.Minute {
			flushed = time.Now()
			if err := p.link.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, cmd := range running {
		kill(cmd)
	}
	t.Logf("%d kills: %s", kills, p.statuses())
	p.walked(len(list))
}

// text returns the text of the only column of the only row.
func (m *mailer) text(sql string) (s string) {
	m.t.Helper()
	if err := m.sql.QueryRow(m.t.Context(), sql).Scan(&s); err != nil {
		m.t.Fatal(err)
	}
	return s
}

// walked checks the rows, the events and the server's log after all contacts have walked through n emails.
func (m *mailer) walked(n int) {
	m.t.Helper()
	accepted := map[string]int{}
	for _, a := range m.server.Accepted() {
		accepted[strings.Trim(a.MessageID, "<>")]++
	}
	rows, err := m.sql.Query(m.t.Context(), `SELECT message_id, status FROM email WHERE status <> 'cancelled'`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	mails := 0
	for rows.Next() {
		var messageID, status string
		if err := rows.Scan(&messageID, &status); err != nil {
			m.t.Fatal(err)
		}
		mails++
		switch got := accepted[messageID]; {
		case got > 1:
			m.t.Errorf("%s was accepted %d times", messageID, got)
		case status == emails.Sent && got == 0:
			m.t.Errorf("%s is sent, and the server does not have it", messageID)
		case status != emails.Sent && status != emails.Unknown:
			m.t.Errorf("%s is %s", messageID, status)
		}
		delete(accepted, messageID)
	}
	if mails != n**walkers || len(accepted) > 0 {
		m.t.Errorf("%d mails, want %d; the server has %d more", mails, n**walkers, len(accepted))
	}
	for what, sql := range map[string]string{
		"enrolments that are not finished": `SELECT count(*) FROM enrolment WHERE state <> 'finished'`,
		"steps with several mails": `SELECT count(*) FROM (SELECT FROM email WHERE status <> 'cancelled'
			GROUP BY enrolment_id, step HAVING count(*) > 1) x`,
		"transitions that do not follow the one before": `SELECT count(*) FROM (SELECT from_state,
			lag(to_state, 1, first_state) OVER (PARTITION BY enrolment_id ORDER BY at, h.id) AS before
			FROM enrolment_history h JOIN enrolment n ON n.id = enrolment_id) x
			WHERE from_state <> before`,
		"enrolments without a whole history": fmt.Sprintf(`SELECT count(*) FROM (SELECT FROM enrolment_history
			WHERE to_state = 'sending' GROUP BY enrolment_id HAVING count(*) <> %d) x`, n),
	} {
		if got := m.number(sql); got != 0 {
			m.t.Errorf("%d %s", got, what)
		}
	}
	for kind, want := range map[string]int{"enrolled": 1, "step_completed": n, "finished": 1, "stopped": 0} {
		got := m.number(`SELECT count(*) FROM event WHERE type = $1`, "sequence."+kind)
		if got != want**walkers {
			m.t.Errorf("%d events %s, want %d", got, kind, want**walkers)
		}
	}
}
