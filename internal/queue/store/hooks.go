package store

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Hooks maps the names and aliases of kinds to their hooks. Kinds without a hook are absent.
type Hooks map[string]queue.Hook

// HooksOf returns hooks by kind.
func HooksOf(hooks ...queue.Hook) Hooks {
	out := make(Hooks, len(hooks))
	for _, h := range hooks {
		if out[h.Kind] = h; h.Alias != "" {
			out[h.Alias] = h
		}
	}
	return out
}

// Changed is a job that changed without a run.
type Changed struct {
	Org  id.ID
	Kind string
	Args json.RawMessage
}

// RunStopped calls the Stopped hooks of jobs in tx. tx is a transaction of the System role, and the hooks must be its
// last statements, because RunStopped switches it to the App role.
func (h Hooks) RunStopped(ctx context.Context, tx *postgres.Tx, jobs []Changed) error {
	return h.runHooks(ctx, tx, func(h queue.Hook) hookFunc { return h.Stopped }, jobs)
}

// RunRevived calls the Revived hooks of jobs in tx, as RunStopped does.
func (h Hooks) RunRevived(ctx context.Context, tx *postgres.Tx, jobs []Changed) error {
	return h.runHooks(ctx, tx, func(h queue.Hook) hookFunc { return h.Revived }, jobs)
}

// hookFunc is a function of a hook.
type hookFunc = func(context.Context, *postgres.Tx, []json.RawMessage) error

// asApp switches a transaction of the System role, which has no rights to most tenant tables, to the App role. asSystem
// is for the jobs of many orgs.
const (
	asApp    = "SET LOCAL ROLE " + postgres.App
	asSystem = "SET LOCAL ROLE " + postgres.System
)

// runHooks calls the function that which selects. Jobs of one org and kind are passed together. Orgs are processed in
// the order of their ids, so that two operators cannot deadlock.
func (h Hooks) runHooks(ctx context.Context, tx *postgres.Tx, which func(queue.Hook) hookFunc, jobs []Changed) error {
	type group struct {
		org  id.ID
		kind string
	}
	args := make(map[group][]json.RawMessage)
	for _, j := range jobs {
		if which(h[j.Kind]) != nil {
			g := group{j.Org, h[j.Kind].Kind}
			args[g] = append(args[g], j.Args)
		}
	}
	if len(args) == 0 {
		return nil
	}
	groups := slices.SortedFunc(maps.Keys(args), func(a, b group) int {
		return cmp.Or(slices.Compare(a.org[:], b.org[:]), strings.Compare(a.kind, b.kind))
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
