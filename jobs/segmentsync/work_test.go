package segmentsync_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/segmentsync"
)

func TestAnOrgHasOneOpenJobAndOnlyWhileThereIsWork(t *testing.T) {
	t.Parallel()
	h := open(t)
	watch := segmentsync.Watch(h.db.App, h.db.System)
	look := func() int {
		t.Helper()
		if err := watch(t.Context()); err != nil {
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
	watch := segmentsync.Watch(h.db.App, h.db.System)
	run := func(meanwhile func()) {
		t.Helper()
		if err := watch(t.Context()); err != nil {
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
			meanwhile() // the job has worked but is not deleted yet
			if err := watch(ctx); err != nil {
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
