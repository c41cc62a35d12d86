package emailsend_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/emails/replyjournal"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/journal"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

// claim claims the email's job.
func (p *post) claim(email id.ID) *queue.Claimed {
	p.Helper()
	var job id.ID
	p.exec(`UPDATE job SET run_at = now(), due = true, owner = NULL, wake_at = coalesce(wake_at, now())
		WHERE args ->> 'email' = $1::text AND kind LIKE 'email.send%'`, email.String())
	p.scan(`SELECT id FROM job WHERE args ->> 'email' = $1::text AND kind LIKE 'email.send%'`, &job, email.String())
	c, err := p.store.Claim(p.Context(), p.org, job)
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// lose runs the email's job without writing its outcome.
func (p *post) lose(email id.ID) *queue.Claimed {
	p.Helper()
	c := p.claim(email)
	_ = p.job.Handler().Call(p.Context(), c)
	c.EndRun(false)
	return c
}

// reap frees the jobs of lost runs, as the relay does after their leases.
func (p *post) reap() {
	p.exec(`UPDATE job SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL`)
}

// journal opens a journal in a directory; "": of none.
func (p *post) journal(path string, o replyjournal.Options) *replyjournal.Journal {
	p.Helper()
	var err error
	if path != "" {
		if o.Dir, err = journal.Open(path); err != nil {
			p.Fatal(err)
		}
	}
	if o.Log = testkit.Log(p); o.DB == nil {
		o.DB = p.App
	}
	return replyjournal.New(p.Context(), o)
}

// replays runs the journal until a query is true.
func (p *post) replays(j *replyjournal.Journal, until string) {
	p.Helper()
	ctx, stop := context.WithCancel(p.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			p.Error(err)
		}
	}()
	var is bool
	for end := time.Now().Add(5 * time.Minute); !is; p.scan(`SELECT (`+until+`) FROM pg_sleep(0.01)`, &is) {
		if time.Now().After(end) {
			p.Errorf("not within a minute: %s", until)
			return
		}
	}
}

const noneIsOpen = `SELECT NOT EXISTS (SELECT FROM email WHERE status IN ('transmitting', 'unknown'))`

// stopped runs the journal for no time: what it cannot write is in the file then.
func (p *post) stopped(j *replyjournal.Journal) {
	p.Helper()
	ctx, stop := context.WithCancel(p.Context())
	stop()
	if err := j.Run(ctx); err != nil {
		p.Fatal(err)
	}
}

// away returns a pool whose transactions fail.
func (p *post) away() *postgres.DB {
	p.Helper()
	db, err := postgres.Open(p.Context(), postgres.Options{URL: p.URL, Role: postgres.App, MaxConns: 1})
	if err != nil {
		p.Fatal(err)
	}
	db.Close()
	return db
}

func TestTheNextRunOfAnEmailRecordsTheReplyThatTheLostRunGot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault smtpd.Fault
		want  string
		tries bool // again
	}{
		"accepted": {smtpd.Fault{}, "sent", false},
		"refused":  {smtpd.Fault{At: smtpd.Dot, Code: 554}, "failed rejected", false},
		"put off":  {smtpd.Fault{At: smtpd.Dot, Code: 451}, "planned", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			p.job.Replies = p.journal("", replyjournal.Options{})
			p.server.Fail(func(string) smtpd.Fault { return c.fault })
			email := p.write("ada@example.com")
			p.lose(email)
			if got := p.status(email); got != "transmitting" {
				t.Fatal(got)
			}
			p.reap()
			sessions := p.server.Sessions()
			if err := p.run(t.Context(), email); (err != nil) != c.tries || p.status(email) != c.want {
				t.Errorf("%v, %s, want %s", err, p.status(email), c.want)
			}
			if p.server.Sessions() != sessions {
				t.Error("it asked the server again")
			}
			if n := p.count(`event WHERE type = 'email.unknown'`); n != 0 {
				t.Error("the email was unknown")
			}
		})
	}
}

