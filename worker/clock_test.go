package worker_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/worker"
)

// Jobs are added before, while and after the clock of Postgres is wrong, more than the window of their org, beside one
// that is planned for tomorrow.
func TestJobsRunOnceThoughTheClockOfPostgresJumpsByAnHour(t *testing.T) {
	t.Parallel()
	for name, jumps := range map[string][]time.Duration{
		"ahead and back": {time.Hour, 0},
		"back and ahead": {-time.Hour, 0},
	} {
		for _, before := range []bool{true, false} {
			running := map[bool]string{true: ", a worker runs", false: ", a worker starts later"}[before]
			t.Run(name+running, func(t *testing.T) {
				t.Parallel()
				h, set := openWithClock(t)
				h.add(adding(mark, none{}, queue.At(time.Now().Add(24*time.Hour))))
				if before {
					h.work(worker.Options{}, mark.HandleTx(markWork))
				}
				const each = 2 * queue.MaxInFlight
				added := 0
				for _, ahead := range append([]time.Duration{0}, jumps...) {
					set(ahead)
					for range each {
						h.add(adding(mark, none{}))
						added++
					}
				}
				if !before {
					h.work(worker.Options{}, mark.HandleTx(markWork))
				}
				h.until(giveUpAfter, "all jobs but the planned one have run", func() bool { return len(h.jobs()) == 1 })
				if n := h.count("SELECT count(DISTINCT job) FROM done"); n != added || h.doneRows() != added {
					t.Errorf("%d jobs ran, %d times, of %d", n, h.doneRows(), added)
				}
			})
		}
	}
}

// openWithClock opens a house on a Postgres whose clock the test sets.
func openWithClock(t *testing.T) (h *house, set func(ahead time.Duration)) {
	t.Helper()
	server, set := testkit.PostgresWithClock(t)
	return openOn(t, &testkit.Database{
		URL: server.URL, App: testkit.Open(t, server.URL, postgres.App),
		System: testkit.Open(t, server.URL, postgres.System),
	}), set
}

var errTwice = errors.New("the first attempts fail")

// Kinds whose first runs wait: they fail, snooze, or open the circuit of their key.
var (
	pauses  = queue.Options{Backoff: func(int) time.Duration { return 5 * time.Second }}
	fails   = queue.Define[none]("test.fails", pauses)
	snoozes = queue.Define[none]("test.snoozes", pauses)
	holds   = queue.Define[none]("test.holds", queue.Options{})
)

// pausing returns a handler that marks the job if ready is true, and otherwise waits.
func pausing(k queue.Kind[none], ready *atomic.Bool, wait func(run *queue.Run[none]) error) queue.Handler {
	return k.Handle(func(_ context.Context, run *queue.Run[none]) error {
		if !ready.Load() {
			return wait(run)
		}
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
		return nil
	})
}

// Each job has run while the clock was ahead, and waits for a few seconds when it is set back. Another one is planned.
func TestRetriesSnoozesPausesAndCircuitsOfAClockAheadLastNoLongerOnceItIsSetBack(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"a worker runs": true, "a worker starts later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, set := openWithClock(t)
			var ready atomic.Bool
			key := id.New()
			handlers := []queue.Handler{
				mark.HandleTx(markWork),
				pausing(fails, &ready, func(*queue.Run[none]) error { return errTwice }),
				pausing(snoozes, &ready, func(*queue.Run[none]) error { return queue.Snooze(5 * time.Second) }),
				pausing(holds, &ready, func(run *queue.Run[none]) error {
					run.Effect(func(_ context.Context, tx *postgres.Tx) error {
						queue.OpenCircuit(tx, key, 5*time.Second)
						return nil
					})
					return queue.Snooze(5 * time.Second)
				}),
			}
			stop := h.work(worker.Options{}, handlers...)
			set(time.Hour)
			h.add(
				adding(fails, none{}), adding(snoozes, none{}), adding(holds, none{}, queue.ConcurrencyKey(key)),
				adding(mark, none{}, queue.In(5*time.Minute)),
				adding(mark, none{}, queue.At(time.Now().Add(3*time.Hour))),
			)
			h.until(giveUpAfter, "the first runs have ended", func() bool {
				return h.count(`SELECT count(*) FROM job WHERE kind <> 'test.mark' AND delayed_at IS NOT NULL
					AND wake_at IS NULL`) == 3
			})
			if !runs {
				stop()
			}
			set(0)
			ready.Store(true)
			if !runs {
				h.work(worker.Options{}, handlers...)
			}
			h.until(giveUpAfter, "the jobs have run", func() bool { return h.doneRows() == 3 })
			if n := h.count(`SELECT count(*) FROM job WHERE run_at BETWEEN now() + interval '3 minutes'
				AND now() + interval '5 minutes'`); n != 1 {
				t.Errorf("%d jobs wait for the rest of their pause", n)
			}
			if n := h.count("SELECT count(*) FROM job WHERE run_at > now() + interval '2 hours'"); n != 1 {
				t.Errorf("%d jobs wait for a planned time", n)
			}
		})
	}
}

