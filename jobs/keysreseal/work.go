package keysreseal

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// stragglers is how long to wait for processes that still seal with an older key.
const stragglers = 5 * time.Second

// Job has the dependencies of the work.
type Job struct {
	Resealer keyring.Resealer
	Log      *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes a pass over all sealed values. While a process still seals with an older key, Work snoozes without
// spending an attempt; the next pass finds the values of that process.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	settled, err := j.Resealer.Settled(ctx)
	if err != nil {
		return err
	}

	anew, shut, err := j.Resealer.Pass(ctx)
	j.Log.InfoContext(ctx, "sealed values resealed", "rows", anew, "unreadable", shut, "settled", settled)
	switch {
	case err != nil:
		return err
	case !settled:
		return queue.Snooze(stragglers)
	case shut > 0:
		return fmt.Errorf("%d sealed values cannot be opened: the keyset lacks their key, or they are damaged", shut)
	}

	return nil
}
