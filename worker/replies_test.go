package worker_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
	"github.com/funnelwork/funnelwork/jobs/sequencestep"
	"github.com/funnelwork/funnelwork/worker"
)

// keeping is the role of a worker that sends emails and keeps final replies in the directory SPOOL.
const keeping = "worker that keeps replies"

// finalReplies is how many mails wait for their final reply when Postgres goes away.
var finalReplies = flag.Int("final-replies", 24, "mails that wait for their final reply when Postgres goes away")

// manyMails is more than the mails that are on their way at once.
const manyMails = 160

// patient are intervals by which runs outlive the time that Postgres takes to stop.
var patient = worker.Timing{
	Lease: 10 * time.Second, First: 300 * time.Millisecond, Extend: 500 * time.Millisecond,
	Guard: 6 * time.Second, Look: 100 * time.Millisecond, Feed: 20 * time.Millisecond,
}

// outage is a mailer whose Postgres the test stops while mails wait for the reply to their final dot.
type outage struct {
	*mailer
	postgres *testkit.PostgresServer
	spool    string
	answer   func() // lets the server reply to the dots
}

// openOutage opens a mailer whose server replies to final dots when answer is called, with the fault of the recipient.
func openOutage(t *testing.T, fault func(to string) smtpd.Fault) *outage {
	t.Helper()
	server := testkit.RealPostgres(t)
	o := &outage{postgres: server, spool: filepath.Join(t.TempDir(), "spool")}
	o.mailer = mailerIn(openOn(t, &testkit.Database{
		URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
		System: testkit.Open(t, server.URL, postgres.System),
	}))
	o.env = append(o.env, "SPOOL="+o.spool)
	replies := make(chan struct{})
	o.answer = sync.OnceFunc(func() { close(replies) })
	t.Cleanup(o.answer)
	o.mailer.server.Fail(func(to string) smtpd.Fault {
		f := fault(to)
		f.Wait = replies
		return f
	})
	return o
}

