package broadcastprepare

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Handler returns the kind's handler.
func Handler(s *broadcasts.Service) queue.Handler {
	return Kind.HandleTx(func(ctx context.Context, tx *postgres.Tx, run *queue.Run[Args]) error {
		next, err := s.Step(ctx, tx, run.Args.Broadcast, run.Args.Run, run.Args.Idle)
		if err != nil || !next.More {
			return err
		}
		args := run.Args
		args.Idle = next.Idle
		var how []queue.Adding
		switch {
		case next.In > 0:
			how = append(how, queue.In(next.In))
		case next.At.After(time.Now()):
			how = append(how, queue.At(next.At))
		}
		return Kind.Add(ctx, tx, args, how...)
	})
}

// Hook pauses broadcasts whose job is dead or was dropped; a person may resume them.
func Hook() queue.Hook {
	return Kind.Hook(func(ctx context.Context, tx *postgres.Tx, all []Args) error {
		for _, a := range all {
			if err := broadcasts.Stopped(ctx, tx, a.Broadcast, a.Run); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
