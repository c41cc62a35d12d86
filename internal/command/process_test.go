package command

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
)

// The ops listener must last until a drain is over, so that the drain can be watched.
func TestTheLastTasksOutliveTheOthers(t *testing.T) {
	t.Parallel()
	p := (&settings{}).newProcess("test", slog.New(slog.DiscardHandler))
	asked, stop := context.WithCancel(t.Context())
	seen := make(chan context.Context, 1)
	p.last = append(p.last, func(ctx context.Context) error {
		seen <- ctx
		<-ctx.Done()
		return nil
	})
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		watching := <-seen
		stop()
		<-ctx.Done()
		for !p.ending.Load() && watching.Err() == nil { // reported while this still drains
			runtime.Gosched()
		}
		if watching.Err() != nil {
			t.Error("the last task was ended while another one was draining")
		}
		return nil
	})
	if err := p.run(asked); err != nil {
		t.Error(err)
	}
}

func TestALastTaskThatFailsEndsTheOthers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	p := (&settings{}).newProcess("test", slog.New(slog.DiscardHandler))
	p.last = append(p.last, func(context.Context) error { return broken })
	p.tasks = append(p.tasks, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
	if err := p.run(t.Context()); !errors.Is(err, broken) {
		t.Error(err)
	}
}
