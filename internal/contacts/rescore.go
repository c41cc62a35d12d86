package contacts

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const refreshSQL = `
UPDATE contact_score SET score = $3, probability = $4, version = $5, confidence = $6, announced = $7, scored_at = $8,
	computed = computed + (CASE WHEN score <> $3 OR probability <> $4 OR version <> $5 OR confidence <> $6 THEN 1 ELSE 0 END)
WHERE org_id = $1 AND contact_id = $2`

const recordSQL = `
INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
SELECT $1, $2, $3, $4, $5, $6
WHERE NOT EXISTS (
	SELECT FROM (SELECT score, version FROM score_history WHERE org_id = $1 AND contact_id = $2 ORDER BY recorded_at DESC LIMIT 1) AS last
	WHERE last.score = $4 AND last.version = $6)`

// Rescore is the background scoring of a live contact: it stores what rate says now, records the value if it is not
// the last one recorded, and moves the ETag's second part if it changed; updated_at stays. Previous has lead_score and
// score when they are to be announced: when moved says that the score is far enough from the one last announced.
// A contact that is gone or archived is a not_found fault.
func Rescore(ctx context.Context, tx *postgres.Tx, i id.ID, rate Rate, moved func(told, now float64) bool) (Change, error) {
	was, err := lock(ctx, tx, i, false)
	if err != nil {
		return Change{}, err
	}
	var told float64
	if err := tx.QueryRow(ctx, `SELECT announced FROM contact_score WHERE org_id = $1 AND contact_id = $2`, []any{tx.Org(), i}, &told); err != nil {
		return Change{}, err
	}
	ch := Change{Row: was, before: was.Contact}
	ch.LeadScore, ch.Contact.Score = rate(&was.Contact)
	tells := moved(told, ch.LeadScore)
	if tells {
		ch.Previous = map[string]any{"lead_score": told}
	}
	changed := ch.Contact.Score != was.Contact.Score || ch.LeadScore != was.LeadScore
	now := wire.Now()
	if changed || tells {
		if tells {
			told = ch.LeadScore
		}
		tx.Queue(refreshSQL, tx.Org(), i, ch.LeadScore, ch.Contact.Score.Probability, ch.Contact.Score.ModelVersion, ch.Contact.Score.Confidence, told, now)
	}
	if changed {
		ch.Computed++
	}
	tx.Queue(recordSQL, tx.Org(), i, now, ch.LeadScore, ch.Contact.Score.Probability, ch.Contact.Score.ModelVersion)
	return ch, nil
}
