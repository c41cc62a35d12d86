package deals

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// lockPipelines locks all pipelines of the org, including archived ones, and returns the number of live ones.
func lockPipelines(ctx context.Context, tx *postgres.Tx) (live int, err error) {
	all, err := pipelines.Select(ctx, tx, true, "true")
	for _, p := range all {
		if p.Value.ArchivedAt == nil {
			live++
		}
	}
	return live, err
}

// GetPipeline returns one pipeline of the org. An archived pipeline is returned only with archivedToo. If there is no
// such pipeline, the error is a not_found fault.
func GetPipeline(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (PipelineRow, error) {
	return pipelines.Get(ctx, tx, i, archivedToo)
}

// CreatePipeline creates a pipeline from p, with five default stages if p has none. An invalid p is a validation fault,
// a 101st pipeline a conflict.
func CreatePipeline(ctx context.Context, tx *postgres.Tx, p *PipelinePatch) (PipelineRow, error) {
	live, err := lockPipelines(ctx, tx)
	if err != nil {
		return PipelineRow{}, err
	}
	if live >= maxPipelines {
		return PipelineRow{}, fault.New(fault.Conflict, "An organization has at most 100 pipelines.")
	}
	now := wire.Now()
	made := Pipeline{ID: id.New(), Stages: defaultStages(), CreatedAt: now, UpdatedAt: now}
	if !p.Name.Set {
		return PipelineRow{}, fault.Invalid("name", "required", "This field is required.")
	}
	was := made
	if err := p.apply(&was, &made); err != nil {
		return PipelineRow{}, err
	}
	if made.Default {
		clearDefault(tx)
	}
	tx.Queue(
		`INSERT INTO pipeline (org_id, id, name, is_default, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)`,
		tx.Org(), made.ID, made.Name, made.Default, now)
	keepStages(tx, &made)
	return PipelineRow{Value: made, Edit: 1}, nil
}

// UpdatePipeline applies p to the live pipeline i. Removing a stage that has deals, including archived ones, or
// changing its kind is the fault in_use.
func UpdatePipeline(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match,
	p *PipelinePatch,
) (PipelineChange, error) {
	if _, err := lockPipelines(ctx, tx); err != nil {
		return PipelineChange{}, err
	}
	ch, err := pipelines.Update(ctx, tx, i, match, p.apply)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	v := &ch.Value
	if v.Default && !ch.Before.Default {
		clearDefault(tx)
	}
	tx.Queue(
		`UPDATE pipeline SET name = $3, is_default = $4, updated_at = $5, edit = edit + 1 WHERE org_id = $1
			AND id = $2`, tx.Org(), v.ID, v.Name, v.Default, v.UpdatedAt)
	if _, moved := ch.Previous["stages"]; !moved {
		return ch, nil
	}
	for _, s := range ch.Before.Stages {
		if slices.ContainsFunc(v.Stages, func(kept PipelineStage) bool { return kept.ID == s.ID }) {
			continue
		}
		err := definitions.CheckUnused(ctx, tx, definitions.Name{Kind: definitions.Pipeline, ID: s.ID.String()})
		if err != nil {
			return PipelineChange{}, err
		}
	}
	keepStages(tx, v)
	if err := tx.Flush(ctx); err != nil {
		if postgres.Violates(err, "deal_stage_kind") {
			return PipelineChange{},
				fault.New(fault.InUse,
					"A stage that has deals can neither be taken away nor become of another kind. Move its deals "+
						"first; archived ones count.").Because(err)
		}
		return PipelineChange{}, fmt.Errorf("write stages: %w", err)
	}
	return ch, nil
}

// clearDefault queues that no pipeline is the default. The caller must set a new default.
func clearDefault(tx *postgres.Tx) {
	tx.Queue(
		`UPDATE pipeline SET is_default = false, updated_at = $2, edit = edit + 1 WHERE org_id = $1 AND is_default`,
		tx.Org(), wire.Now())
}

// keepStages queues the replacement of the stored stages by p's.
func keepStages(tx *postgres.Tx, p *Pipeline) {
	var (
		ids         = make([]id.ID, len(p.Stages))
		names       = make([]string, len(p.Stages))
		kinds       = make([]string, len(p.Stages))
		probability = make([]int, len(p.Stages))
	)
	for i, s := range p.Stages {
		ids[i], names[i], kinds[i], probability[i] = s.ID, s.Name, s.Kind, s.Probability
	}
	tx.Queue(`DELETE FROM pipeline_stage WHERE org_id = $1 AND pipeline_id = $2 AND id <> ALL ($3::uuid[])`, tx.Org(),
		p.ID, ids)
	tx.Queue(`INSERT INTO pipeline_stage (org_id, id, pipeline_id, place, name, kind, probability)
		SELECT $1, i, $2, place - 1, name, kind, chance FROM unnest($3::uuid[], $4::text[], $5::text[], $6::int[])
		WITH ORDINALITY AS sent (i, name, kind, chance, place)
		ON CONFLICT (org_id, id) DO UPDATE SET place = excluded.place, name = excluded.name, kind = excluded.kind,
		probability = excluded.probability`,
		tx.Org(), p.ID, ids, names, kinds, probability)
}

// ArchivePipeline hides a pipeline. The default pipeline is a conflict, and a pipeline with live deals the
// fault in_use, which lists the first ones.
func ArchivePipeline(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (PipelineChange, error) {
	if _, err := lockPipelines(ctx, tx); err != nil {
		return PipelineChange{}, err
	}
	ch, err := pipelines.Archive(ctx, tx, i, match)
	if err != nil || !ch.Changed() {
		return ch, err
	}
	if ch.Value.Default {
		return PipelineChange{},
			fault.New(fault.Conflict, "The default pipeline cannot be archived. Make another one the default first.")
	}
	rows, err := tx.Query(ctx, `SELECT 'deal', id::text, name FROM deal WHERE org_id = $1 AND pipeline_id = $2
		AND archived_at IS NULL ORDER BY id LIMIT 10`, tx.Org(), i)
	if err != nil {
		return PipelineChange{}, fmt.Errorf("look up deals: %w", err)
	}
	busy, err := pgx.CollectRows(rows, pgx.RowToStructByPos[definitions.Use])
	if err != nil {
		return PipelineChange{}, fmt.Errorf("look up deals: %w", err)
	}
	if len(busy) > 0 {
		return PipelineChange{}, definitions.InUse("The pipeline has deals. Move or archive them first.", busy)
	}
	return ch, definitions.CheckUnused(ctx, tx, definitions.Name{Kind: definitions.Pipeline, ID: i.String()})
}

// RestorePipeline undoes ArchivePipeline.
func RestorePipeline(ctx context.Context, tx *postgres.Tx, i id.ID) (PipelineChange, error) {
	live, err := lockPipelines(ctx, tx)
	if err != nil {
		return PipelineChange{}, err
	}
	ch, _, err := pipelines.Restore(ctx, tx, i)
	if err == nil && ch.Changed() && live >= maxPipelines {
		return PipelineChange{}, fault.New(fault.Conflict, "An organization has at most 100 pipelines.")
	}
	return ch, err
}

// pipelineOrder is the order of creation.
var pipelineOrder = record.Order[Pipeline]{Column: "created_at", Type: "timestamptz", Key: func(p *Pipeline) string {
	return p.CreatedAt.UTC().Format(time.RFC3339Nano)
}}

// ListPipelines returns at most limit pipelines, live or archived, oldest first, starting after a position, or at the
// beginning if after is nil.
func ListPipelines(ctx context.Context, tx *postgres.Tx, archived bool, after *record.Position,
	limit int,
) ([]PipelineRow, error) {
	return pipelines.List(ctx, tx, record.Where(tx.Org(), archived), pipelineOrder, after, limit)
}

// PipelinePosition returns the position of a pipeline in the list.
func PipelinePosition(r *PipelineRow) record.Position {
	return pipelineOrder.Position(&r.Value, r.Value.ID)
}

// CountPipelines returns the number of live or archived pipelines.
func CountPipelines(ctx context.Context, tx *postgres.Tx, archived bool) (int64, error) {
	return pipelines.Count(ctx, tx, record.Where(tx.Org(), archived))
}

// lockInto returns the live pipelines that deals may move to, each with a shared lock against archiving: the
// pipelines with the ids, the pipelines of the stages, and the default pipeline.
func lockInto(ctx context.Context, tx *postgres.Tx, ids, stages []id.ID) (all map[id.ID]*Pipeline, standard *Pipeline,
	err error,
) {
	rows, err := tx.Query(ctx,
		"SELECT edit, "+pipelines.Columns+
			` FROM pipeline WHERE org_id = $1 AND archived_at IS NULL AND (is_default OR id = ANY ($2::uuid[])
		OR id IN (SELECT pipeline_id FROM pipeline_stage WHERE org_id = $1 AND id = ANY ($3::uuid[])))
		ORDER BY id FOR SHARE OF pipeline`, tx.Org(), ids, stages)
	if err != nil {
		return nil, nil, fmt.Errorf("read pipelines: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p *Pipeline, err error) {
		p = &Pipeline{}
		var edit int
		return p, row.Scan(append([]any{&edit}, pipelines.Scan(p)...)...)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read pipelines: %w", err)
	}
	all = map[id.ID]*Pipeline{}
	for _, p := range found {
		all[p.ID] = p
		if p.Default {
			standard = p
		}
	}
	return all, standard, nil
}
