package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const (
	subscribers = 16   // orgs with a webhook each
	publishers  = 32   // concurrent transactions
	inFlight    = 64   // concurrent calls of the worker and of the floor
	deluge      = 4000 // events in one turn
	hookRounds  = 5

	slowEvents = 600
	slowAnswer = 50 * time.Millisecond
)

// exchange is a worker process, a receiver in this process, and the API's way of announcing events: a transaction that
// announces, and an enqueuer after its commit.
type exchange struct {
	*world
	receiver *receiver
	db       *postgres.DB
	worker   *process
	orgs     []id.ID
	turn     atomic.Int64
	known    known
}

// hooks measures deliveries: from the commit of an event to its POST and to the commit of its attempt.
func hooks(ctx context.Context, log *slog.Logger) error {
	x, err := openExchange(ctx, log)
	if err != nil {
		return err
	}
	defer x.close()
	for _, step := range []func(context.Context) error{x.floods, x.trickle} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// openExchange starts a worker and what announces events. The caller must call close.
func openExchange(ctx context.Context, log *slog.Logger) (x *exchange, err error) {
	w, err := newWorld(ctx, log, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	x = &exchange{world: w}
	if x.receiver, err = receive(ctx); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, x.receiver.close)
	for range subscribers {
		org := id.New()
		if _, err := w.admin.Exec(ctx, "INSERT INTO org (id, name) VALUES ($1, 'bench')", org); err != nil {
			return nil, err
		}
		x.orgs = append(x.orgs, org)
	}
	if err := x.subscribe(ctx, x.orgs); err != nil {
		return nil, err
	}
	if x.worker, err = w.start(ctx, "worker", fmt.Sprintf("FUNNELWORK_CONCURRENCY=%d", inFlight)); err != nil {
		return nil, err
	}
	if err := x.know(ctx); err != nil {
		return nil, err
	}
	end, err := x.publish(ctx, log)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, end)
	return x, nil
}

// figures is one turn beside another commit.
func (x *exchange) figures(ctx context.Context) (figures, error) {
	from, err := redisReads(ctx, x.redis.URL)
	if err != nil {
		return nil, err
	}
	f, err := x.flood(ctx)
	if err != nil {
		return nil, err
	}
	to, err := redisReads(ctx, x.redis.URL)
	if err != nil {
		return nil, err
	}
	slow, err := x.slow(ctx)
	return figures{
		rate: f.perSecond, processorTime: f.cpu.Seconds() * 1e6 / deluge, "p99, ms": f.took[1].Seconds() * 1e3,
		redisTrips: (to - from) / deluge, "a slow receiver, per second": slow,
	}, err
}

// slow returns the deliveries per second of one org whose receiver takes slowAnswer for each, with slowEvents waiting.
func (x *exchange) slow(ctx context.Context) (perSecond float64, err error) {
	x.receiver.reset()
	x.receiver.delay.Store(int64(slowAnswer))
	defer x.receiver.delay.Store(0)
	began := time.Now()
	for range slowEvents {
		if err := x.announceFor(ctx, x.orgs[0]); err != nil {
			return 0, err
		}
	}
	if _, err := x.arrived(ctx, slowEvents); err != nil {
		return 0, err
	}
	perSecond = slowEvents / time.Since(began).Seconds()
	return perSecond, x.clear(ctx)
}

// subscribe creates a webhook of each org, with secrets sealed by the worker's keyset.
func (x *exchange) subscribe(ctx context.Context, orgs []id.ID) error {
	home := filepath.Join(x.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	box, err := secret.Create(filepath.Join(home, "keyset.json"))
	if err != nil {
		return err
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: x.postgres.URL, Role: postgres.App, Name: "bench"})
	if err != nil {
		return err
	}
	defer db.Close()
	service := &webhooks.Service{Box: box, Policy: outbound.Policy{AllowPrivate: true}}
	for _, org := range orgs {
		if err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
			_, _, err := service.Create(ctx, tx,
				webhooks.New{URL: x.receiver.url, Events: []string{"contact.created"}, Enabled: true})
			return err
		}); err != nil {
			return err
		}
	}
	_, err = x.admin.Exec(ctx, "ANALYZE")
	return err
}

