package aisweep

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/ai"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Job has the dependencies of the work.
type Job struct {
	App, System *postgres.DB
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// atOnce is how many reservations one transaction charges.
const atOnce = 200

// Work sweeps one org after another. A repeated run finds nothing to charge.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var orgs []id.ID
	if err := j.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
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
