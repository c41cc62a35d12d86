package dispatch_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

type none struct{}

var kind = queue.Define[none]("test.kind", queue.Options{MaxAttempts: 5, Lane: queue.Critical})

// desk is the API process's side of the queue: a database with a CommitEnqueuer.
type desk struct {
	app    *postgres.DB
	pusher *dispatch.CommitEnqueuer
	redis  redis.UniversalClient
	reg    *prometheus.Registry
	url    string
}

func open(t *testing.T, redisURL string) *desk {
	t.Helper()
	client, err := redisx.Open(redisURL, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	d := &desk{redis: client, reg: prometheus.NewRegistry(), url: testkit.DB(t).URL}
	d.pusher = dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{
		Redis: client, Log: testkit.Log(t),
		Metrics: dispatch.NewMetrics(d.reg),
	})
	d.app, err = postgres.Open(t.Context(),
		postgres.Options{URL: d.url, Role: postgres.App, AfterCommit: d.pusher.AfterCommit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.app.Close)
	return d
}

// run starts the CommitEnqueuer. stop ends it and waits.
func (d *desk) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = d.pusher.Run(ctx)
	}()
	return func() {
		cancel()
		<-over
	}
}

func (d *desk) add(t *testing.T, n int) {
	t.Helper()
	err := d.app.Tx(t.Context(), id.New(), func(tx *postgres.Tx) error {
		for range n {
			if err := kind.Add(t.Context(), tx, none{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pushes returns the counters by result.
func (d *desk) pushes(t *testing.T) map[string]int {
	t.Helper()
	families, err := d.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "funnelwork_queue_pushes_total" && m.GetCounter().GetValue() > 0 {
				out[m.GetLabel()[0].GetValue()] = int(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

func TestCommittedJobsAreTasksWithTheProtocolsOptions(t *testing.T) {
	t.Parallel()
	d := open(t, testkit.Redis(t))
	for range 3 {
		d.add(t, 20)
	}
	d.run(t)() // waiting jobs are pushed at the end
	// A push that takes more than 25 ms counts as failed even if Redis executed it.
	p := d.pushes(t)
	if p["ok"] == 0 || p["ok"]+p["failed"] != 60 {
		t.Errorf("%v, want 60 pushes", p)
	}
	tasks, err := asynq.NewInspectorFromRedisClient(d.redis).ListPendingTasks("critical", asynq.PageSize(100))
	if err != nil || len(tasks) < p["ok"] {
		t.Fatalf("%d tasks of %d, %v", len(tasks), p["ok"], err)
	}
	for _, task := range tasks {
		payload, err := dispatch.ReadTask(task.Payload)
		if err != nil {
			t.Fatal(err)
		}
		got := []any{task.Type, task.ID, task.MaxRetry, task.Timeout, task.Retention}
		want := []any{"test.kind", payload.ID.String() + ":0", 5, 24 * time.Hour, time.Duration(0)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestARolledBackJobIsNotPushed(t *testing.T) {
	t.Parallel()
	d := open(t, testkit.Redis(t))
	_ = d.app.Tx(t.Context(), id.New(), func(tx *postgres.Tx) error {
		if err := kind.Add(t.Context(), tx, none{}); err != nil {
			return err
		}
		return context.Canceled
	})
	d.run(t)()
	if diff := cmp.Diff(map[string]int{}, d.pushes(t)); diff != "" {
		t.Error(diff)
	}
}

func TestASecondOpenJobWithTheSameKeyIsANoOp(t *testing.T) {
	t.Parallel()
	d := open(t, testkit.Redis(t))
	org := id.New()
	for range 2 {
		if err := d.app.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			return kind.Add(t.Context(), tx, none{}, queue.Dedupe("same"))
		}); err != nil {
			t.Fatal(err)
		}
	}
	d.run(t)()
	if diff := cmp.Diff(map[string]int{"ok": 1}, d.pushes(t)); diff != "" {
		t.Error(diff)
	}
}

func TestWritesCommitWhileRedisIsDownOrHangs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		away func(*testkit.RedisServer)
		back func(*testkit.RedisServer)
	}{
		{"down", (*testkit.RedisServer).Stop, (*testkit.RedisServer).Start},
		{"hung", (*testkit.RedisServer).Hang, (*testkit.RedisServer).Continue},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testkit.RealRedis(t)
			d := open(t, server.URL)
			stop := d.run(t)
			defer stop()
			c.away(server)
			handled := func() int {
				p := d.pushes(t)
				return p["failed"] + p["dropped"]
			}
			for n := range 10 { // one push each
				d.add(t, 1)
				until(t, func() bool { return handled() == n+1 })
			}
			if got := d.pushes(t); got["ok"] != 0 || got["failed"] < 3 || got["dropped"] < 1 {
				t.Errorf("pushes %v, want 3 that fail, then the breaker drops", got)
			}
			c.back(server)
			until(t, func() bool {
				d.add(t, 1)
				return d.pushes(t)["ok"] > 0
			})
		})
	}
}

// until waits for cond for at most ten seconds.
func until(t *testing.T, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("not within a minute")
		}
	}
}

func TestAFullPusherDropsAndNeverBlocks(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	d := open(t, server.URL)
	server.Hang()
	defer server.Continue()
	notes := make([]any, 9000)
	for i := range notes {
		notes[i] = queue.Ref{ID: id.New(), Kind: "test.kind", Lane: queue.Default, MaxAttempts: 1}
	}
	start := time.Now()
	d.pusher.AfterCommit(t.Context(), append(notes, "a note of somebody else"))
	// The first batches have left the queue when the last jobs come.
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	if n := d.pushes(t)["dropped"]; n < 1 || n > 9000-8192 {
		t.Errorf("%d dropped, want up to %d", n, 9000-8192)
	}
	d.run(t)()
	if p := d.pushes(t); p["ok"] != 0 || p["failed"]+p["dropped"] > 9000 {
		t.Errorf("%v of 9000", p)
	}
}

func TestAPipelineTellsEachTasksFate(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	client, err := redisx.Open(server.URL, redisx.Request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	e := dispatch.NewEnqueuer(client)
	a := queue.Ref{ID: id.New(), Kind: "test.kind", Lane: queue.Default, MaxAttempts: 1}
	b, c := a, a
	b.ID, c.ID = id.New(), id.New()
	fates := func(refs ...queue.Ref) (out []bool) {
		for _, err := range e.Enqueue(t.Context(), refs...) {
			switch {
			case err == nil:
				out = append(out, true)
			case err.Error() == asynq.ErrTaskIDConflict.Error():
				out = append(out, false)
			default:
				t.Fatal(err)
			}
		}
		return out
	}
	// The server does not have the script yet, then has it, then has lost it.
	if diff := cmp.Diff([]bool{true, true}, fates(a, b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{false, true, false}, fates(a, c, b)); diff != "" {
		t.Error(diff)
	}
	if err := client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{false, false}, fates(a, c)); diff != "" {
		t.Error(diff)
	}
}
