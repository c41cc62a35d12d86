package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// completer returns a BatchCompleter.
func (h *house) completer() *store.BatchCompleter {
	h.t.Helper()
	return store.NewBatchCompleter(h.store())
}

func TestClaimsThatShareAStatementClaimEachJobOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	for range 4 {
		h.addFor(id.New(), slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 40)...)
	}
	all := h.jobs()
	var mu sync.Mutex
	got, missed := map[id.ID]int{}, 0
	var wait sync.WaitGroup
	for _, j := range slices.Concat(all, all, all) {
		wait.Go(func() {
			run, err := c.Claim(t.Context(), j.Org, j.ID)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, store.ErrMissed):
				missed++
			case err != nil:
				t.Error(err)
			case run.ID != j.ID || run.Org != j.Org || run.Kind != mark.Name() || run.Attempt != 1 ||
				run.MaxAttempts != 8:
				t.Errorf("claimed %+v of %+v", run, j)
			default:
				got[j.ID]++
			}
		})
	}
	wait.Wait()
	if len(got) != len(all) || missed != 2*len(all) {
		t.Errorf("%d of %d claimed, %d missed", len(got), len(all), missed)
	}
	for job, n := range got {
		if n != 1 {
			t.Errorf("%s claimed %d times", job, n)
		}
	}
	if _, err := c.Claim(t.Context(), id.New(), all[0].ID); !errors.Is(err, store.ErrMissed) {
		t.Errorf("another org's claim: %v", err)
	}
}

func TestClaimsThatShareAStatementCarryTheirOwnArguments(t *testing.T) {
	t.Parallel()
	type parcel struct {
		Number int     `json:"number"`
		Text   *string `json:"text,omitempty"`
	}
	kinds := []queue.Kind[parcel]{
		queue.Define[parcel]("test.parcel.tx", queue.Options{}),
		queue.Define[parcel]("test.parcel.call", queue.Options{MaxAttempts: 3, Lane: queue.Critical}),
	}
	h := open(t)
	c := h.completer()
	want := map[string]string{} // kind by args
	for n := range 64 {
		args := parcel{Number: n}
		if n%3 > 0 {
			text := strings.Repeat("é", n*n%500)
			args.Text = &text
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		kind := kinds[n%2]
		want[string(raw)] = kind.Name()
		h.addFor(id.New(), adding(kind, args))
	}
	var mu sync.Mutex
	got := map[string]string{}
	var wait sync.WaitGroup
	for _, j := range h.jobs() {
		wait.Go(func() {
			run, err := c.Claim(t.Context(), j.Org, j.ID)
			if err != nil {
				t.Errorf("claim: %v", err)
				return
			}
			var args parcel
			if err := json.Unmarshal(run.Raw, &args); err != nil {
				t.Errorf("args %q: %v", run.Raw, err)
			}
			raw, err := json.Marshal(args)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[string(raw)] = run.Kind
		})
	}
	wait.Wait()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("added, claimed:\n%s", diff)
	}
}

