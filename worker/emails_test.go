package worker_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailreconcile"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/worker"
)

// mails is how many emails the test of random kills sends.
var mails = flag.Int("mails", 200, "emails that are sent while workers are killed")

// posting is the role of a worker that sends emails.
const posting = "worker that sends emails"

// soon are intervals by which a killed worker's jobs run again after seconds.
var soon = worker.Timing{
	Lease: 1500 * time.Millisecond, First: 300 * time.Millisecond, Extend: 300 * time.Millisecond,
	Guard: time.Second, Look: 100 * time.Millisecond, Feed: 20 * time.Millisecond,
}

// postHandlers returns the handlers of a worker that sends emails.
func postHandlers(app *postgres.DB, box *secret.Sealer, replies *replyjournal.Journal) []queue.Handler {
	boxes := &mailboxes.Service{Box: box, AllowPrivate: true}
	return []queue.Handler{
		emailsend.Job{
			DB:      app,
			Emails:  &emails.Service{Box: box, Mailboxes: boxes, Suppressions: &suppression.Service{Box: box}},
			Dialer:  &transport.Dialer{AllowPrivate: true, Timeout: 20 * time.Second, DotTimeout: 20 * time.Second},
			Replies: replies,
		}.Handler(),
		emailreconcile.Job{DB: app, Mailboxes: boxes}.Handler(),
	}
}

// mailer is a house with a mailbox on a test server.
type mailer struct {
	*house
	server  *smtpd.Server
	emails  *emails.Service
	mailbox id.ID
}

func openMailer(t *testing.T) *mailer {
	t.Helper()
	return mailerIn(open(t))
}

// mailerIn adds a mailbox to a house.
func mailerIn(h *house) *mailer {
	t := h.t
	t.Helper()
	p := &mailer{house: h, server: smtpd.Start(t, nil), mailbox: id.New()}
	keyset, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	box, err := secret.Parse(keyset)
	if err != nil {
		t.Fatal(err)
	}
	p.env = []string{"KEYSET=" + keyset}
	p.emails = &emails.Service{
		Box: box, Mailboxes: &mailboxes.Service{Box: box, AllowPrivate: true},
		Suppressions: &suppression.Service{Box: box},
	}
	p.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test') ON CONFLICT DO NOTHING`, p.org)
	p.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, smtp_port,
		smtp_tls, status, created_at, updated_at) VALUES ($1, $2, 'Box', 'smtp', 'hello@shop.example',
		'hello@shop.example', 'shop.example', $3, $4, 'none', 'active', now(), now())`, p.org, p.mailbox, p.server.Host,
		p.server.Port)
	return p
}

// send creates n emails to fresh contacts, and their jobs. The addresses are prefix0@example.com and so on.
func (m *mailer) send(prefix string, n int) {
	m.t.Helper()
	ctx := m.t.Context()
	err := m.db.App.Tx(ctx, m.org, func(tx *postgres.Tx) error {
		box, err := m.emails.Mailboxes.ForSending(ctx, tx, m.mailbox)
		if err != nil {
			return err
		}
		for i := range n {
			contact, to := id.New(), fmt.Sprintf("%s%d@example.com", prefix, i)
			tx.Queue(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded,
				stage, created_at, updated_at) VALUES ($1, $2, $3, $3, 'A', 'B', 'b', 'lead', now(), now())`, m.org,
				contact, to)
			full, err := m.emails.Create(ctx, tx, &emails.New{
				Mailbox: box, ContactID: contact, ToEmail: to, Subject: "Hello", Purpose: emails.Personal,
				Text: strings.Repeat("Hello\n", 2000),
			})
			if err != nil {
				return err
			}
			if err := emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: full.ID},
				queue.ConcurrencyKey(m.mailbox)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (m *mailer) number(sql string, args ...any) (n int) {
	m.t.Helper()
	if err := m.sql.QueryRow(m.t.Context(), sql, args...).Scan(&n); err != nil {
		m.t.Fatal(err)
	}
	return n
}

// await waits until a query returns true. Postgres waits between two looks.
func (m *mailer) await(what, sql string) {
	m.t.Helper()
	for end := time.Now().Add(90*time.Second + time.Duration(*mails)*50*time.Millisecond); ; {
		var ok bool
		if err := m.sql.QueryRow(m.t.Context(), `SELECT (`+sql+`) FROM pg_sleep(0.01)`).Scan(&ok); err != nil {
			m.t.Fatal(err)
		}
		if ok {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%s: %s", what, m.statuses())
		}
	}
}