// publish opens a pool of the API's size and an enqueuer for announcing.
func (x *exchange) publish(ctx context.Context, log *slog.Logger) (end func(), err error) {
	client, err := redisx.Open(x.redis.URL, redisx.Request)
	if err != nil {
		return nil, err
	}
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: client, Log: log})
	pushing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var pushed sync.WaitGroup
	pushed.Go(func() { _ = pusher.Run(pushing) })
	x.db, err = postgres.Open(ctx,
		postgres.Options{URL: x.postgres.URL, Role: postgres.App, Name: "bench", AfterCommit: pusher.AfterCommit})
	return func() {
		if x.db != nil {
			x.db.Close()
		}
		stop()
		pushed.Wait()
		_ = client.Close()
	}, err
}

// announce commits an event of the next org.
func (x *exchange) announce(ctx context.Context) error {
	return x.announceFor(ctx, x.orgs[int(x.turn.Add(1))%len(x.orgs)])
}

func (x *exchange) announceFor(ctx context.Context, org id.ID) error {
	now := wire.Now()
	c := events.Contact{
		ID: id.New(), Email: "ada@acme.example", FirstName: "Ada", LastName: "Lovelace", Stage: "lead",
		Tag: []string{"trial", "newsletter"}, Segment: []string{},
		Attributes: map[string]any{"seats": 3, "plan": "pro"},
		Score:      events.ContactScore{Confidence: "prior", ModelVersion: "1"}, CreatedAt: now, UpdatedAt: now,
	}
	return x.db.Tx(ctx, org, func(tx *postgres.Tx) error {
		return events.Announce(ctx, tx, events.ContactCreated{Contact: c})
	})
}

// floods measures the floor and the service in turns: a number of POSTs by a bare client, and as many events from their
// acceptance until the last one's attempt is committed.
func (x *exchange) floods(ctx context.Context) error {
	body, err := x.sample(ctx)
	if err != nil {
		return err
	}
	var bare, ours, drained, p50, p99, cost []float64
	for round := range hookRounds + 1 {
		floor, err := x.floor(ctx, body)
		if err != nil {
			return err
		}
		f, err := x.flood(ctx)
		if err != nil {
			return err
		}
		if round == 0 { // warms up
			continue
		}
		bare, ours, drained, cost = append(bare, floor), append(ours, f.perSecond),
			append(drained, f.perSecond/floor), append(cost, f.cpu.Seconds()*1e3/deluge)
		p50, p99 = append(p50, f.took[0].Seconds()*1e3), append(p99, f.took[1].Seconds()*1e3)
		fmt.Printf("round %d: bare client %.0f/s; accepted to delivered %.0f/s; CPU per delivery %s\n", round, floor,
			f.perSecond, f.cpu.of(deluge))
	}
	fmt.Printf("\n%d events of %d orgs, %d publishers, %d calls at once, %d-byte bodies (medians [quartiles])\n",
		deluge, subscribers, publishers, inFlight, len(body))
	fmt.Printf("bare client's POSTs per second: %s\naccepted to delivered per second: %s\nof the bare client: "+
		"%s\nCPU per delivery, all processes but this one, ms: %s\n",
		spreadOf(bare), spreadOf(ours), spreadOf(drained), spreadOf(cost))
	fmt.Printf("under that load, commit to POST, ms: p50 %s, p99 %s\n", spreadOf(p50), spreadOf(p99))
	rate := spreadOf(ours)
	verdict(os.Stdout, "at least 1,500 accepted and delivered per second", rate.mid >= 1500, rate.String())
	return nil
}

type flooded struct {
	perSecond float64
	took      [2]time.Duration // p50 and p99 from commit to POST
	cpu       usage
}