// A batched completion must leave the same row as a completion alone.
func TestVerdictsThatShareAStatementAreThoseThatGoAlone(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	verdicts := []store.Completion{
		{Outcome: store.Done},
		{Outcome: store.Failed, Error: "no", In: time.Hour},
		{Outcome: store.Died, Error: "never"},
		{Outcome: store.Snoozed, In: time.Minute},
		{Outcome: store.Released},
		{Outcome: store.Failed, Error: "what no text may hold: \x00", In: time.Hour},
	}
	// row is a job after a completion, with times as whole minutes from now.
	type row struct {
		State, Error      string
		Attempt           int
		Owned, Due, Keyed bool
		Run, Wake         *int
	}
	left := func(finish func(context.Context, *queue.Claimed, store.Completion) error) (out []*row, errs []bool) {
		h.exec("DELETE FROM job")
		out, errs = make([]*row, len(verdicts)), make([]bool, len(verdicts))
		for i := range verdicts {
			h.add(adding(mark, none{}, queue.Dedupe(string(rune('a'+i)))))
		}
		all := h.jobs()
		var wait sync.WaitGroup
		for i, v := range verdicts {
			run, err := h.store().Claim(t.Context(), h.org, all[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			wait.Go(func() { errs[i] = finish(t.Context(), run, v) != nil })
		}
		wait.Wait()
		for i, j := range all {
			var r row
			err := h.sql.QueryRow(t.Context(),
				`SELECT state, last_error, attempt, owner IS NOT NULL, due, dedupe_key IS NOT NULL,
				round(extract(epoch FROM run_at - now()) / 60)::int, round(extract(epoch
				FROM wake_at - now()) / 60)::int FROM job WHERE id = $1`, j.ID).
				Scan(&r.State, &r.Error, &r.Attempt, &r.Owned, &r.Due, &r.Keyed, &r.Run, &r.Wake)
			if err == nil {
				out[i] = &r
			}
		}
		return out, errs
	}
	want, wantErrs := left(h.store().Finish)
	got, gotErrs := left(c.Finish)
	if want[0] != nil {
		t.Fatalf("alone: the first job has a row: %+v", want[0])
	}
	if want[1] == nil || want[2].State != "dead" {
		t.Fatalf("alone: the second and third rows are %+v, %+v; want one, and a dead one", want[1], want[2])
	}
	if diff := cmp.Diff([]bool{false, false, false, false, false, true}, wantErrs); diff != "" {
		t.Fatalf("alone: errors (-want +got):\n%s", diff)
	}
	if !slices.Equal(gotErrs, wantErrs) {
		t.Errorf("errors %v, want %v", gotErrs, wantErrs)
	}
	for i := range want {
		if (want[i] == nil) != (got[i] == nil) {
			t.Fatalf("%v: %+v, alone %+v", verdicts[i], got[i], want[i])
		}
		if want[i] == nil {
			continue
		}
		same := func(a, b *int) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
		a, b := *want[i], *got[i]
		if !same(a.Run, b.Run) || !same(a.Wake, b.Wake) {
			t.Errorf("%v: times differ: %+v, alone %+v", verdicts[i], b, a)
		}
		a.Run, a.Wake, b.Run, b.Wake = nil, nil, nil, nil
		if a != b {
			t.Errorf("%v: %+v, alone %+v", verdicts[i], b, a)
		}
	}
}

func TestAVerdictOfARunThatLostItsJobIsRefusedAmongOthers(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 20)...)
	var wait sync.WaitGroup
	for i, j := range h.jobs() {
		run, err := c.Claim(t.Context(), h.org, j.ID)
		if err != nil {
			t.Fatal(err)
		}
		lost := i%3 == 0
		if lost {
			h.exec("UPDATE job SET owner = $2 WHERE id = $1", j.ID, id.New())
		}
		v := store.Completion{Outcome: store.Done}
		if i%2 == 0 {
			v = store.Completion{Outcome: store.Failed, Error: "no", In: time.Hour}
		}
		wait.Go(func() {
			if err := c.Finish(t.Context(), run, v); lost != errors.Is(err, store.ErrFenced) || !lost && err != nil {
				t.Errorf("lost %v: %v", lost, err)
			}
			if err := c.Finish(t.Context(), run, v); !errors.Is(err, store.ErrFenced) {
				t.Errorf("the verdict a second time: %v", err)
			}
		})
	}
	wait.Wait()
	if n := h.count("SELECT count(*) FROM job WHERE owner IS NOT NULL AND attempt = 0"); n != 7 {
		t.Errorf("%d jobs of others are as they were, want 7", n)
	}
}

func TestALockedRowHoldsUpNoClaimButItsOwn(t *testing.T) {
	t.Parallel()
	h := open(t)
	c := h.completer()
	h.add(slices.Repeat([]func(context.Context, *postgres.Tx) error{adding(mark, none{})}, 10)...)
	all := h.jobs()
	tx, err := h.sql.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM job WHERE id = $1 FOR UPDATE", all[0].ID); err != nil {
		t.Fatal(err)
	}
	own := make(chan error, 1)
	go func() {
		_, err := c.Claim(t.Context(), h.org, all[0].ID)
		own <- err
	}()
	for _, j := range all[1:9] {
		if _, err := c.Claim(t.Context(), h.org, j.ID); err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-own:
		t.Errorf("a locked row was claimed: %v", err)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-own; err != nil {
		t.Errorf("after the lock: %v", err)
	}
	if _, err := c.Claim(t.Context(), h.org, all[9].ID); err != nil {
		t.Errorf("alone: %v", err)
	}
}