func (m *mailer) statuses() (s string) {
	_ = m.sql.QueryRow(m.t.Context(), `SELECT string_agg(status || ' ' || n, ', ') FROM (SELECT status, count(*) AS n
		FROM email GROUP BY status) x`).Scan(&s)
	return s
}

// drain lets a worker send what is left, and compares the rows with the log of the server.
func (m *mailer) drain() {
	m.t.Helper()
	m.retryNow()
	last := m.process(posting)
	m.await("emails are left", `NOT EXISTS (SELECT FROM job WHERE kind LIKE 'email.send%')`)
	kill(last)
	accepted := map[string]int{}
	for _, a := range m.server.Accepted() {
		accepted[strings.Trim(a.MessageID, "<>")]++
	}
	rows, err := m.sql.Query(m.t.Context(), `SELECT message_id, status FROM email`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var messageID, status string
		if err := rows.Scan(&messageID, &status); err != nil {
			m.t.Fatal(err)
		}
		n := accepted[messageID]
		switch {
		case n > 1:
			m.t.Errorf("%s was accepted %d times", messageID, n)
		case status == emails.Sent && n == 0:
			m.t.Errorf("%s is sent, and the server does not have it", messageID)
		case status != emails.Sent && status != emails.Unknown:
			m.t.Errorf("%s is %s", messageID, status)
		case status == emails.Unknown:
			counts[fmt.Sprintf("unknown, accepted %d", n)]++
			continue
		}
		counts[status]++
	}
	m.t.Logf("%v", counts)
}

// holdMarks makes the commits of marks wait for an advisory lock, which the test then holds.
const holdMarks = `
CREATE FUNCTION hold_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.status = 'transmitting' THEN PERFORM pg_advisory_xact_lock(7); END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER hold_mark AFTER UPDATE ON email DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION hold_mark();`

