package postgres

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
)

// In runs fn in the same transaction under the policies of another org, for the few acts that concern two: an agency
// and its client. What was queued before is sent before, and what fn queues is sent before In returns. Deferred triggers
// of either run under the org that their rows are of.
func (tx *Tx) In(ctx context.Context, org id.ID, fn func() error) error {
	home := tx.org
	if home == org {
		return fn()
	}
	if !tx.view && (tx.begun || len(tx.pending) > 0) {
		tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
	}
	if err := tx.Flush(ctx); err != nil {
		return err
	}
	tx.move(org)
	defer func() { tx.org = home }()
	if err := fn(); err != nil {
		if !tx.view && tx.begun {
			tx.Queue(orgSQL, home.String()) // for a caller who goes on all the same
		}
		return err
	}
	if !tx.view {
		tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
		tx.Queue(orgSQL, home.String())
		tx.Queue("SET CONSTRAINTS ALL DEFERRED")
	}
	return tx.Flush(ctx)
}

// Turn makes what is queued from here on that of another org, under whose row policies it runs, and awaits nothing.
// It is for the platform's own statements that are alike for many orgs. Say it before the first statement of each
// org, the transaction's own too, and SET CONSTRAINTS ALL IMMEDIATE before all of them.
func (tx *Tx) Turn(org id.ID) {
	tx.org = org
	tx.Queue(orgSQL, org.String())
}

const (
	orgSQL = "SELECT set_config('app.org_id', $1, true)"
	// pooledSQL also sets what a session of our own has from its start.
	pooledSQL = "SELECT set_config('app.org_id', $1, true), set_config('jit', 'off', true)"
)

// move makes the statements from here on those of org. In a View each statement says its org itself.
func (tx *Tx) move(org id.ID) {
	tx.org = org
	if !tx.view && tx.begun {
		tx.Queue(orgSQL, org.String())
	}
}