// writeEmails creates n emails, and their jobs, each of a concurrency key of its own so that all are sent at once.
func (o *outage) writeEmails(n int) {
	o.t.Helper()
	ctx := o.t.Context()
	if err := o.db.App.Tx(ctx, o.org, func(tx *postgres.Tx) error {
		m, err := o.emails.Mailboxes.ForSending(ctx, tx, o.mailbox)
		if err != nil {
			return err
		}
		for i := range n {
			contact, to := id.New(), fmt.Sprintf("r%d@example.com", i)
			tx.Queue(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded,
				stage, created_at, updated_at) VALUES ($1, $2, $3, $3, 'A', 'B', 'b', 'lead', now(), now())`, o.org,
				contact, to)
			full, err := o.emails.Create(ctx, tx, &emails.New{
				Mailbox: m, ContactID: contact, ToEmail: to, Subject: "Hello", Purpose: emails.Personal, Text: "Hello",
			})
			if err != nil {
				return err
			}
			if err := emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: full.ID},
				queue.ConcurrencyKey(full.ID)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		o.t.Fatal(err)
	}
}

// replies starts the journal of a worker in this process.
func (o *outage) replies() *replyjournal.Journal {
	o.t.Helper()
	dir, err := journal.Open(o.spool)
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(o.t.Context()))
	j := replyjournal.New(ctx, replyjournal.Options{DB: o.db.App, Dir: dir, Log: o.log})
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	o.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			o.t.Error(err)
		}
	})
	return j
}

// marked waits until n emails wait for the reply to their dot.
func (o *outage) marked(n int) {
	o.t.Helper()
	o.until(giveUpAfter, "all dots are written", func() bool {
		return len(o.server.Accepted()) == n &&
			o.number(`SELECT count(*) FROM email WHERE status = 'transmitting'`) == n
	})
}

// back starts Postgres again.
func (o *outage) back() {
	o.t.Helper()
	o.postgres.Start()
	o.sql = testkit.Pgx(o.t, o.db.URL)
}

// eventually waits without Postgres.
func (o *outage) eventually(what string, is func() bool) {
	o.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !is(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatal(what)
		}
	}
}

// stored returns how many replies the journal's files have, and checks the modes of those.
func (o *outage) stored() (n int) {
	o.t.Helper()
	files, err := filepath.Glob(filepath.Join(o.spool, "replies-*"))
	if err != nil {
		o.t.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			continue // it was replaced
		}
		n += bytes.Count(body, []byte("\n"))
		if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
			o.t.Errorf("%s has mode %v", file, info.Mode())
		}
		if strings.Contains(string(body), "@") {
			o.t.Errorf("%s has an address", file)
		}
	}
	return n
}

// done waits until all emails have their outcome, and checks that each has been announced once.
func (o *outage) done(want string) {
	o.t.Helper()
	o.until(giveUpAfter, "all emails have their outcome", func() bool {
		o.retryNow()
		return o.number(`SELECT count(*) FROM job WHERE kind LIKE 'email.send%'`) == 0 && o.stored() == 0
	})
	if got := o.text(`SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n
		FROM email GROUP BY status) x`); got != want {
		o.t.Errorf("%s, want %s", got, want)
	}
	if n := o.number(`SELECT count(*) FROM event WHERE type = 'email.unknown'`); n != 0 {
		o.t.Errorf("%d emails were unknown", n)
	}
	if n := o.number(`SELECT count(*) FROM (SELECT e.id FROM email e LEFT JOIN event v ON v.org_id = e.org_id
		AND v.type = 'email.' || e.status AND v.data -> 'object' ->> 'id' = e.id::text GROUP BY e.id
		HAVING count(v.id) <> 1) x`); n != 0 {
		o.t.Errorf("%d outcomes were not announced once", n)
	}
}

func takesEach(string) smtpd.Fault { return smtpd.Fault{} }

// TestTheFinalRepliesThatComeWhilePostgresIsAwayAreWrittenWhenItIsBack takes Postgres away between the final dots of
// mails and their replies, for longer than the runs keep trying. Postgres that hangs executes later what it was sent.
func TestTheFinalRepliesThatComeWhilePostgresIsAwayAreWrittenWhenItIsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ leave, back func(*outage) }{
		"crashed": {func(o *outage) { o.postgres.Crash() }, (*outage).back},
		"hanging": {func(o *outage) { o.postgres.Hang() }, func(o *outage) { o.postgres.Continue() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repliesDuring(t, c.leave, c.back)
		})
	}
}

func repliesDuring(t *testing.T, leave, back func(*outage)) {
	t.Helper()
	mails := *finalReplies
	var puttingOff atomic.Bool
	puttingOff.Store(true)
	o := openOutage(t, func(to string) smtpd.Fault {
		switch {
		case to == "r7@example.com":
			return smtpd.Fault{At: smtpd.Dot, Code: 554, Accept: true}
		case to == "r8@example.com" && puttingOff.Load():
			return smtpd.Fault{At: smtpd.Dot, Code: 451, Accept: true}
		}
		return smtpd.Fault{}
	})
	o.writeEmails(mails)
	replies := o.replies()
	o.work(worker.Options{Concurrency: manyMails, Timing: patient}, postHandlers(o.db.App, o.emails.Box, replies)...)
	o.marked(mails)
	leave(o)
	o.answer()
	o.eventually("all runs have ended, and their replies are in the file", func() bool {
		return replies.Waiting() == mails && o.stored() == mails
	})
	puttingOff.Store(false)
	back(o)
	o.done(fmt.Sprintf("failed 1, sent %d", mails-1))
	if n := o.number(`SELECT count(*) FROM email WHERE smtp_reply LIKE '250 %' AND sent_at IS NOT NULL OR smtp_reply
		LIKE '554 %' AND marked_at IS NULL AND status_reason = 'rejected'`); n != mails {
		t.Errorf("%d emails have the reply", n)
	}
	o.eventually("no replies are left", func() bool { return replies.Waiting() == 0 })
}

// TestTheFinalRepliesOfAKilledWorkerAreWrittenByTheNextOne kills a worker while Postgres is away.
func TestTheFinalRepliesOfAKilledWorkerAreWrittenByTheNextOne(t *testing.T) {
	t.Parallel()
	mails := *finalReplies
	o := openOutage(t, takesEach)
	o.writeEmails(mails)
	first := o.process(keeping)
	o.marked(mails)
	o.postgres.Crash()
	o.answer()
	o.eventually("the replies are in the file", func() bool { return o.stored() == mails })
	kill(first)
	o.back()
	o.process(keeping)
	o.done(fmt.Sprintf("sent %d", mails))
	if n := len(o.server.Accepted()); n != mails {
		t.Errorf("%d mails were accepted", n)
	}
}

// TestEnrolmentsGoOnByFinalRepliesThatCameWhilePostgresWasAway is about the emails of sequences, which
// email.send_bulk sends.
func TestEnrolmentsGoOnByFinalRepliesThatCameWhilePostgresWasAway(t *testing.T) {
	t.Parallel()
	const mails = 8
	o := openOutage(t, takesEach)
	o.exec(`UPDATE mailbox SET daily_cap = NULL, gap_min = 0, gap_max = 0`)
	o.enrolAll(o.sequence(walkSteps()), mails)
	replies := o.replies()
	o.work(worker.Options{
		Timing: patient, Concurrency: manyMails,
		Watches: []func(context.Context) error{sequencestep.Watch(o.db.App, o.db.System)},
	}, walkHandlers(o.db.App, o.emails.Box, replies)...)
	o.marked(mails)
	o.postgres.Crash()
	o.answer()
	o.eventually("all runs have ended", func() bool { return replies.Waiting() == mails })
	o.back()
	o.done(fmt.Sprintf("sent %d", mails))
	if n := o.number(`SELECT count(*) FROM enrolment WHERE state = 'active' AND step = 'mail-2'
		AND due_at > now()`); n != mails {
		t.Errorf("%d enrolments wait for their second email", n)
	}
	if n := o.number(`SELECT count(*) FROM enrolment_history WHERE cause = 'sent'`); n != mails {
		t.Errorf("%d transitions", n)
	}
	if n := o.number(`SELECT count(*) FROM event WHERE type = 'sequence.step_completed'`); n != mails {
		t.Errorf("%d steps were announced", n)
	}
}