// TestAWorkerKilledAtAnyPointOfAMailsLifeSendsNoMailTwiceAndLosesNone kills a worker with SIGKILL at each of 13 points.
func TestAWorkerKilledAtAnyPointOfAMailsLifeSendsNoMailTwiceAndLosesNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  smtpd.Fault
		stage  int    // the number of the call for a recipient that marks the point: 1 RCPT, 2 DATA
		locked string // a statement that holds the worker up at the point
		until  string // the query that is true at the point
		greet  bool   // the server waits before it answers the greeting
		marked bool   // the mark's commit waits for the lock, and succeeds while the worker is stopped
		want   string // status afterwards

		uncapped bool // no cap counts the mail
	}{
		"before the job is claimed": {want: "sent"},
		"before the email is taken": {
			locked: `SELECT FROM email FOR UPDATE`, until: `SELECT owner IS NOT NULL FROM job`, want: "sent",
		},
		"when the server is greeted":  {greet: true, want: "sent"},
		"when the recipient is named": {stage: 1, want: "sent"},
		"when the body begins":        {stage: 2, want: "sent"},
		"before the mark takes the mailbox": {
			locked: `SELECT FROM mailbox FOR UPDATE`,
			until:  waiting("mailbox%FOR UPDATE"),
			want:   "sent",
		},
		"before the mark is committed": {
			locked: `LOCK TABLE email_month IN SHARE MODE`,
			until:  waiting("WITH marked AS"),
			want:   "sent",
		},
		"when the mark of an uncapped mail was sent to Postgres": { // which commits it although the worker is gone
			uncapped: true, locked: `LOCK TABLE email_month IN SHARE MODE`,
			until: waiting("WITH marked AS"),
			want:  "unknown",
		},
		"after the mark, before the dot": {
			marked: true, locked: `SELECT pg_advisory_xact_lock(7)`,
			until: `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event = 'advisory')`,
			want: "unknown",
		},
		"after the dot, which the server loses": {
			fault: smtpd.Fault{At: smtpd.Dot}, until: `SELECT status = 'transmitting' FROM email`, want: "unknown",
		},
		"after the dot, which the server has": {
			fault: smtpd.Fault{At: smtpd.Dot, Accept: true}, until: `SELECT status = 'transmitting' FROM email`,
			want: "unknown",
		},
		"after the reply, before the outcome": {
			locked: `LOCK TABLE event IN SHARE MODE`,
			until:  `SELECT status = 'transmitting' AND (` + waiting("INSERT INTO event") + `) FROM email`,
			want:   "unknown",
		},
		"after the outcome": {until: `SELECT status = 'sent' FROM email`, want: "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openMailer(t)
			reached, stop := make(chan struct{}), func() {}
			wait := make(chan struct{})
			var once sync.Once
			calls := 0
			p.server.Fail(func(string) smtpd.Fault {
				calls++
				if calls == c.stage {
					once.Do(func() { close(reached) })
					<-wait
				}
				f := c.fault
				if f.At == smtpd.Dot {
					f.Wait = wait
				}
				return f
			})
			if c.greet {
				p.server.Greet(func() {
					once.Do(func() { close(reached) })
					<-wait
				})
			}
			if c.marked {
				p.exec(holdMarks)
			}
			if !c.uncapped {
				p.exec(`UPDATE mailbox SET daily_cap = 10000`) // with a cap, the mark locks the mailbox
			}
			p.send("a", 1)
			if c.locked != "" {
				tx, err := testkit.Pgx(t, p.db.URL).Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), c.locked); err != nil {
					t.Fatal(err)
				}
				stop = func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }
			}
			cmd := p.process(posting)
			if c.stage > 0 || c.greet {
				<-reached
			} else if c.until != "" {
				p.await(name, c.until)
			}
			if c.marked { // so that the commit cannot be answered to a process that goes on
				testkit.Stop(t, cmd.Process)
				stop()
				p.await("the mark is committed", `SELECT status = 'transmitting' FROM email`)
			}
			kill(cmd)
			stop()
			close(wait)
			p.server.Fail(nil)
			p.drain()
			if n := len(p.server.Accepted()); c.marked && n > 0 {
				t.Error("the server has a mail whose dot was never written")
			}
			if got := p.statuses(); got != c.want+" 1" {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestWorkersKilledAtRandomSendNoMailTwiceAndLoseNone kills the API process that writes emails and two workers again
// and again while the emails go out to a server that is slow and fails in each way.
func TestWorkersKilledAtRandomSendNoMailTwiceAndLoseNone(t *testing.T) {
	t.Parallel()
	p := openMailer(t)
	p.env = append(p.env, "MAILBOX="+p.mailbox.String(), fmt.Sprint("MAILS=", *mails))
	// It is called for RCPT and for DATA, and takes its time, so that kills meet mails.
	p.server.Fail(func(string) smtpd.Fault {
		replies := make(chan struct{})
		time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { close(replies) })
		f := smtpd.Fault{Wait: replies}
		switch rand.IntN(60) {
		case 0: // takes the mail and dies
			f.At, f.Hang, f.Accept = smtpd.Dot, true, true
		case 1: // dies with the dot
			f.At, f.Hang = smtpd.Dot, true
		case 2:
			f.At, f.Hang = smtpd.Body, true
		case 3: // a definite no after the dot
			f.At, f.Code = smtpd.Dot, 451
		case 4:
			f.At, f.Code = smtpd.Rcpt, 451
		}
		return f
	})
	roles := [...]string{posting, posting, writing}
	var running [len(roles)]*exec.Cmd
	for i, role := range roles {
		running[i] = p.process(role)
	}
	kills := map[string]int{}
	for begun := time.Now(); ; {
		p.number(`SELECT 1 FROM pg_sleep($1)`, 0.1+rand.Float64()*0.5)
		p.retryNow()
		written := p.number(`SELECT count(*) FROM email`)
		open := p.number(`SELECT count(*) FROM job WHERE kind LIKE 'email.send%'`)
		if written == *mails && open <= *mails/10 {
			break
		}
		if time.Since(begun) > 2*time.Minute+time.Duration(*mails)*200*time.Millisecond {
			t.Fatalf("%d written, %d open: %s", written, open, p.statuses())
		}
		which := rand.IntN(len(roles))
		kill(running[which])
		kills[roles[which]]++
		running[which] = p.process(roles[which])
	}
	for _, cmd := range running {
		kill(cmd)
	}
	t.Logf("kills: %v", kills)
	p.server.Fail(nil)
	p.drain()
	if n := p.number(`SELECT count(*) FROM email`); n != *mails {
		t.Errorf("%d emails", n)
	}
	if n := p.number(`SELECT count(DISTINCT to_email) FROM email`); n != *mails {
		t.Errorf("emails to %d addresses", n)
	}
	if kills[posting] == 0 || kills[writing] == 0 {
		t.Errorf("kills: %v", kills)
	}
}

// retryNow makes the next attempts of refused emails due, which would be minutes later.
func (m *mailer) retryNow() {
	m.t.Helper()
	m.exec(`UPDATE job SET run_at = now() WHERE kind LIKE 'email.send%' AND owner IS NULL AND state = 'ready'
		AND run_at > now() + interval '2 seconds'`)
	m.exec(`UPDATE email SET due_at = now() WHERE status = 'planned' AND due_at > now()`)
}

// waiting returns a query that reports whether a session waits for a lock in a statement like the given one.
func waiting(statement string) string {
	return `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%` +
		statement + `%' AND wait_event_type = 'Lock')`
}