// TestAnEmailWhoseMarkIsInDoubtIsSentByTheNextRun is about a mark that was committed although its run was told of an
// error: no dot followed.
func TestAnEmailWhoseMarkIsInDoubtIsSentByTheNextRun(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.job.Replies = p.journal("", replyjournal.Options{})
	email := p.write("ada@example.com")
	c := p.claim(email)
	out, err := p.emails.Begin(t.Context(), p.App, p.org, email, c.Owner())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.emails.Mark(t.Context(), p.App, out, nil, "true"); err != nil {
		t.Fatal(err)
	}
	f, ok := emails.FinalReplyOf(out, &transport.Result{
		Outcome: transport.MarkRefused, Stage: transport.Data, Err: errors.New("the session was lost"),
	})
	if !ok {
		t.Fatal("no final reply")
	}
	p.job.Replies.Keep(t.Context(), c, f)
	c.EndRun(false)
	p.reap()
	if err := p.run(t.Context(), email); !snoozed(err) || p.status(email) != "planned" {
		t.Fatalf("%v, %s", err, p.status(email))
	}
	if err := p.run(t.Context(), email); err != nil || p.status(email) != "sent" || len(p.server.Accepted()) != 1 {
		t.Errorf("%v, %s, %d accepted", err, p.status(email), len(p.server.Accepted()))
	}
}

// TestACompletionThatIsUnderWayIsRefusedAfterTheReplay is about the commit of a killed process, which Postgres may
// execute later.
func TestACompletionThatIsUnderWayIsRefusedAfterTheReplay(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.job.Replies = p.journal("", replyjournal.Options{})
	email := p.write("ada@example.com")
	c := p.lose(email)
	p.replays(p.job.Replies, noneIsOpen)
	if err := p.store.Finish(t.Context(), c, store.Completion{Outcome: store.Done}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("%v", err)
	}
	if n := p.count(`event WHERE type = 'email.sent'`); n != 1 || p.status(email) != "sent" {
		t.Errorf("%d events, %s", n, p.status(email))
	}
	if n := p.count(`job WHERE kind = 'email.send'`); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

func TestAReplyWhoseOutcomeIsWrittenIsInNoFile(t *testing.T) {
	t.Parallel()
	p := open(t)
	path := t.TempDir()
	p.job.Replies = p.journal(path, replyjournal.Options{DB: p.away()})
	for i := range 3 {
		c := p.claim(p.write(fmt.Sprintf("%d@example.com", i)))
		if err := p.job.Handler().Call(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := p.store.Finish(t.Context(), c, store.Completion{Outcome: store.Done}); err != nil {
			t.Fatal(err)
		}
		c.EndRun(true)
	}
	p.stopped(p.job.Replies)
	if files := repliesIn(t, path); len(files) != 0 {
		t.Errorf("%v", files)
	}
}

func repliesIn(t *testing.T, path string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "replies-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// counted returns the value of a counter.
func counted(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestRepliesAboveTheBoundAreCountedAndTheirEmailsAreUnknown(t *testing.T) {
	t.Parallel()
	p := open(t)
	registry := prometheus.NewRegistry()
	p.job.Replies = p.journal(t.TempDir(), replyjournal.Options{MaxReplies: 2, Metrics: registry})
	var all []id.ID
	for i := range 3 {
		all = append(all, p.write(fmt.Sprintf("%d@example.com", i)))
		p.lose(all[i])
	}
	if n := counted(t, registry, "funnelwork_email_replies_dropped_total"); n != 1 {
		t.Errorf("%v replies were dropped", n)
	}
	p.replays(p.job.Replies, `SELECT count(*) = 2 FROM email WHERE status = 'sent'`)
	p.reap()
	if err := p.run(t.Context(), all[2]); err != nil || p.status(all[2]) != "unknown interrupted" {
		t.Errorf("%v, %s", err, p.status(all[2]))
	}
}

// TestTheJournalOfAnEndedProcessIsReplayedThoughItIsDamaged ends a process while Postgres is away, damages its file,
// and starts another one.
func TestTheJournalOfAnEndedProcessIsReplayedThoughItIsDamaged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		want   string
	}{
		"whole":            {func(b []byte) []byte { return b }, "sent sent sent"},
		"with a torn tail": {func(b []byte) []byte { return b[:len(b)-7] }, "sent sent transmitting"},
		"with a damaged line": {func(b []byte) []byte {
			b[bytes.IndexByte(b, '\n')+20] ^= 1
			return b
		}, "sent transmitting sent"},
		"with each line twice": {func(b []byte) []byte { return append(b, b...) }, "sent sent sent"},
		"with a foreign file in it": {
			func(b []byte) []byte { return append([]byte("nothing of ours\n\x00\n"), b...) }, "sent sent sent",
		},
		"empty": {func([]byte) []byte { return nil }, "transmitting transmitting transmitting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			path := filepath.Join(t.TempDir(), "spool")
			p.job.Replies = p.journal(path, replyjournal.Options{DB: p.away()})
			for i := range 3 {
				p.lose(p.write(fmt.Sprintf("%d@example.com", i)))
			}
			p.stopped(p.job.Replies)
			files := repliesIn(t, path)
			if len(files) != 1 {
				t.Fatalf("%v", files)
			}
			body, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], c.damage(body), 0o600); err != nil {
				t.Fatal(err)
			}
			p.replays(p.journal(path, replyjournal.Options{}), fmt.Sprintf(
				`SELECT count(*) = %d FROM email WHERE status = 'sent'`, strings.Count(c.want, "sent")))
			var got string
			p.scan(`SELECT string_agg(status, ' ' ORDER BY to_email) FROM email`, &got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := p.count(`event WHERE type = 'email.sent'`); n != strings.Count(c.want, "sent") {
				t.Errorf("%d were announced", n)
			}
			if left := repliesIn(t, path); len(left) != 0 {
				t.Errorf("%v", left)
			}
		})
	}
}

