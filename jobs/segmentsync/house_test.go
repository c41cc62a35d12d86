package segmentsync_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/segmentsync"
	"github.com/funnelwork/funnelwork/worker"
)

// part is set where the test binary is a worker of its own, to be killed.
const part = "FUNNELWORK_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(part) == "" {
		os.Exit(m.Run())
	}
	if err := work(context.Background(), os.Getenv("DB"), os.Getenv("REDIS"), slog.New(slog.DiscardHandler)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work is a worker with the one kind, whose runs are small: a kill meets them everywhere.
func work(ctx context.Context, db, redis string, log *slog.Logger) error {
	client, err := redisx.Open(redis, redisx.Worker)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	requests, err := redisx.Open(redis, redisx.Request)
	if err != nil {
		return err
	}
	defer func() { _ = requests.Close() }()
	pusher := queue.NewPusher(queue.PusherOptions{Redis: requests, Log: log})
	pushing, stop := context.WithCancel(ctx)
	pushed := make(chan error, 1)
	go func() { pushed <- pusher.Run(pushing) }()
	defer func() { stop(); <-pushed }()
	app, err := postgres.Open(ctx, postgres.Options{URL: db, Role: postgres.App, MaxConns: 6, AfterCommit: pusher.AfterCommit})
	if err != nil {
		return err
	}
	defer app.Close()
	system, err := postgres.Open(ctx, postgres.Options{URL: db, Role: postgres.System, MaxConns: 6})
	if err != nil {
		return err
	}
	defer system.Close()
	job := segmentsync.Job{Pace: segments.Pace{Marks: 20, Changes: 10, Piece: 10, For: 5 * time.Millisecond}}
	return worker.New(worker.Options{
		App: app, System: system, Redis: client, Log: log, Concurrency: 2, Handlers: []queue.Handler{job.Handler()},
		Watches: []func(context.Context) error{segmentsync.Watch{App: app, System: system}.Look},
	}).Run(ctx)
}

// house is an org with a Redis beside its database.
type house struct {
	*testing.T
	db    *testkit.Database
	redis string
	org   id.ID
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, db: testkit.DB(t), redis: testkit.Redis(t), org: id.New()}
	if err := h.db.System.Tx(t.Context(), h.org, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, h.org)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

// process starts a worker in a process of its own.
func (h *house) process() *exec.Cmd {
	h.Helper()
	self, err := os.Executable()
	if err != nil {
		h.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(h.Context()), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), part+"=1", "DB="+h.db.URL, "REDIS="+h.redis)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func (h *house) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	h.Helper()
	if err := h.db.App.Tx(h.Context(), h.org, func(tx *postgres.Tx) error { return fn(h.Context(), tx) }); err != nil {
		h.Fatal(err)
	}
}

func rate(*contacts.Contact) (float64, events.ContactScore) {
	return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
}

func (h *house) create(n int) (row contacts.Row) {
	h.Helper()
	h.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx, &contacts.Patch{Email: wire.Some(fmt.Sprintf("p%d@acme.example", n)), FirstName: wire.Some("A"), LastName: wire.Some("B")}, rate)
		return err
	})
	return row
}

func (h *house) stage(i id.ID, stage string) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Update(ctx, tx, i, nil, &contacts.Patch{Stage: wire.Some(stage)}, rate)
		return err
	})
}

// customers makes the segment of that stage.
func (h *house) customers() (row segments.Row) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) (err error) {
		row, err = segments.Create(ctx, tx, segments.New{Name: "Customers", Filter: []byte(`{"field":"stage","op":"eq","value":"customer"}`)})
		return err
	})
	return row
}

func (h *house) one(sql string) (n int) {
	h.Helper()
	h.tx(func(ctx context.Context, tx *postgres.Tx) error { return tx.QueryRow(ctx, sql, nil, &n) })
	return n
}

// crowd makes n contacts in one transaction.
func (h *house) crowd(n int) (ids []id.ID) {
	h.Helper()
	rows := make([]contacts.Upsert, n)
	for i := range rows {
		rows[i].Patch = contacts.Patch{Email: wire.Some(fmt.Sprintf("c%d@acme.example", i)), FirstName: wire.Some("A"), LastName: wire.Some("B")}
	}
	h.tx(func(ctx context.Context, tx *postgres.Tx) error {
		out, _, _, err := contacts.UpsertAll(ctx, tx, rows, rate)
		for _, o := range out {
			ids = append(ids, o.ID)
		}
		return err
	})
	return ids
}
