package e2e_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The transaction stands for a psql that somebody has left open.
func TestTheFeedGoesOnWhileATransactionOfSomebodyElseIsOpen(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.worker()
	org := id.New()
	p.exec(`BEGIN`)
	p.exec(`SELECT pg_current_xact_id()`)
	const announced = 3
	p.announce(org, announced, false)
	p.within(patience, "the feed has the events", func() bool {
		var page []*events.Stored
		if err := p.db.App.ReadTx(context.WithoutCancel(t.Context()), org, func(tx *postgres.Tx) (err error) {
			page, err = events.Feed(t.Context(), tx, 0, nil, 100)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return len(page) == announced
	})
	p.exec(`COMMIT`)
}
