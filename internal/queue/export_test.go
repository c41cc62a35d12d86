package queue

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ReadThrough makes o read through only n of the newest dead jobs before it asks the index of texts.
func ReadThrough(o *Operator, n int) { o.recent = n }

// ExplainPick answers, as JSON, how Postgres gives quota slots to one org's jobs of a kind without a line. It undoes them.
func ExplainPick(ctx context.Context, system *postgres.DB, mode string, org id.ID, kind string, quota int) (plan []byte, err error) {
	return explain(ctx, system, mode, pickSQL, string(Default), []id.ID{org}, []id.ID{{}}, []string{kind}, []int{quota}, First)
}

// ExplainRefill answers how Postgres looks at what waits of one org.
func ExplainRefill(ctx context.Context, system *postgres.DB, mode string, org id.ID) (plan []byte, err error) {
	return explain(ctx, system, mode, groupsOfSQL, string(Default), feedGroups, Slots, []id.ID{org})
}

// ExplainRound answers how Postgres looks at what waits of all orgs.
func ExplainRound(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, groupsSQL, string(Default), feedGroups, Slots, id.ID{}, id.ID{}, "")
}

// ExplainWaiting answers how Postgres finds the lanes in which something waits.
func ExplainWaiting(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, waitingSQL, laneNames())
}

func explain(ctx context.Context, system *postgres.DB, mode, sql string, args ...any) (plan []byte, err error) {
	undo := errors.New("undo")
	err = system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(lazySQL)
		tx.Queue("SELECT set_config('plan_cache_mode', $1, true), set_config('app.feeds', 'true', true)", mode)
		if err := tx.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args, &plan); err != nil {
			return err
		}
		return undo
	})
	if errors.Is(err, undo) {
		err = nil
	}
	return plan, err
}

// ExplainHeld answers how Postgres counts the slots of all orgs.
func ExplainHeld(ctx context.Context, system *postgres.DB) (plan []byte, err error) {
	return explain(ctx, system, "auto", heldSQL, string(Default))
}

// Payload is what a task carries.
func Payload(t Task) []byte { return t.payload() }
