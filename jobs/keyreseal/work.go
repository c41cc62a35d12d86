package keyreseal

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// stragglers is the wait for processes that still seal with an older key.
const stragglers = 5 * time.Second

// Job is what the work needs.
type Job struct {
	Resealer keyring.Resealer
	Log      *slog.Logger
}

// Handler ties the job to its kind.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work passes over all sealings, and waits without spending a try while somebody seals with an older key: what that one
// left is found by the next pass.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	settled, err := j.Resealer.Settled(ctx)
	if err != nil {
		return err
	}
	anew, shut, err := j.Resealer.Pass(ctx)
	j.Log.InfoContext(ctx, "sealings made anew", "rows", anew, "unreadable", shut, "settled", settled)
	switch {
	case err != nil:
		return err
	case !settled:
		return queue.Snooze(stragglers)
	case shut > 0:
		return fmt.Errorf("%d sealings cannot be opened: the keyset lacks their key, or they are damaged", shut)
	}
	return nil
}
