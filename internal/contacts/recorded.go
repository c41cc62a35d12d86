package contacts

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// RecordScores records the scores that contacts were made with, as the scoring job does of each. A contact that is new
// has no history that the job could refine its score from, so whoever makes many may do this in place of asking for it.
func RecordScores(tx *postgres.Tx, made []Change) {
	if len(made) == 0 {
		return
	}
	n := len(made)
	ids, at, score, probability, version := make([]id.ID, n), make([]time.Time, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range made {
		c := &made[i]
		ids[i], at[i], score[i], probability[i], version[i] = c.ID, c.UpdatedAt.Time, c.LeadScore, c.Contact.Score.Probability, c.Contact.Score.ModelVersion
	}
	tx.Queue(`INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
		SELECT $1, u.* FROM unnest($2::uuid[], $3::timestamptz[], $4::float8[], $5::float8[], $6::text[]) AS u`, tx.Org(), ids, at, score, probability, version)
}
