package queue

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Hook keeps the rows of a kind that promise a run of a job true to what becomes of the job without a run: an operator
// archives, drops or redrives it, or it is dead. Its functions run in the transaction that changes the job, under the
// row policies of the job's org.
type Hook struct {
	Kind string
	// Stopped is called with the arguments of jobs of which no further run is planned: they are dead, or deleted
	// without having been done. It is called for a dead job that is dropped, too: what it finds done it leaves.
	Stopped func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
	// Revived is called with the arguments of jobs that an operator has made due now, whether they were dead or not.
	Revived func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
}

// Hook makes the kind's hook. Either function may be nil.
func (k Kind[A]) Hook(stopped, revived func(ctx context.Context, tx *postgres.Tx, args []A) error) Hook {
	return Hook{Kind: k.name, Stopped: decoded(stopped), Revived: decoded(revived)}
}

// decoded calls fn with those of the arguments that can be decoded. A job with others has never been able to run, so
// that no row of its kind hangs on it.
func decoded[A any](fn func(context.Context, *postgres.Tx, []A) error) func(context.Context, *postgres.Tx, []json.RawMessage) error {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context, tx *postgres.Tx, raw []json.RawMessage) error {
		args := make([]A, 0, len(raw))
		for _, r := range raw {
			var a A
			if json.Unmarshal(r, &a) == nil {
				args = append(args, a)
			}
		}
		if len(args) == 0 {
			return nil
		}
		return fn(ctx, tx, args)
	}
}

// Hooks are the hooks of all kinds that have one, by kind.
type Hooks map[string]Hook

// HooksOf is hooks by kind.
func HooksOf(hooks ...Hook) Hooks {
	out := make(Hooks, len(hooks))
	for _, h := range hooks {
		out[h.Kind] = h
	}
	return out
}

// changed is a job that was changed without a run.
type changed struct {
	org  id.ID
	kind string
	args json.RawMessage
}

// stopped and revived choose the function of a hook.
func stopped(h Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error { return h.Stopped }

func revived(h Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error { return h.Revived }

// asApp is for transactions of the System role, which has no right to most tables of tenants.
const asApp = "SET LOCAL ROLE " + postgres.App

// run calls the hooks of jobs in tx, a transaction of the System role whose last statements they are: it goes on as
// the App role. Jobs of one org and kind are handed over together; orgs come in the order of their ids, so that two
// operators do not wait for each other in a circle.
func (h Hooks) run(ctx context.Context, tx *postgres.Tx, which func(Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error, jobs []changed) error {
	type group struct {
		org  id.ID
		kind string
	}
	args := make(map[group][]json.RawMessage)
	for _, j := range jobs {
		if which(h[j.kind]) != nil {
			g := group{j.org, j.kind}
			args[g] = append(args[g], j.args)
		}
	}
	if len(args) == 0 {
		return nil
	}
	groups := make([]group, 0, len(args))
	for g := range args {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int {
		if c := slices.Compare(a.org[:], b.org[:]); c != 0 {
			return c
		}
		return slices.Compare([]byte(a.kind), []byte(b.kind))
	})
	tx.Queue(asApp)
	for _, g := range groups {
		err := tx.In(ctx, g.org, func() error { return which(h[g.kind])(ctx, tx, args[g]) })
		if err != nil {
			return err
		}
	}
	return tx.Flush(ctx)
}

// Hooked reports whether the kind of c has rows to be told that no further run of c is planned.
func (l *Ledger) Hooked(c *Claimed) bool { return !c.unhooked && l.Hooks[c.Kind].Stopped != nil }

// SkipHook makes Finish and Settle leave the kind's hook out, for a run whose hook itself fails.
func (c *Claimed) SkipHook() { c.unhooked = true }
