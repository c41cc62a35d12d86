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

// stagesOf returns the stages of which a condition requires one, or nil.
func stagesOf(part *filter.Filter) []string {
	field, op, value, ok := part.Term()
	if !ok || field != "stage" {
		return nil
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

	return nil
}

// holdStages makes the scores of a stage the source of a list in an order of scores, if one stage is a condition. If
// the only condition is one of several stages, it returns them.
func (p *page) holdStages(ctx context.Context, tx *postgres.Tx) ([]string, error) {
	if p.sort != Highest && p.sort != Lowest {
		return nil, nil
	}

	for i, part := range p.rest {
		stages := stagesOf(part)
		if len(stages) == 0 || len(stages) > 1 && (len(p.rest) > 1 || len(stages) > maxStagesByIndex) {
			continue
		}
		if all, err := scoresHaveStages(ctx, tx); err != nil || !all {
			return nil, err
		}
		if len(stages) > 1 {
			return stages, nil
		}
		p.source.where = func(q *query) string { return "o.stage = " + q.arg(stages[0]) }
		p.rest = slices.Concat(p.rest[:i], p.rest[i+1:])
		return nil, nil
	}

	return nil, nil
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

// byStages returns the page of contacts in one of the stages: the page of each stage from the index, merged.
func (p *page) byStages(stages []string) (*query, string, error) {
	q := newQuery(p.org, p.f)
	var pages []string
	for _, stage := range slices.Compact(slices.Sorted(slices.Values(stages))) {
		p.source.where = func(q *query) string { return "o.stage = " + q.arg(stage) }
		keys, err := p.sourceKeys(q, nil, p.limit)
		if err != nil {
			return nil, "", err
		}
		pages = append(pages, "("+keys+")")
	}
	q.sortKey = "u.at"
	q.sortID = "u.id"
	return q, q.rowsOf(p.sort, "SELECT u.at, u.id FROM ("+strings.Join(pages, "\nUNION ALL\n")+") AS u"+
		q.orderLimit(p.sort, p.limit)), nil
}

// fillStages fills at most n score rows of tx's org that have no stage, and returns how many it filled.
func fillStages(ctx context.Context, tx *postgres.Tx, n int) (int64, error) {
	ByKeys(tx)
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
			ByKeys(tx)
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