// A probe of an endpoint with an open circuit is planned by a clock ahead.
func TestAWaitOfATableIsOverWhenARunningWorkerNoticesThatTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	h, set := openWithClock(t)
	set(time.Hour)
	h.work(worker.Options{}, mark.HandleTx(markWork))
	h.add(adding(mark, none{}))
	h.until(giveUpAfter, "the worker works", func() bool { return h.doneRows() == 1 })
	h.exec(`INSERT INTO webhook_health (org_id, endpoint_id, opened_at, next_probe_at)
		VALUES ($1, gen_random_uuid(), now() - interval '2 hours', now() + interval '1 minute')`, h.org)
	set(0)
	h.until(giveUpAfter, "the probe is due", func() bool {
		return h.count("SELECT count(*) FROM webhook_health WHERE next_probe_at <= now()") == 1
	})
}

// A mailbox with a rate sends mails before, while and after the clock of Postgres is wrong.
func TestMailsOfAMailboxWithARateAreSentOnceThoughTheClockOfPostgresJumpsByAnHour(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"ahead and back": time.Hour, "back and ahead": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, set := openWithClock(t)
			p := mailerIn(h)
			p.exec(`UPDATE mailbox SET rate_per_second = 5`)
			p.work(worker.Options{}, postHandlers(p.db.App, p.emails.Box, nil)...)
			for n, ahead := range []time.Duration{0, by, 0} {
				set(ahead)
				p.send(string(rune('a'+n)), 8)
			}
			p.until(giveUpAfter, "all mails are sent", func() bool {
				return p.count("SELECT count(*) FROM email WHERE status = 'sent'") == 24
			})
			if n := len(p.server.Accepted()); n != 24 {
				t.Errorf("the server has taken %d mails of 24", n)
			}
		})
	}
}

// An endpoint fails while the clock is ahead, so that deliveries wait for retries and for probes of an open circuit,
// and is well again once the clock is set back.
func TestDeliveriesThatWaitByAClockAheadArriveOnceItIsSetBack(t *testing.T) {
	t.Parallel()
	h, set := openWithClock(t)
	var well atomic.Bool
	arrived := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !well.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		arrived <- r.Header.Get("Webhook-Id")
	}))
	t.Cleanup(receiver.Close)
	hooks := &webhooks.Service{Box: testkit.Box(t), Policy: outbound.Policy{AllowPrivate: true}}
	calls := outbound.New(outbound.Options{Policy: hooks.Policy})
	h.work(worker.Options{}, (&webhookdeliver.Job{DB: h.db.App, Hooks: hooks, Client: calls}).Handler())
	h.add(func(ctx context.Context, tx *postgres.Tx) error {
		_, _, err := hooks.Create(ctx, tx, webhooks.New{URL: receiver.URL, Events: []string{"*"}, Enabled: true})
		return err
	})
	const deliveries = 40
	set(time.Hour)
	for range deliveries {
		h.add(func(ctx context.Context, tx *postgres.Tx) error {
			return events.Announce(ctx, tx, events.ContactCreated{Contact: events.Contact{
				ID: id.New(), Email: "ada@example.com", Stage: "lead", Tag: []string{}, Segment: []string{},
				Attributes: map[string]any{}, Score: events.ContactScore{Confidence: "prior"},
			}})
		})
	}
	h.until(giveUpAfter, "the circuit is open", func() bool {
		return h.count("SELECT count(*) FROM webhook_health WHERE opened_at IS NOT NULL") == 1
	})
	set(0)
	well.Store(true)
	got := map[string]bool{}
	// A circuit whose transaction was open meanwhile ends with the second look, after a minute, and probes then. What
	// failed twice while the clock was ahead waits for five to six minutes, as it would by a right clock.
	h.until(giveUpAfter, "all deliveries but those that failed twice have arrived", func() bool {
		for len(arrived) > 0 {
			i := <-arrived
			if got[i] {
				t.Errorf("%s has arrived twice", i)
			}
			got[i] = true
		}
		return len(got)+h.count(`SELECT count(*) FROM job WHERE attempt > 1
			AND run_at BETWEEN now() AND now() + interval '6 minutes'`) >= deliveries
	})
	if len(got) == 0 {
		t.Error("no delivery has arrived")
	}
}

// The first look is over when the run ends, so that the second one has to find its wait.
func TestAWaitThatARunHasComputedBeforeTheClockWasSetBackEndsThoughItIsCommittedLater(t *testing.T) {
	t.Parallel()
	h, set := openWithClock(t)
	looked := func() bool { // a look ends the lanes last
		return h.count("SELECT count(*) FROM job_lane WHERE full_until <= now()") == 1
	}
	const full = `INSERT INTO job_lane (lane, full_until) VALUES ('bulk', now() + interval '1 hour')
		ON CONFLICT (lane) DO UPDATE SET full_until = excluded.full_until`
	h.exec(full)
	var runs atomic.Int32
	running, release := make(chan struct{}), make(chan struct{})
	h.work(worker.Options{}, snoozes.Handle(func(_ context.Context, run *queue.Run[none]) error {
		if runs.Add(1) == 1 {
			close(running)
			<-release
			return queue.Snooze(time.Hour)
		}
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return markWork(ctx, tx, run) })
		return nil
	}))
	h.until(giveUpAfter, "the look of the start is over", looked)
	set(time.Hour)
	h.add(adding(snoozes, none{}))
	<-running
	h.exec(full)
	set(0)
	h.until(giveUpAfter, "the first look is over", looked)
	close(release)
	h.until(giveUpAfter, "the job runs again", func() bool { return h.doneRows() == 1 })
}
