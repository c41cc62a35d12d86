package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// scribe writes shared effects into done: the job's id and a note. Its first call waits for the gate, so that the other
// runs form one batch.
type scribe struct {
	gate chan struct{}

	mu   sync.Mutex
	most int // most items in one call
}

type line struct {
	job  id.ID
	note string
}

func (s *scribe) Write(tx *postgres.Tx, items []any) error {
	if s.gate != nil {
		<-s.gate
	}
	s.mu.Lock()
	s.most = max(s.most, len(items))
	s.mu.Unlock()
	var jobs []id.ID
	var notes []string
	for _, i := range items {
		l, ok := i.(line)
		if !ok {
			return errors.New("no line")
		}
		jobs, notes = append(jobs, l.job), append(notes, l.note)
	}
	tx.Queue("INSERT INTO done (org_id, job, note) SELECT $1, m.job, m.note FROM unnest($2::uuid[], $3::text[]) AS "+
		"m (job, note)", tx.Org(), jobs, notes)
	return nil
}

// claimed adds and claims each jobs for each of orgs orgs. The runs share their id through s.
func (h *house) claimed(c *store.BatchCompleter, s *scribe, orgs, each int) (runs []*queue.Claimed) {
	h.t.Helper()
	for range orgs {
		h.addFor(id.New(), slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, each)...)
	}
	for _, j := range h.jobs() {
		run, err := c.Claim(h.t.Context(), j.Org, j.ID)
		if err != nil {
			h.t.Fatal(err)
		}
		run.EffectBatch(s, line{job: j.ID})
		runs = append(runs, run)
	}
	return runs
}

// endAll finishes the runs concurrently as done and returns their errors.
func endAll(t *testing.T, c *store.BatchCompleter, s *scribe, runs []*queue.Claimed) []error {
	t.Helper()
	errs := make([]error, len(runs))
	var begun, over sync.WaitGroup
	begun.Add(len(runs))
	for i, run := range runs {
		over.Go(func() {
			begun.Done()
			errs[i] = c.Finish(t.Context(), run, store.Completion{Outcome: store.Done})
		})
	}
	begun.Wait()
	if s.gate != nil {
		close(s.gate)
	}
	over.Wait()
	return errs
}

func TestRunsThatEndTogetherWriteWhatTheyShareIfTheyStillHoldTheirJobs(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	s := &scribe{gate: make(chan struct{})}
	runs := h.claimed(c, s, 3, 20)
	lost := func(i int) bool { return i%3 == 0 }
	for i, run := range runs {
		if lost(i) {
			h.exec("UPDATE job SET owner = $2 WHERE id = $1", run.ID, id.New())
		}
	}
	for _, again := range []bool{false, true} {
		if again {
			s.gate = nil
		}
		for i, err := range endAll(t, c, s, runs) {
			if refused := lost(i) || again; refused != errors.Is(err, store.ErrFenced) || !refused && err != nil {
				t.Errorf("lost %v, again %v: %v", lost(i), again, err)
			}
		}
		for i, run := range runs {
			want := 1
			if lost(i) {
				want = 0
			}
			if n := h.count("SELECT count(*) FROM done WHERE job = $1 AND org_id = $2", run.ID, run.Org); n != want {
				t.Errorf("lost %v, again %v: %d rows, want %d", lost(i), again, n, want)
			}
			if n := h.count("SELECT count(*) FROM job WHERE id = $1", run.ID); n != 1-want {
				t.Errorf("lost %v, again %v: %d jobs, want %d", lost(i), again, n, 1-want)
			}
		}
	}
	if n := h.count("SELECT count(*) FROM done"); n != 40 {
		t.Errorf("%d rows, want 40", n)
	}
	if s.most < 2 {
		t.Error("no two runs wrote together")
	}
}

func TestWhatOneRunCannotWriteKeepsNoOtherFromItsEnd(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	s := &scribe{gate: make(chan struct{})}
	runs := h.claimed(c, s, 2, 12)
	runs[5].EffectBatch(s, line{job: runs[5].ID, note: "what no text may hold: \x00"})
	runs[17].EffectBatch(s, "no line")
	for i, err := range endAll(t, c, s, runs) {
		bad := i == 5 || i == 17
		want := 1
		if bad {
			want = 0
		}
		if bad != (err != nil) || errors.Is(err, store.ErrFenced) {
			t.Errorf("run %d: %v", i, err)
		}
		if n := h.count("SELECT count(*) FROM done WHERE job = $1", runs[i].ID); n != want {
			t.Errorf("run %d: %d rows, want %d", i, n, want)
		}
		if n := h.count("SELECT count(*) FROM job WHERE id = $1 AND owner IS NOT NULL", runs[i].ID); n != 1-want {
			t.Errorf("run %d: holds %d jobs, want %d", i, n, 1-want)
		}
	}
}

func TestALockedRowHoldsUpNoEndButItsOwn(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	s := &scribe{}
	runs := h.claimed(c, s, 1, 10)
	tx, err := h.sql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM job WHERE id = $1 FOR UPDATE", runs[0].ID); err != nil {
		t.Fatal(err)
	}
	own := make(chan error, 1)
	go func() { own <- c.Finish(t.Context(), runs[0], store.Completion{Outcome: store.Done}) }()
	for _, err := range endAll(t, c, s, runs[1:9]) {
		if err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-own:
		t.Errorf("a locked row was ended: %v", err)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-own; err != nil {
		t.Errorf("after the lock: %v", err)
	}
	if err := c.Finish(t.Context(), runs[9], store.Completion{Outcome: store.Done}); err != nil {
		t.Errorf("alone: %v", err)
	}
	if n := h.count("SELECT count(DISTINCT job) FROM done"); n != 10 || h.count("SELECT count(*) FROM done") != n {
		t.Errorf("%d of 10 runs wrote, or one wrote twice", n)
	}
}

// Shared effects are written with every outcome except a release.
func TestWhatIsSharedGoesWithEveryVerdictButARelease(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	s := &scribe{}
	verdicts := []store.Completion{
		{Outcome: store.Done},
		{Outcome: store.Failed, Error: "no", In: time.Hour},
		{Outcome: store.Died, Error: "never"},
		{Outcome: store.Snoozed, In: time.Minute},
		{Outcome: store.Released},
		{Outcome: store.Done},
	}
	runs := h.claimed(c, s, 1, len(verdicts))
	runs[5].DropEffects()
	for i, v := range verdicts {
		if err := c.Finish(t.Context(), runs[i], v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		want := 1
		if v.Outcome == store.Released || i == 5 {
			want = 0
		}
		if n := h.count("SELECT count(*) FROM done WHERE job = $1", runs[i].ID); n != want {
			t.Errorf("%v: %d rows, want %d", v, n, want)
		}
	}
}
