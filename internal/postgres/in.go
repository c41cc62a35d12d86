package postgres

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
)

// In runs fn in the same transaction under the policies of another org. It is for the few actions on two orgs: an
// agency and its client. Statements queued before In are sent before it, and statements that fn queues are sent before
// In returns. Deferred triggers run under the org of their rows.
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

	tx.switchOrg(org)
	defer func() { tx.org = home }()
	if err := fn(); err != nil {
		if tx.isWhole() && tx.begun {
			tx.Queue(orgSQL, home.String()) // for a caller that continues after the error
		}
		return err
	}
	switch {
	case !tx.view:
		tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
		tx.Queue(orgSQL, home.String())
		tx.Queue("SET CONSTRAINTS ALL DEFERRED")
	case tx.snapshot:
		tx.Queue(orgSQL, home.String())
	}

	return tx.Flush(ctx)
}

// Turn switches the following queued statements to another org and its row policies, without a round trip. It is for
// the platform's own statements that are the same for many orgs. It must be called before the first statement of each
// org, including the transaction's own, and SET CONSTRAINTS ALL IMMEDIATE must precede all of them.
func (tx *Tx) Turn(org id.ID) {
	tx.org = org
	tx.Queue(orgSQL, org.String())
}

const (
	orgSQL = "SELECT set_config('app.org_id', $1, true)"
	// writerSQL also registers the transaction as one that may write events, before it gets its id: migration 0132.
	writerSQL = orgSQL + ", set_config('app.writer', 'on', true), " +
		"pg_advisory_xact_lock_shared(hashtext('funnelwork.events'), 1)"
	// pooled is what our own sessions set at their start.
	pooled = ", set_config('jit', 'off', true)"
)

// switchOrg switches the following statements to org. In a ReadTx each statement sets its org itself.
func (tx *Tx) switchOrg(org id.ID) {
	tx.org = org
	if tx.isWhole() && tx.begun {
		tx.Queue(orgSQL, org.String())
	}
}
