package emailsend

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// untilReply returns a context for a dialogue with a server, and a mark that calls given. The context ends with ctx,
// but not by the loss of the lease once the mark was given: what follows is one reply, which no other run can get. The
// transport bounds the wait for it.
func untilReply(ctx context.Context, given func(context.Context) error) (context.Context, func(context.Context) error,
	context.CancelFunc,
) {
	var marked atomic.Bool
	dialogue, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !marked.Load() || !errors.Is(context.Cause(ctx), queue.ErrLeaseLost) {
			cancel()
		}
	})
	mark := func(ctx context.Context) error {
		err := given(ctx)
		marked.Store(err == nil)
		return err
	}
	return dialogue, mark, func() {
		stop()
		cancel()
	}
}
