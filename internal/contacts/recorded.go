package contacts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// RecordScores records the scores of changes at the times of the changes. It is for history that is written afterwards:
// the first score of a contact is recorded in its row of contact_score, and later ones by Rescore and RecordChanged.
func RecordScores(tx *postgres.Tx, made []Change) {
	if len(made) == 0 {
		return
	}

	n := len(made)
	ids := make([]id.ID, n)
	at := make([]time.Time, n)
	score := make([]float64, n)
	probability := make([]float64, n)
	version := make([]string, n)
	for i := range made {
		c := &made[i]
		ids[i] = c.ID
		at[i] = c.UpdatedAt.Time
		score[i] = c.LeadScore
		probability[i] = c.Contact.Score.Probability
		version[i] = c.Contact.Score.ModelVersion
	}

	tx.Queue(`INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
		SELECT $1, u.* FROM unnest($2::uuid[], $3::timestamptz[], $4::float8[], $5::float8[], $6::text[]) AS u`,
		tx.Org(), ids, at, score, probability, version)
}

// RecordChanged records the scores of changed contacts with a changed score; their rows hold the new score already.
// Like Rescore, it returns the changes to announce.
func RecordChanged(ctx context.Context, tx *postgres.Tx, changed []Change,
	moved func(announced, now float64) bool,
) (tell []Change, err error) {
	var (
		past, far scoreRows
		version   string
		at        wire.Time
		byID      = map[id.ID]*Change{}
	)
	for i := range changed {
		ch := &changed[i]
		if ch.Contact.Score == ch.before.Score && ch.LeadScore == ch.before.LeadScore {
			continue
		}
		past.add(ch, 0, 0)
		byID[ch.ID] = ch
		version = ch.Contact.Score.ModelVersion
		at = ch.UpdatedAt
	}

	if len(byID) == 0 {
		return nil, nil
	}

	ByKeys(tx)
	rows, err := tx.Query(ctx,
		`SELECT contact_id, announced FROM contact_score WHERE org_id = $1 AND contact_id = ANY ($2::uuid[])
			ORDER BY contact_id`, tx.Org(), past.ids)
	if err != nil {
		return nil, fmt.Errorf("read announced scores: %w", err)
	}

	var (
		i         id.ID
		announced float64
	)
	if _, err := pgx.ForEachRow(rows, []any{&i, &announced}, func() error {
		if ch := byID[i]; moved(announced, ch.LeadScore) {
			far.add(ch, ch.LeadScore, 0)
			previous := map[string]any{"lead_score": announced}
			tell = append(tell, Change{Row: ch.Row, before: ch.before, Previous: previous})
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read announced scores: %w", err)
	}
	if len(far.ids) > 0 {
		tx.Queue(`UPDATE contact_score s SET announced = n.announced
			FROM unnest($2::uuid[], $3::float8[]) AS n (contact_id, announced) WHERE s.org_id = $1
			AND s.contact_id = n.contact_id`,
			tx.Org(), far.ids, far.announced)
	}
	tx.Queue(recordSQL, tx.Org(), version, at, past.ids, past.scores, past.probabilities)
	return tell, nil
}
