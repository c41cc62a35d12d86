package feed

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// ExplainPick returns the JSON plan of assigning quota slots to one org's jobs of a kind without a concurrency key. It
// rolls back.
func ExplainPick(ctx context.Context, system *postgres.DB, mode string, org id.ID, kind string,
	quota int,
) (plan []byte, err error) {
	return explain(ctx, system, mode, pickSQL, string(queue.Default), []id.ID{org}, []id.ID{{}}, []string{kind},
		[]int{quota}, store.First)
}

// ExplainRound returns the plan of reading all orgs' waiting groups.
func ExplainRound(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, groupsSQL, string(queue.Default), feedGroups, queue.Slots, id.ID{}, id.ID{}, "")
}

// ExplainWaiting returns the plan of finding the lanes with waiting jobs.
func ExplainWaiting(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, waitingSQL, queue.LaneNames())
}

func explain(ctx context.Context, system *postgres.DB, mode, sql string, args ...any) (plan []byte, err error) {
	undo := errors.New("undo")
	err = system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(store.InOrderSQL + store.AsyncCommitSQL)
		tx.Queue("SELECT set_config('plan_cache_mode', $1, true), set_config('app.feeds', 'true', true)", mode)
		if err := tx.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, args, &plan); err != nil {
			return err
		}
		return undo
	})
	if errors.Is(err, undo) {
		err = nil
	}
	return plan, err
}

// ExplainHeld returns the plan of counting the slots of all orgs.
func ExplainHeld(ctx context.Context, system *postgres.DB) (plan []byte, err error) {
	return explain(ctx, system, "auto", heldSQL, string(queue.Default))
}
