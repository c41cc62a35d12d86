package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// endSQL is sent before completions that share a transaction. The lock timeout keeps one locked row from delaying the
// others; that run is then completed alone.
// The join types are for the writers' statements.
const endSQL = ByKeysSQL + `, set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),
	set_config('enable_mergejoin', 'off', true), set_config('lock_timeout', '200ms', true)`

// endAll is T8 for many runs and their effects in one transaction. It checks the fences first: as the System role it
// deletes the rows of the runs that still hold their jobs, of all orgs in one statement, which also locks them. Then it
// writes the effects of exactly those runs, those of each org under its row policies. A transaction of several orgs
// switches between them, so no constraint check may be deferred to the commit, where it would run under another org's
// policies.
func (s *Store) endAll(ctx context.Context, load []*batchCall) error {
	byOwner := make(map[id.ID]*batchCall, len(load))
	var orgs [][]*batchCall // batches by org; load is sorted by org
	for i, a := range load {
		byOwner[*a.claim.Fence] = a
		if i == 0 || a.claim.Org != load[i-1].claim.Org {
			orgs = append(orgs, nil)
		}
		orgs[len(orgs)-1] = append(orgs[len(orgs)-1], a)
	}
	held := make(map[id.ID]bool, len(load))
	err := s.App.Tx(ctx, load[0].claim.Org, func(tx *postgres.Tx) error {
		tx.Queue(endSQL)
		several := len(orgs) > 1
		if several {
			tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
		}
		var done fenced
		for _, a := range load {
			done.addJob(a.claim)
		}
		tx.Queue(asSystem)
		tx.Queue(doneAllSQL, done.orgs, done.ids, done.owners, done.attempts).Query(func(rows pgx.Rows) error {
			var owner id.ID
			_, err := pgx.ForEachRow(rows, []any{&owner}, func() error {
				held[owner] = true
				return nil
			})
			return err
		})
		tx.Queue(asApp)
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		for _, asks := range orgs {
			var items []queue.EffectItem
			for _, a := range asks {
				if held[*a.claim.Fence] && byOwner[*a.claim.Fence] == a { // the last request for a run wins
					items = append(items, a.items...)
				}
			}
			if len(items) == 0 {
				continue
			}
			if several {
				tx.Turn(asks[0].claim.Org)
			}
			if err := queue.WriteItems(tx, items); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		for owner := range held {
			byOwner[owner].ok = true
		}
	}
	return err
}
