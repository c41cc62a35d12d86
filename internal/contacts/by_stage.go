package contacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The best contacts of a stage are the everyday question of a CRM, and stages and scores correlate: a walk in the order
// of scores may pass a whole org before it meets the stage. contact_score has the stage, too, and an index with both.

// maxStagesByIndex is the maximum number of stages whose lists are merged.
const maxStagesByIndex = 20

// stages returns the stages of which every contact of f has one, or nil if f names none.
func (f *Filter) stages() []string {
	if len(f.Stages) > 0 {
		return f.Stages
	}
	for _, part := range f.parts() {
		field, op, value, ok := part.Term()
		if !ok || field != "stage" {
			continue
		}
		switch value := value.(type) {
		case string:
			if op == filter.Eq {
				return []string{value}
			}
		case []string:
			if op == filter.In {
				return value
			}
		}
	}
	return nil
}

// scoresHaveStages reports whether each score row of the org has its stage.
func scoresHaveStages(ctx context.Context, tx *postgres.Tx) (all bool, err error) {
	tx.Queue(planning)
	err = tx.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM contact_score WHERE org_id = $1 AND stage IS NULL)`,
		[]any{tx.Org()}, &all)
	if err != nil {
		return false, fmt.Errorf("check stages of scores: %w", err)
	}
	return all, nil
}

// byStages returns the page of f in an order of scores: the page of each stage from the index, merged.
func byStages(org id.ID, f *Filter, s Sort, after *Position, limit int, stages []string) (*query, string, error) {
	var (
		q     *query
		args  []any
		pages []string
	)
	stages = slices.Compact(slices.Sorted(slices.Values(stages)))
	for _, stage := range stages {
		q = build(org, f, s, false, args...)
		q.and("s.stage = " + q.arg(stage))
		if err := q.begin(s, after); err != nil {
			return nil, "", err
		}
		d := s.direction()
		pages = append(pages, "(SELECT "+q.sortKey+" AS at, c.id\n"+q.from.String()+"\nWHERE "+q.where.String()+
			"\nORDER BY "+q.sortKey+d+", "+q.sortID+d+" LIMIT "+q.arg(limit)+")")
		args = q.args[1:]
	}
	return q, q.late(s, strings.Join(pages, "\nUNION ALL\n"), "true", limit), nil
}

// fillStages fills at most n score rows of tx's org that have no stage, and returns how many it filled.
func fillStages(ctx context.Context, tx *postgres.Tx, n int) (int64, error) {
	tx.Queue(byKeys)
	return tx.Exec(ctx, `
		WITH unfilled AS (
			SELECT contact_id FROM contact_score WHERE org_id = $1 AND stage IS NULL LIMIT $2
			FOR NO KEY UPDATE SKIP LOCKED
		)
		UPDATE contact_score s SET stage = c.stage
		FROM unfilled u CROSS JOIN LATERAL (SELECT stage FROM contact WHERE org_id = $1 AND id = u.contact_id LIMIT 1) c
		WHERE s.org_id = $1 AND s.contact_id = u.contact_id`, tx.Org(), n)
}

// FillStages fills the score rows that were written before they had a stage, in steps that lock few of them, until none
// is left or ctx ends. The system role finds the orgs, and sees no contact.
func FillStages(ctx context.Context, system, app *postgres.DB) error {
	const step = 2000
	for ctx.Err() == nil {
		var org id.ID
		err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
			tx.Queue(byKeys)
			return tx.QueryRow(ctx, `SELECT org_id FROM contact_score WHERE stage IS NULL LIMIT 1`, nil, &org)
		})
		if postgres.None(err) {
			return nil
		}
		filled := int64(0)
		if err == nil {
			err = app.Tx(ctx, org, func(tx *postgres.Tx) (err error) {
				filled, err = fillStages(ctx, tx, step)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("fill stages of scores: %w", err)
		}
		if filled == 0 { // others hold the rows: the next sweep takes them
			return nil
		}
	}
	return nil
}
