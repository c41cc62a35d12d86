// Package aisweep charges AI tokens that were reserved by a request whose process died: nobody knows what was used, so the estimate is.
package aisweep

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the job is the platform's own.
type Args struct{}

// Kind is asked for by the timetable.
var Kind = queue.Define[Args]("ai.sweep", queue.Options{Lane: queue.Critical, MaxAttempts: 3, Timeout: time.Minute})

// Job sweeps.
type Job struct {
	App, System *postgres.DB
}

// Handler is the kind with its work.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// atOnce is how many reservations one transaction sweeps.
const atOnce = 200

// Work sweeps org by org. Run again it finds nothing.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var orgs []id.ID
	if err := j.System.View(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		orgs, err = ai.Lost(ctx, tx)
		return err
	}); err != nil {
		return err
	}
	for _, org := range orgs {
		for n := atOnce; n == atOnce; {
			if err := j.App.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
				n, err = ai.Sweep(ctx, tx, atOnce)
				return err
			}); err != nil {
				return fmt.Errorf("sweep reservations: %w", err)
			}
		}
	}
	return nil
}
