package queue

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ReadThrough limits o's scan of the newest dead jobs before it uses the text index to n.
func ReadThrough(o *Operator, n int) { o.recent = n }

// ExplainPick returns the JSON plan of assigning quota slots to one org's jobs of a kind without a concurrency key. It
// rolls back.
func ExplainPick(ctx context.Context, system *postgres.DB, mode string, org id.ID, kind string,
	quota int,
) (plan []byte, err error) {
	return explain(ctx, system, mode, pickSQL, string(Default), []id.ID{org}, []id.ID{{}}, []string{kind},
		[]int{quota}, First)
}

// ExplainRefill returns the plan of reading one org's waiting groups.
func ExplainRefill(ctx context.Context, system *postgres.DB, mode string, org id.ID) (plan []byte, err error) {
	return explain(ctx, system, mode, groupsOfSQL, string(Default), feedGroups, Slots, []id.ID{org})
}

// ExplainRound returns the plan of reading all orgs' waiting groups.
func ExplainRound(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, groupsSQL, string(Default), feedGroups, Slots, id.ID{}, id.ID{}, "")
}

// ExplainWaiting returns the plan of finding the lanes with waiting jobs.
func ExplainWaiting(ctx context.Context, system *postgres.DB, mode string) (plan []byte, err error) {
	return explain(ctx, system, mode, waitingSQL, laneNames())
}

func explain(ctx context.Context, system *postgres.DB, mode, sql string, args ...any) (plan []byte, err error) {
	undo := errors.New("undo")
	err = system.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(asyncCommitSQL)
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

// ExplainHeld returns the plan of counting the slots of all orgs.
func ExplainHeld(ctx context.Context, system *postgres.DB) (plan []byte, err error) {
	return explain(ctx, system, "auto", heldSQL, string(Default))
}

// Payload returns the payload of a task.
func Payload(t Task) []byte { return t.payload() }

// OverlappingChecks lets n positive slot checks overlap, uses the credit after each, and returns how many jobs skipped
// a check.
func OverlappingChecks(n int) (skipped int) {
	c, of := slotCache{all: map[slotKey]*credit{}}, slotKey{org: id.New(), lane: Default}
	c.answer(of, c.begin(of, "test.many"), true) // the first one gives no credit
	checks := make([]slotCheck, n)
	for i := range checks {
		checks[i] = c.begin(of, "test.many")
	}
	for _, check := range checks {
		for c.answer(of, check, true); c.take(of, "test.many"); {
			skipped++
		}
	}
	return skipped
}

// CreditJobs is creditJobs, for tests.
const CreditJobs = creditJobs
