package batch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/batch"
)

// trip is one batch: how many items it had, and when it was sent.
type trip struct {
	Items int
	At    time.Duration
}

func TestAnItemAloneIsSentAtOnceAndWhatFollowsGoesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var trips []trip
		b := batch.New(batch.Options[int]{
			Interval: 3 * time.Millisecond, FlushSize: 4, Most: 6,
			Send: func(_ context.Context, items []int) error {
				trips = append(trips, trip{len(items), time.Since(began)})
				return nil
			},
		})
		add := func(n int, after time.Duration) {
			time.Sleep(after) //nolint:forbidigo // the bubble's clock
			for range n {
				b.Add(0)
			}
			synctest.Wait()
		}
		add(1, 0)                   // the first of all
		add(2, time.Millisecond)    // two that follow wait
		add(1, 1*time.Millisecond)  // and share with one that comes later
		add(4, 2*time.Millisecond)  // enough: they do not wait
		add(9, 1*time.Millisecond)  // more than one batch holds
		add(1, 20*time.Millisecond) // one after a pause
		want := []trip{
			{1, 0},
			{3, 3 * time.Millisecond},
			{4, 4 * time.Millisecond},
			{6, 5 * time.Millisecond},
			{3, 8 * time.Millisecond},
			{1, 25 * time.Millisecond},
		}
		if diff := cmp.Diff(want, trips); diff != "" {
			t.Error(diff)
		}
	})
}

func TestItemsThatComeWhileABatchIsInFlightShareTheNextAndItsError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		var sizes []int
		b := batch.New(batch.Options[string]{
			Most: 10, Queued: 3, Timeout: time.Second,
			Send: func(ctx context.Context, items []string) error {
				if sizes = append(sizes, len(items)); len(sizes) == 1 {
					time.Sleep(time.Millisecond) //nolint:forbidigo // the bubble's clock
					return ctx.Err()
				}
				if items[0] == "panics" {
					panic("a fault")
				}
				return failed
			},
		})
		results := make(chan error, 4)
		do := func(ctx context.Context, item string) {
			go func() { results <- b.Do(ctx, item) }()
			synctest.Wait()
		}
		hasty, leave := context.WithCancel(t.Context())
		do(t.Context(), "alone")
		do(hasty, "leaves")
		do(t.Context(), "second")
		do(t.Context(), "third")
		if err := b.Do(t.Context(), "too many"); !errors.Is(err, batch.ErrRefused) || b.Add("too many") {
			t.Errorf("beyond the queue: %v", err)
		}
		if sent, _ := b.TryAlone(t.Context(), "beside a batch"); sent {
			t.Error("two batches were in flight at once")
		}
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller whose context ended got %v", err)
		}
		if err := <-results; err != nil {
			t.Errorf("the first got %v", err)
		}
		for range 2 {
			if err := <-results; !errors.Is(err, failed) {
				t.Errorf("an item of the failed batch got %v", err)
			}
		}
		if diff := cmp.Diff([]int{1, 3}, sizes); diff != "" { // what the hasty caller asked for is sent all the same
			t.Error(diff)
		}
		if err := b.Do(t.Context(), "panics"); err == nil || !strings.Contains(err.Error(), "a fault") {
			t.Errorf("a panic became %v", err)
		}
	})
}

func TestCloseSendsWhatWaitsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	for _, patient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			b := batch.New(batch.Options[int]{
				Most: 1, Send: func(_ context.Context, items []int) error {
					time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
					sent += len(items)
					return nil
				},
			})
			for range 3 {
				b.Add(0)
			}
			last := make(chan error, 1)
			go func() { last <- b.Do(t.Context(), 0) }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			want := 2
			if patient {
				ctx, want = t.Context(), 4
			}
			b.Close(ctx)
			if sent != want || patient != (<-last == nil) {
				t.Errorf("patient %t: %d were sent, want %d", patient, sent, want)
			}
			if err := b.Do(t.Context(), 0); b.Add(0) || !errors.Is(err, batch.ErrRefused) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}