func TestALivingProcessAdoptsTheJournalOfAnEndedOne(t *testing.T) {
	t.Parallel()
	p := open(t)
	path := t.TempDir()
	living := p.journal(path, replyjournal.Options{})
	p.job.Replies = p.journal(path, replyjournal.Options{DB: p.away()})
	p.lose(p.write("ada@example.com"))
	p.stopped(p.job.Replies)
	p.replays(living, noneIsOpen)
}

// TestRepliesAreKeptInTheProcessWhileTheHomeCannotBeWritten takes the directory away.
func TestRepliesAreKeptInTheProcessWhileTheHomeCannotBeWritten(t *testing.T) {
	t.Parallel()
	p := open(t)
	path := filepath.Join(t.TempDir(), "spool")
	p.job.Replies = p.journal(path, replyjournal.Options{})
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	p.lose(p.write("ada@example.com"))
	p.replays(p.job.Replies, noneIsOpen)
}

// TestARunThatLosesItsLeaseAfterTheDotStillGetsTheReply ends the run's context while the server has not replied yet.
func TestARunThatLosesItsLeaseAfterTheDotStillGetsTheReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		want  string
	}{
		"the lease is lost":      {queue.ErrLeaseLost, "sent"},
		"the worker is stopping": {errors.New("the worker is stopping"), "unknown no_reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			late := make(chan struct{})
			p.server.Fail(func(string) smtpd.Fault { return smtpd.Fault{Wait: late} })
			email := p.write("ada@example.com")
			ctx, end := context.WithCancelCause(t.Context())
			watcher := testkit.Pgx(t, p.URL)
			go func() {
				for marked := false; !marked || len(p.server.Accepted()) == 0; {
					err := watcher.QueryRow(t.Context(), `SELECT status = 'transmitting' FROM email, pg_sleep(0.01)`).
						Scan(&marked)
					if err != nil {
						break
					}
				}
				end(c.cause)
				time.AfterFunc(300*time.Millisecond, func() { close(late) })
			}()
			if err := p.run(ctx, email); err != nil || p.status(email) != c.want {
				t.Errorf("%v, %s, want %s", err, p.status(email), c.want)
			}
		})
	}
}
