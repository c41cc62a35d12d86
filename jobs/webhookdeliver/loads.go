package webhookdeliver

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/batch"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Limits of a shared read.
const (
	loadMost = 64 // deliveries
	loadTime = 5 * time.Second
)

// loads lets runs that begin together read their deliveries in one query. A run never waits for others to join: its
// read starts at once if none is in flight.
type loads struct {
	hooks *webhooks.Service
	db    *postgres.DB
	reads *batch.Batcher[*webhooks.Load]
}

func newLoads(hooks *webhooks.Service, db *postgres.DB) *loads {
	return &loads{hooks, db, batch.New(batch.Options[*webhooks.Load]{
		Most: loadMost, Timeout: loadTime, Send: func(ctx context.Context, all []*webhooks.Load) error {
			return hooks.LoadAll(ctx, db, all)
		},
	})}
}

// readDelivery reads one delivery. It returns nil if the delivery does not exist. A shared read that failed, maybe
// because of another delivery, is repeated alone.
func (l *loads) readDelivery(ctx context.Context, org, delivery id.ID) (*webhooks.DeliveryRequest, error) {
	mine := webhooks.Load{Org: org, Delivery: delivery}
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime) // the batch may still write to mine
	defer cancel()
	if l.reads.Do(reading, &mine) == nil {
		return mine.Request, mine.Err
	}

	var p *webhooks.DeliveryRequest
	err := l.db.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		p, err = l.hooks.Load(ctx, tx, delivery)
		return err
	})
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // there is nothing to deliver
	}

	return p, err
}
