package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/bulk"
	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// followStages takes a change of the org's stages along. A stage in whose place another one stands is renamed: in the
// definitions that name it at once, in its contacts by a job. One that is taken away must not be named by a definition.
func followStages(ctx context.Context, tx *postgres.Tx, was, now *org.Org) error {
	before, after := stagesOf(was), stagesOf(now)
	if slices.Equal(before, after) {
		return nil
	}
	contacts.KeepStages(tx, after)
	if at := replacedStage(before, after); at >= 0 {
		return renameStage(ctx, tx, before[at], after[at])
	}
	for _, stage := range before {
		if slices.ContainsFunc(after, func(s string) bool { return compare.Equal(s, stage) }) {
			continue
		}
		err := definitions.CheckUnused(ctx, tx, definitions.Name{Kind: definitions.Stage, Name: stage})
		if err != nil {
			return err
		}
	}
	return nil
}

func stagesOf(o *org.Org) []string {
	stages, _ := o.Settings["stages"].([]string) // org.Read and org.Update return no other type
	return stages
}

// replacedStage returns the place of the one stage that differs, or -1 if another number of places differs or the stage
// has only moved.
func replacedStage(before, after []string) int {
	if len(before) != len(after) {
		return -1
	}
	at := -1
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

func renameStage(ctx context.Context, tx *postgres.Tx, from, to string) error {
	if err := contacts.RenameStage(ctx, tx, from, to); err != nil {
		return err
	}
	if err := definitions.Rename(ctx, tx, definitions.Name{Kind: definitions.Stage, Name: from}, to); err != nil {
		return err
	}
	where, err := json.Marshal(map[string]any{"field": "stage", "op": "eq", "value": to})
	if err != nil {
		return fmt.Errorf("encode filter: %w", err)
	}
	patch := contacts.Patch{Stage: wire.Some(to)}
	_, err = startBulk(ctx, tx, bulk.OfPatch(&patch), where, false)
	return err
}