func (x *exchange) flood(ctx context.Context) (f flooded, err error) {
	x.receiver.reset()
	before := x.usage(ctx)
	began := time.Now()
	var left atomic.Int64
	left.Store(deluge)
	errs := make([]error, publishers)
	var all sync.WaitGroup
	for w := range publishers {
		all.Go(func() {
			for left.Add(-1) >= 0 && errs[w] == nil {
				errs[w] = x.announce(ctx)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return f, err
	}
	took, err := x.arrived(ctx, deluge)
	if err != nil {
		return f, err
	}
	f.perSecond = deluge / time.Since(began).Seconds()
	f.took = [2]time.Duration{quantile(took, .5), quantile(took, .99)}
	f.cpu = x.usage(ctx).minus(before)
	return f, x.clear(ctx)
}

// arrived waits until n events have reached the receiver and their attempts are committed, and returns the latency of
// each, sorted.
func (x *exchange) arrived(ctx context.Context, n int) ([]time.Duration, error) {
	if err := x.receiver.await(ctx, n); err != nil {
		return nil, err
	}
	for {
		var durable int
		if err := x.admin.QueryRow(ctx,
			"SELECT count(*) FROM webhook_delivery WHERE status = 'delivered' AND last_status = 200").
			Scan(&durable); err != nil {
			return nil, err
		}
		if durable == n {
			return x.receiver.took(), nil
		}
		if durable > n {
			return nil, fmt.Errorf("%d attempts of %d events", durable, n)
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, fmt.Errorf("%d of %d attempts are durable: %w", durable, n, err)
		}
	}
}

func (x *exchange) clear(ctx context.Context) error {
	_, err := x.admin.Exec(ctx, "TRUNCATE webhook_attempt, webhook_delivery, event")
	return err
}

// floor measures the bare client: the standard library's, with persistent connections and no recording.
func (x *exchange) floor(ctx context.Context, body []byte) (float64, error) {
	x.receiver.reset()
	transport := &http.Transport{MaxIdleConnsPerHost: inFlight}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var left atomic.Int64
	left.Store(deluge)
	errs := make([]error, inFlight)
	began := time.Now()
	var all sync.WaitGroup
	for w := range inFlight {
		all.Go(func() {
			for left.Add(-1) >= 0 && errs[w] == nil {
				errs[w] = postOnce(ctx, client, x.receiver.url, body)
			}
		})
	}
	all.Wait()
	return deluge / time.Since(began).Seconds(), errors.Join(errs...)
}

func postOnce(ctx context.Context, client *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

// sample sends one event and returns the received body.
func (x *exchange) sample(ctx context.Context) ([]byte, error) {
	x.receiver.reset()
	if err := x.announce(ctx); err != nil {
		return nil, err
	}
	if _, err := x.arrived(ctx, 1); err != nil {
		return nil, err
	}
	return x.receiver.last(), x.clear(ctx)
}

// trickle measures a steady 50 events a second.
func (x *exchange) trickle(ctx context.Context) error {
	const rate, length = 50, 12 * time.Second
	x.receiver.reset()
	before := x.usage(ctx)
	sent, err := open(ctx, rate, length, 8, func(int, int) error { return x.announce(ctx) })
	if err != nil {
		return err
	}
	took, err := x.arrived(ctx, len(sent))
	if err != nil {
		return err
	}
	used := x.usage(ctx).minus(before)
	percentiles("commit to POST at 50 per second", took)
	fmt.Printf("CPU per delivery at 50 per second, idle polling included: %s\n", used.of(len(took)))
	p50, p99 := quantile(took, .5), quantile(took, .99)
	verdict(os.Stdout, "p50 at most 40 ms and p99 at most 200 ms at 50 per second",
		p50 <= 40*time.Millisecond && p99 <= 200*time.Millisecond, short(p50)+" and "+short(p99))
	return nil
}
