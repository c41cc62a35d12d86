package e2e_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// long runs these tests at the size of the contract, which takes some minutes.
var long = flag.Bool("hooks.long", false, "run the tests of webhooks at full size")

func size[T any](short, full T) T {
	if *long {
		return full
	}
	return short
}

// post is a database, a Redis and a keyset. Worker processes of the built binary deliver the events that a test
// announces.
type post struct {
	*testing.T
	db    *testkit.Database
	app   *postgres.DB // enqueues after its commits, as the API's pool does
	redis string
	home  string
	sql   *pgx.Conn
	hooks *webhooks.Service
	pid   int // process id of the last worker
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{T: t, db: testkit.DB(t), redis: testkit.RealRedis(t).URL, home: t.TempDir()}
	p.sql = testkit.Pgx(t, p.db.URL)
	box, err := secret.Create(filepath.Join(p.home, "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	p.hooks = &webhooks.Service{Box: box, Policy: outbound.Policy{AllowPrivate: true}}
	client, err := redisx.Open(p.redis, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: client, Log: testkit.Log(t)})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var pushing sync.WaitGroup
	pushing.Go(func() { _ = pusher.Run(ctx) })
	t.Cleanup(func() {
		stop()
		pushing.Wait()
		_ = client.Close()
	})
	if p.app, err = postgres.Open(t.Context(),
		postgres.Options{URL: p.db.URL, Role: postgres.App, AfterCommit: pusher.AfterCommit}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.app.Close)
	return p
}

// worker starts a process. kill ends it with SIGKILL, as an out-of-memory killer does.
func (p *post) worker() (kill func()) {
	p.Helper()
	ports, err := freePorts(1)
	if err != nil {
		p.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(p.Context()), build(p.T), "worker")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+p.db.URL, "REDIS_URL="+p.redis, "FUNNELWORK_HOME="+p.home,
		"FUNNELWORK_OPS_ADDR="+ports[0],
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=warn", "FUNNELWORK_CONCURRENCY=20")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, 20*time.Second
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.pid = cmd.Process.Pid
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	p.Cleanup(func() {
		kill()
		if p.Failed() {
			p.Log(said.String())
		}
	})
	until(p.T, "the worker is ready", func() bool {
		status, _ := ask(p.T, "GET", "http://"+ports[0]+"/readyz", "", "")
		return status == 200
	})
	return kill
}

func (p *post) subscribe(org id.ID, url string, rate *int, types ...string) id.ID {
	p.Helper()
	var v webhooks.Versioned
	p.tx(org, func(tx *postgres.Tx) (err error) {
		v, _, err = p.hooks.Create(p.Context(), tx,
			webhooks.New{URL: url, Events: types, RateLimit: rate, Enabled: true})
		return err
	})
	return v.ID
}

func (p *post) tx(org id.ID, fn func(tx *postgres.Tx) error) {
	p.Helper()
	if err := p.app.Tx(p.Context(), org, fn); err != nil {
		p.Fatal(err)
	}
}

// announce commits n events, a hundred at a time.
func (p *post) announce(org id.ID, n int, archived bool) {
	p.Helper()
	for n > 0 {
		some := min(n, 100)
		n -= some
		p.tx(org, func(tx *postgres.Tx) error {
			for range some {
				now := wire.Now()
				c := events.Contact{
					ID: id.New(), Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace", Stage: "lead",
					Tag: []string{}, Segment: []string{}, Attributes: map[string]any{},
					Score: events.ContactScore{Confidence: "prior"}, CreatedAt: now, UpdatedAt: now,
				}
				var e events.Event = events.ContactCreated{Contact: c}
				if archived {
					e = events.ContactArchived{Contact: c}
				}
				if err := events.Announce(p.Context(), tx, e); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func (p *post) count(sql string) (n int) {
	p.Helper()
	if err := p.sql.QueryRow(p.Context(), "SELECT count(*) FROM "+sql).Scan(&n); err != nil {
		p.Fatal(err)
	}
	return n
}

func (p *post) exec(sql string, args ...any) {
	p.Helper()
	if _, err := p.sql.Exec(p.Context(), sql, args...); err != nil {
		p.Fatal(err)
	}
}

// within waits for cond with its own limit.
func (p *post) within(limit time.Duration, what string, cond func() bool) {
	p.Helper()
	for deadline := time.Now().Add(limit); !cond(); <-time.After(25 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("not within %s: %s; %d jobs, %d attempts", limit, what, p.count("job"), p.count("webhook_attempt"))
		}
	}
}

// inbox is a receiver that records the webhook-ids, and the number of concurrent calls.
type inbox struct {
	mu     sync.Mutex
	came   map[string]int
	ages   []time.Duration
	now    int
	most   int
	total  int
	answer func(http.ResponseWriter, *http.Request)
}

func receiver(t *testing.T, answer func(http.ResponseWriter, *http.Request)) (*inbox, string) {
	t.Helper()
	i := &inbox{came: map[string]int{}, answer: answer}
	s := httptest.NewServer(i)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return i, s.URL + "/"
}

// ServeHTTP counts a call. The age of an event is from its created_at, which is just before its commit.
func (i *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, _ := io.ReadAll(r.Body)
	var made time.Time
	if _, after, ok := bytes.Cut(body, []byte(`"created_at":"`)); ok {
		text, _, _ := bytes.Cut(after, []byte(`"`))
		made, _ = time.Parse(time.RFC3339Nano, string(text))
	}
	i.mu.Lock()
	i.came[r.Header.Get("Webhook-Id")]++
	i.ages = append(i.ages, at.Sub(made))
	i.total++
	i.now++
	i.most = max(i.most, i.now)
	i.mu.Unlock()
	i.answer(w, r)
	i.mu.Lock()
	i.now--
	i.mu.Unlock()
}

func (i *inbox) calls() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.total
}

func ok(http.ResponseWriter, *http.Request) {}

// slow responds after d, or when the caller has gone.
func slow(d time.Duration) func(http.ResponseWriter, *http.Request) {
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
}

func TestASlowWebhookKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	p, one, other := newPost(t), id.New(), id.New()
	crawler, crawls := receiver(t, slow(size(2*time.Second, 4*time.Second)))
	same, mine := receiver(t, ok)
	foreign, theirs := receiver(t, ok)
	p.subscribe(one, crawls, nil, "contact.created")
	p.subscribe(one, mine, nil, "contact.archived")
	p.subscribe(other, theirs, nil, "contact.archived")
	p.worker()
	p.announce(one, size(150, 600), false)
	p.within(patience, "the slow one is at work", func() bool { return crawler.calls() >= 10 })
	p.announce(one, size(100, 300), true)
	p.announce(other, size(100, 300), true)
	for name, i := range map[string]*inbox{"of the same org": same, "of another org": foreign} {
		p.within(2*patience, "the neighbour "+name+" has all of its events", func() bool {
			return i.calls() == size(100, 300)
		})
		// behind the slow one's deliveries, its own would have begun last
		if begun := crawler.calls(); begun == size(150, 600) {
			t.Errorf("the neighbour %s waited until all deliveries of the slow one had begun", name)
		}
		slices.Sort(i.ages)
		t.Logf("the neighbour %s: p50 %s, p99 %s", name, i.ages[len(i.ages)/2], i.ages[len(i.ages)*99/100])
	}
	if crawler.most > queue.Slots {
		t.Errorf("%d calls at once to the slow one", crawler.most)
	}
}

func TestAKilledWorkerLosesNoDeliveryAndEveryTryIsInTheLog(t *testing.T) {
	t.Parallel()
	for run := range size(2, 20) {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			p, org, n := newPost(t), id.New(), size(300, 1000)
			in, url := receiver(t, slow(100*time.Millisecond))
			for range 2 {
				p.subscribe(org, url, nil, "contact.created")
			}
			n -= n % 2
			p.announce(org, n/2, false) // to two webhooks each: their ids arrive twice
			kill := p.worker()
			p.within(patience, "some have arrived", func() bool { return in.calls() > 20+run*size(60, 40) })
			kill()
			running := p.count("job WHERE owner IS NOT NULL")
			killed := time.Now()
			p.worker()
			p.within(2*time.Minute, "every delivery is over", func() bool {
				return p.count("webhook_delivery WHERE status = 'delivered' AND attempts = 1") == n &&
					p.count("job WHERE kind = 'webhook.deliver'") == 0
			})
			t.Logf("%d deliveries, %d running when the worker was killed, all over after %s, %d calls", n, running,
				time.Since(killed).Round(time.Millisecond), in.calls())
			twice := in.calls() - n
			lost := p.count("webhook_attempt WHERE error_class = 'interrupted'")
			if twice < 0 || twice > running {
				t.Errorf("%d calls were repeated, %d were running", twice, running)
			}
			if running > 20 {
				t.Errorf("%d were running, want 20 or fewer", running)
			}
			if len(in.came) != n/2 {
				t.Errorf("%d webhook-ids, want %d", len(in.came), n/2)
			}
			// a prefetched task that has not begun counts as lost, too
			got := p.count("webhook_attempt WHERE status = 200") +
				p.count("webhook_delivery WHERE attempt_id IS NOT NULL")
			if got != n {
				t.Errorf("%d successful attempts in the log, want %d", got, n)
			}
			if lost < twice || lost > 40 {
				t.Errorf("%d interrupted attempts, want %d to 40", lost, twice)
			}
		})
	}
}

// The clock is the database's, so the test moves stored times into the past.
func TestAnEndpointThatIsAwayForTenMinutesIsProbedAndThenDrainsAtItsLimits(t *testing.T) {
	t.Parallel()
	p, org, n := newPost(t), id.New(), size(400, 5000)
	var mu sync.Mutex
	away := true
	in, url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		gone := away
		mu.Unlock()
		if gone {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		slow(5*time.Millisecond)(w, r)
	})
	rate := 100
	endpoint := p.subscribe(org, url, size(&rate, nil), "contact.created")
	p.announce(org, n, false)
	p.worker()
	p.within(patience, "the circuit is open", func() bool {
		return p.count("webhook_health WHERE opened_at IS NOT NULL") == 1
	})
	p.within(patience, "nothing runs any more", func() bool { return p.count("job WHERE owner IS NOT NULL") == 0 })
	begun := in.calls()
	if begun > 5+queue.Slots {
		t.Errorf("%d calls before the circuit was open", begun)
	}
	spent := p.count("job WHERE attempt > 0")
	pass := func() {
		p.exec("UPDATE job SET run_at = run_at - interval '30 seconds' WHERE attempt = 0 AND wake_at IS NULL")
		p.exec("UPDATE job_line SET held_until = held_until - interval '30 seconds' WHERE id = $1", endpoint)
		p.exec("UPDATE webhook_health SET failing_since = failing_since - interval '30 seconds', opened_at = " +
			"opened_at - interval '30 seconds', next_probe_at = next_probe_at - interval '30 seconds'")
	}
	for probe := 1; probe <= 20; probe++ {
		pass()
		p.within(patience, "a probe", func() bool {
			return in.calls() >= begun+probe && p.count("job WHERE owner IS NOT NULL") == 0 &&
				p.count("job_line WHERE held_until > now()") == 1
		})
		if got := in.calls() - begun; got != probe {
			t.Fatalf("%d calls in %d half minutes", got, probe)
		}
	}
	type facts struct{ Spent, Probes, Repeated int }
	if diff := cmp.Diff(facts{Spent: spent, Probes: 20}, facts{
		p.count("job WHERE attempt > 0"), p.count("webhook_attempt WHERE trigger = 'probe'"),
		p.count("webhook_delivery WHERE attempts > 1"),
	}); diff != "" {
		t.Errorf("after the probes (-want +got):\n%s", diff)
	}
	mu.Lock()
	away = false
	mu.Unlock()
	pass()
	in.mu.Lock()
	in.most = 0
	in.mu.Unlock()
	begin := time.Now()
	p.within(3*time.Minute, "the backlog is delivered", func() bool {
		return p.count("webhook_delivery WHERE status = 'delivered'") >= n-spent
	})
	took := time.Since(begin)
	t.Logf("%d deliveries in %s, %d at once", n-spent, took, in.most)
	if in.most > queue.Slots {
		t.Errorf("%d calls at once", in.most)
	}
	if least := time.Duration(n-spent-rate) * time.Second / time.Duration(rate); !*long && took < least {
		t.Errorf("%d deliveries in %s at %d a second", n-spent, took, rate)
	}
}
