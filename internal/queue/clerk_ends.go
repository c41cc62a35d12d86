package queue

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// endSQL stands before ends that share a transaction. None of them may make the others wait: what somebody has
// locked for longer than a moment is ended by itself. Orgs take turns in it, so nothing is put off to its commit,
// where another org's turn would be.
const endSQL = byKeySQL + onceSQL + ", set_config('lock_timeout', '200ms', true)"

// end is Finish of a run that is done and whose effects are shared. Whatever kept the shared transaction from
// ending it, the run ends by itself; where that transaction was committed after all, the fence refuses.
func (c *Clerk) end(ctx context.Context, run *Claimed, v Verdict) error {
	a := &asked{claim: run, verdict: v, shared: run.shared, answer: make(chan error, 1)}
	if taken, err := c.ask(ctx, c.ends, a); err == nil && taken && a.ok {
		return nil
	}
	return c.ledger.Finish(ctx, run, v)
}

// endAll is T8 of many, with their effects, in one transaction. First of all are the fences: the rows of those that
// still hold their jobs go, and stay locked. Then their effects, and nobody else's, are written. Each org's
// statements run under its own row policies.
func (c *Clerk) endAll(ctx context.Context, load []*asked) error {
	byOwner := make(map[id.ID]*asked, len(load))
	var orgs [][]*asked // load is sorted by org
	for i, a := range load {
		byOwner[*a.claim.owner] = a
		if i == 0 || a.claim.Org != load[i-1].claim.Org {
			orgs = append(orgs, nil)
		}
		orgs[len(orgs)-1] = append(orgs[len(orgs)-1], a)
	}
	held := make(map[id.ID]bool, len(load))
	err := c.ledger.App.Tx(ctx, load[0].claim.Org, func(tx *postgres.Tx) error {
		tx.Queue(endSQL)
		tx.Queue("SET CONSTRAINTS ALL IMMEDIATE")
		for _, asks := range orgs {
			var done fenced
			for _, a := range asks {
				done.add(a.claim)
			}
			tx.Turn(asks[0].claim.Org)
			tx.Queue(doneAllSQL, done.orgs, done.ids, done.owners, done.attempts).Query(func(rows pgx.Rows) error {
				var owner id.ID
				_, err := pgx.ForEachRow(rows, []any{&owner}, func() error { held[owner] = true; return nil })
				return err
			})
		}
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		for _, asks := range orgs {
			var parts []part
			for _, a := range asks {
				if held[*a.claim.owner] && byOwner[*a.claim.owner] == a { // the last of those who asked for one run
					parts = append(parts, a.shared...)
				}
			}
			if len(parts) == 0 {
				continue
			}
			tx.Turn(asks[0].claim.Org)
			if err := write(tx, parts); err != nil {
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
