package queue

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Hook updates the rows that depend on a future run of a job when the job changes without a run: an operator archives,
// drops or redrives it, or it becomes dead. Its functions run in the transaction that changes the job, under the row
// policies of the job's org.
type Hook struct {
	Kind  string
	Alias string // of the kind; see Options
	// Stopped is called with the arguments of jobs that will not run again: they became dead, or were deleted before
	// they were done. It is also called when a dead job is dropped, so it must be idempotent.
	Stopped func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
	// Revived is called with the arguments of jobs that an operator made due now, dead or not.
	Revived func(ctx context.Context, tx *postgres.Tx, args []json.RawMessage) error
}

// Hook returns the kind's hook. Either function may be nil.
func (k Kind[A]) Hook(stopped, revived func(ctx context.Context, tx *postgres.Tx, args []A) error) Hook {
	return Hook{Kind: k.name, Alias: k.opt.Alias, Stopped: decoded(stopped), Revived: decoded(revived)}
}

// decoded calls fn with the arguments that can be decoded. A job with other arguments has never been able to run, so no
// row depends on it.
func decoded[A any](fn func(context.Context, *postgres.Tx, []A) error) func(context.Context, *postgres.Tx,
	[]json.RawMessage) error {
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

// Hooks maps the names and aliases of kinds to their hooks. Kinds without a hook are absent.
type Hooks map[string]Hook

// HooksOf returns hooks by kind.
func HooksOf(hooks ...Hook) Hooks {
	out := make(Hooks, len(hooks))
	for _, h := range hooks {
		if out[h.Kind] = h; h.Alias != "" {
			out[h.Alias] = h
		}
	}
	return out
}

// changed is a job that changed without a run.
type changed struct {
	org  id.ID
	kind string
	args json.RawMessage
}

// stopped and revived select a function of a hook.
func stopped(h Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error { return h.Stopped }

func revived(h Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error { return h.Revived }

// asApp switches a transaction of the System role, which has no rights to most tenant tables, to the App role.
const asApp = "SET LOCAL ROLE " + postgres.App

// run calls the hooks of jobs in tx. tx is a transaction of the System role, and the hooks must be its last statements,
// because run switches it to the App role. Jobs of one org and kind are passed together. Orgs are processed in the
// order of their ids, so that two operators cannot deadlock.
func (h Hooks) run(ctx context.Context, tx *postgres.Tx,
	which func(Hook) func(context.Context, *postgres.Tx, []json.RawMessage) error, jobs []changed,
) error {
	type group struct {
		org  id.ID
		kind string
	}
	args := make(map[group][]json.RawMessage)
	for _, j := range jobs {
		if which(h[j.kind]) != nil {
			g := group{j.org, h[j.kind].Kind}
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

// Hooked reports whether a hook must be called when c will not run again.
func (l *Store) Hooked(c *Claimed) bool { return !c.unhooked && l.Hooks[c.Kind].Stopped != nil }

// SkipHook makes Finish and Settle skip the kind's hook. It is for a run with a failing hook.
func (c *Claimed) SkipHook() { c.unhooked = true }
