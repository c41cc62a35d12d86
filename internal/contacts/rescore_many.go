package contacts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// The rows of contact_score are held, those of contact are not: whoever changes a contact meanwhile has it scored
// again. Ids are in order, so that two who rescore wait for each other in one direction only.
const scoredSQL = `
SELECT ` + bareColumns + `, s.announced ` + both + `
WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL AND s.contact_id > $2 ORDER BY s.contact_id LIMIT $3 FOR NO KEY UPDATE OF s`

const refreshManySQL = `
UPDATE contact_score s SET score = n.score, probability = n.probability, version = $2, confidence = $3,
	announced = n.announced, scored_at = $4, computed = computed + 1
FROM unnest($5::uuid[], $6::float8[], $7::float8[], $8::float8[]) AS n (contact_id, score, probability, announced)
WHERE s.org_id = $1 AND s.contact_id = n.contact_id`

const recordManySQL = `
INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
SELECT $1, contact_id, $3, score, probability, $2 FROM unnest($4::uuid[], $5::float8[], $6::float8[]) AS n (contact_id, score, probability)
ON CONFLICT DO NOTHING`

// RescoreAfter is Rescore for the next live contacts after an id, in the order of ids: at most limit of them in three statements.
// It answers those whose score moved far enough to be told, and the last id that it has seen; the zero id where there is no more.
// Only a score that moved so far is recorded in the history: a new model moves every score a little.
func RescoreAfter(ctx context.Context, tx *postgres.Tx, after id.ID, limit int, rate Rate, moved func(told, now float64) bool) (tell []Change, last id.ID, err error) {
	rows, err := tx.Query(ctx, scoredSQL, tx.Org(), after, limit)
	if err != nil {
		return nil, id.ID{}, fmt.Errorf("read contacts to score: %w", err)
	}
	type held struct {
		Row
		told float64
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h held, err error) {
		h.Row, err = scanWith(row, &h.told)
		return h, err
	})
	if err != nil {
		return nil, id.ID{}, fmt.Errorf("read contacts to score: %w", err)
	}
	var (
		now                         = wire.Now()
		version, confidence         string
		ids, farIDs                 []id.ID
		scores, chances, told       []float64
		farScores, farProbabilities []float64
	)
	for i := range found {
		h := &found[i]
		ch := Change{Row: h.Row, before: h.Contact}
		ch.LeadScore, ch.Contact.Score = rate(&h.Contact)
		version, confidence = ch.Contact.Score.ModelVersion, ch.Contact.Score.Confidence
		if ch.LeadScore == h.LeadScore && ch.Contact.Score == h.Contact.Score {
			continue
		}
		announced := h.told
		if moved(h.told, ch.LeadScore) {
			announced = ch.LeadScore
			ch.Previous = map[string]any{"lead_score": h.told}
			ch.Computed++
			tell = append(tell, ch)
			farIDs, farScores, farProbabilities = append(farIDs, h.ID), append(farScores, ch.LeadScore), append(farProbabilities, ch.Contact.Score.Probability)
		}
		ids, scores = append(ids, h.ID), append(scores, ch.LeadScore)
		chances, told = append(chances, ch.Contact.Score.Probability), append(told, announced)
	}
	if len(ids) > 0 {
		tx.Queue(refreshManySQL, tx.Org(), version, confidence, now, ids, scores, chances, told)
	}
	if len(farIDs) > 0 {
		tx.Queue(recordManySQL, tx.Org(), version, now, farIDs, farScores, farProbabilities)
	}
	if len(found) == limit {
		last = found[limit-1].ID
	}
	return tell, last, nil
}
