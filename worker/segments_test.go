package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/segmentsync"
	"github.com/funnelwork/funnelwork/worker"
)

// syncing is the role of a worker that keeps segments current.
const syncing = "worker that keeps segments"

// keepSegments runs a worker with this one kind and small runs, so that a kill can hit every step.
func keepSegments(ctx context.Context, db string, system *postgres.DB, client, requests redis.UniversalClient) error {
	log := slog.New(slog.DiscardHandler)
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{Redis: requests, Log: log})
	pushing, stop := context.WithCancel(ctx)
	var pushes sync.WaitGroup
	pushes.Go(func() { _ = pusher.Run(pushing) })
	defer pushes.Wait()
	defer stop()
	app, err := postgres.Open(ctx,
		postgres.Options{URL: db, Role: postgres.App, MaxConns: 6, AfterCommit: pusher.AfterCommit})
	if err != nil {
		return err
	}
	defer app.Close()
	job := segmentsync.Job{Pace: segments.Pace{Marks: 20, Changes: 10, Piece: 10, For: 5 * time.Millisecond}}
	return worker.New(worker.Options{
		App: app, System: system, Redis: client, Log: log, Concurrency: 2, Handlers: []queue.Handler{job.Handler()},
		Watches: []func(context.Context) error{segmentsync.Watch(app, system)},
	}).Run(ctx)
}

// crm is a house with an org that has contacts.
type crm struct{ *house }

func openCRM(t *testing.T) crm {
	t.Helper()
	h := crm{open(t)}
	h.exec(`INSERT INTO org (id, name) VALUES ($1, 'Shop')`, h.org)
	return h
}

func (c crm) tx(fn func(ctx context.Context, tx *postgres.Tx) error) {
	c.t.Helper()
	if err := c.db.App.Tx(c.t.Context(), c.org, func(tx *postgres.Tx) error {
		return fn(c.t.Context(), tx)
	}); err != nil {
		c.t.Fatal(err)
	}
}

func flat(*contacts.Contact) (float64, events.ContactScore) {
	return 10, events.ContactScore{Probability: 0.1, Confidence: "prior", ModelVersion: "test-1"}
}

func (c crm) create(n int) (row contacts.Row) {
	c.t.Helper()
	c.tx(func(_ context.Context, tx *postgres.Tx) (err error) {
		row, err = contacts.Create(tx,
			&contacts.Patch{
				Email: wire.Some(fmt.Sprintf("p%d@acme.example", n)), FirstName: wire.Some("A"),
				LastName: wire.Some("B"),
			}, flat)
		return err
	})
	return row
}

func (c crm) stage(i id.ID, stage string) {
	c.t.Helper()
	c.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := contacts.Update(ctx, tx, i, nil, &contacts.Patch{Stage: wire.Some(stage)}, flat)
		return err
	})
}

// customers makes a segment of the customers.
func (c crm) customers() {
	c.t.Helper()
	c.tx(func(ctx context.Context, tx *postgres.Tx) error {
		_, err := segments.Create(ctx, tx,
			segments.New{Name: "Customers", Filter: []byte(`{"field":"stage","op":"eq","value":"customer"}`)})
		return err
	})
}

// crowd makes n contacts in one transaction.
func (c crm) crowd(n int) (ids []id.ID) {
	c.t.Helper()
	rows := make([]contacts.Upsert, n)
	for i := range rows {
		rows[i].Patch = contacts.Patch{
			Email:     wire.Some(fmt.Sprintf("c%d@acme.example", i)),
			FirstName: wire.Some("A"), LastName: wire.Some("B"),
		}
	}
	c.tx(func(ctx context.Context, tx *postgres.Tx) error {
		out, _, _, err := contacts.Batch{Rate: flat}.Upsert(ctx, tx, rows)
		for _, o := range out {
			ids = append(ids, o.ID)
		}
		return err
	})
	return ids
}

func TestAWorkerKeepsMembersRight(t *testing.T) {
	t.Parallel()
	h := openCRM(t)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended, client, requests := make(chan error, 1), h.client(redisx.Worker), h.client(redisx.Request)
	go func() { ended <- keepSegments(ctx, h.db.URL, h.db.System, client, requests) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	ada := h.create(1)
	h.customers()
	h.until(giveUpAfter, "ready", func() bool {
		return h.count(`SELECT count(*) FROM segment WHERE status = 'ready'`) == 1
	})
	for n := range 6 {
		stage, members := "customer", 1
		if n%2 == 1 {
			stage, members = "lead", 0
		}
		h.stage(ada.ID, stage)
		h.until(giveUpAfter, stage, func() bool { return h.count(`SELECT count(*) FROM segment_member`) == members })
	}
	h.until(giveUpAfter, "every step told", func() bool {
		return h.count(`SELECT count(*) FROM event WHERE type LIKE 'segment.%'`) == 6
	})
}

// Workers are killed by SIGKILL again and again, during a build and the syncs after it. Each time another worker takes
// over.
func TestKilledWorkersLeaveNoMemberOutAndTellNothingTwice(t *testing.T) {
	t.Parallel()
	h := openCRM(t)
	const people = 120
	ids := h.crowd(people)
	h.customers()
	kill := func(progress string) {
		t.Helper()
		w, was := h.process(syncing), h.count(progress)
		h.until(giveUpAfter, "progress", func() bool { return h.count(progress) != was })
		if err := w.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.Wait()
	}
	kill(`SELECT coalesce(extract(epoch FROM max(built_at)) * 1000000, 0)::bigint FROM segment`)
	last := h.process(syncing)
	h.until(giveUpAfter, "ready", func() bool {
		return h.count(`SELECT count(*) FROM segment WHERE status = 'ready'`) == 1
	})
	if err := last.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = last.Wait()
	// Each process has contacts of its own to add: without any, it would make no progress to be killed at.
	for _, some := range [][]id.ID{ids[:people/4], ids[people/4 : people/2]} {
		for _, c := range some {
			h.stage(c, "customer")
		}
		kill(`SELECT count(*) FROM segment_member`)
	}
	h.process(syncing)
	h.until(giveUpAfter, "all marks are taken", func() bool {
		return h.count(`SELECT count(*) FROM segment_mark`) == 0
	})
	for what, c := range map[string]struct {
		sql  string
		want int
	}{
		"members": {`SELECT count(*) FROM segment_member m JOIN contact c ON c.org_id = m.org_id
			AND c.id = m.contact_id WHERE c.stage = 'customer'`, people / 2},
		"others": {`SELECT count(*) FROM segment_member m JOIN contact c ON c.org_id = m.org_id
			AND c.id = m.contact_id WHERE c.stage <> 'customer'`, 0},
		"entered": {`SELECT count(*) FROM event WHERE type = 'segment.entered'`, people / 2},
		"contacts that were": {
			`SELECT count(DISTINCT data -> 'object' ->> 'contact_id') FROM event WHERE type = 'segment.entered'`,
			people / 2,
		},
		"left":      {`SELECT count(*) FROM event WHERE type = 'segment.left'`, 0},
		"dead jobs": {`SELECT count(*) FROM job WHERE state = 'dead'`, 0},
	} {
		if got := h.count(c.sql); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}
