package segmentsync_test

import (
	"context"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/segmentsync"
)

// until looks every 10 ms; a minute is far beyond what anything here takes.
func (h *house) until(what string, holds func() bool) {
	h.Helper()
	for start := time.Now(); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Since(start) > time.Minute {
			h.Fatalf("not within a minute: %s; jobs: %d, marks: %d, members: %d", what, h.one(`SELECT count(*) FROM job`), h.one(`SELECT count(*) FROM segment_mark`), h.one(`SELECT count(*) FROM segment_member`))
		}
	}
}

func TestAnOrgHasOneOpenJobAndOnlyWhileThereIsWork(t *testing.T) {
	t.Parallel()
	h := open(t)
	watch := segmentsync.Watch{App: h.db.App, System: h.db.System}
	look := func() int {
		t.Helper()
		if err := watch.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		return h.one(`SELECT count(*) FROM job WHERE kind = 'segment.sync'`)
	}
	h.create(1)
	if n := look(); n != 0 {
		t.Errorf("%d jobs without a segment", n)
	}
	h.customers()
	look()
	h.create(2)
	if n := look(); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	h.tx(func(ctx context.Context, tx *postgres.Tx) error {
		tx.Queue(`DELETE FROM job`)
		return segments.Sync(ctx, tx, segments.Usual())
	})
	if n := look(); n != 0 {
		t.Errorf("%d jobs when all is done", n)
	}
}

func TestWhatChangesWhileTheJobRunsIsTheNextJobs(t *testing.T) {
	t.Parallel()
	h := open(t)
	ada := h.create(1)
	seg := h.customers()
	watch := segmentsync.Watch{App: h.db.App, System: h.db.System}
	run := func(meanwhile func()) {
		t.Helper()
		if err := watch.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.tx(func(ctx context.Context, tx *postgres.Tx) error {
			tx.Queue(`SELECT FROM job WHERE kind = 'segment.sync' FOR UPDATE`)
			if err := segments.Sync(ctx, tx, segments.Usual()); err != nil {
				return err
			}
			if err := tx.Flush(ctx); err != nil {
				return err
			}
			meanwhile() // the job has done its work and is still there
			if err := watch.Look(ctx); err != nil {
				return err
			}
			tx.Queue(`DELETE FROM job WHERE kind = 'segment.sync'`)
			return nil
		})
	}
	run(func() { h.stage(ada.ID, "customer") })
	if n := h.one(`SELECT count(*) FROM segment_member`); n != 0 {
		t.Fatalf("%d members", n)
	}
	run(func() {})
	if n := h.one(`SELECT count(*) FROM segment_member`); n != 1 {
		t.Errorf("%d members of %s after the next run, want 1", n, seg.Key)
	}
}

func TestAWorkerKeepsMembersRight(t *testing.T) {
	t.Parallel()
	h := open(t)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	log := testkit.Log(t)
	go func() { ended <- work(ctx, h.db.URL, h.redis, log) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	ada := h.create(1)
	h.customers()
	h.until("ready", func() bool { return h.one(`SELECT count(*) FROM segment WHERE status = 'ready'`) == 1 })
	for n := range 6 {
		stage, members := "customer", 1
		if n%2 == 1 {
			stage, members = "lead", 0
		}
		h.stage(ada.ID, stage)
		h.until(stage, func() bool { return h.one(`SELECT count(*) FROM segment_member`) == members })
	}
	h.until("every step told", func() bool { return h.one(`SELECT count(*) FROM event WHERE type LIKE 'segment.%'`) == 6 })
}

// A worker dies by SIGKILL again and again, in the middle of a build and of what follows; each time another takes over.
func TestKilledWorkersLeaveNoMemberOutAndTellNothingTwice(t *testing.T) {
	t.Parallel()
	h := open(t)
	const people = 120
	ids := h.crowd(people)
	h.customers()
	kill := func(progress string) {
		t.Helper()
		w, was := h.process(), h.one(progress)
		h.until("progress", func() bool { return h.one(progress) != was })
		if err := w.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.Wait()
	}
	kill(`SELECT coalesce(extract(epoch FROM max(built_at)) * 1000000, 0)::bigint FROM segment`)
	last := h.process()
	h.until("ready", func() bool { return h.one(`SELECT count(*) FROM segment WHERE status = 'ready'`) == 1 })
	if err := last.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = last.Wait()
	for i, c := range ids {
		if i%2 == 0 {
			h.stage(c, "customer")
		}
	}
	for range 2 {
		kill(`SELECT count(*) FROM segment_member`)
	}
	h.process()
	h.until("all marks are taken", func() bool { return h.one(`SELECT count(*) FROM segment_mark`) == 0 })
	for what, c := range map[string]struct {
		sql  string
		want int
	}{
		"members":            {`SELECT count(*) FROM segment_member m JOIN contact c ON c.org_id = m.org_id AND c.id = m.contact_id WHERE c.stage = 'customer'`, people / 2},
		"others":             {`SELECT count(*) FROM segment_member m JOIN contact c ON c.org_id = m.org_id AND c.id = m.contact_id WHERE c.stage <> 'customer'`, 0},
		"entered":            {`SELECT count(*) FROM event WHERE type = 'segment.entered'`, people / 2},
		"contacts that were": {`SELECT count(DISTINCT data -> 'object' ->> 'contact_id') FROM event WHERE type = 'segment.entered'`, people / 2},
		"left":               {`SELECT count(*) FROM event WHERE type = 'segment.left'`, 0},
		"dead jobs":          {`SELECT count(*) FROM job WHERE state = 'dead'`, 0},
	} {
		if got := h.one(c.sql); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}
