package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

func TestASearchOfAllOrgsTakesAThousandthOfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		calls := 0
		find := queue.Rarely(func(context.Context) ([]id.ID, error) {
			calls++
			time.Sleep(took) //nolint:forbidigo // the bubble's clock
			return nil, nil
		})
		after := func(d time.Duration) int {
			time.Sleep(d) //nolint:forbidigo // the bubble's clock
			if _, err := find(t.Context()); err != nil {
				t.Fatal(err)
			}
			return calls
		}
		for _, c := range []struct {
			wait, takes time.Duration
			calls       int
		}{
			{0, 0, 0},
			{59 * time.Second, 0, 0},
			{time.Second, 0, 1},
			{59 * time.Second, 0, 1},
			{time.Second, time.Second, 2},
			{999 * time.Second, 0, 2},
			{time.Second, 0, 3},
		} {
			took = c.takes
			if n := after(c.wait); n != c.calls {
				t.Errorf("%d searches after another %s, want %d", n, c.wait, c.calls)
			}
		}
	})
}
