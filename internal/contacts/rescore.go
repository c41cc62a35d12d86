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

// Selects live contacts with their scores and locks both rows, so that a rescoring does not overwrite the score of a
// concurrent change. Rows are locked in the order of ids, so that concurrent rescorings cannot deadlock.
var (
	scoredWhere = ` WHERE c.org_id = $1 AND s.org_id = $1 AND c.archived_at IS NULL`

	scoredOfSQL = `SELECT ` + bareColumns + `, s.announced, g.sums ` + both +
		` LEFT JOIN LATERAL engagement(c.org_id, c.id, $3) g ON true` + scoredWhere +
		` AND c.id = ANY ($2::uuid[]) AND s.contact_id = ANY ($2::uuid[]) ORDER BY c.id FOR NO KEY UPDATE OF c, s`
	scoredAfterSQL = `SELECT ` + bareColumns + `, s.announced, s.engagement ` + both + scoredWhere +
		` AND s.contact_id > $2 ORDER BY s.contact_id LIMIT $3 FOR NO KEY UPDATE OF c, s`
)

// fadedSQL finds live contacts of all orgs with engagement that has fallen to a lower level.
const fadedSQL = `SELECT org_id, contact_id FROM contact_score WHERE NOT archived AND fades_at <= now()
	ORDER BY fades_at LIMIT $1`

const refreshSQL = `
UPDATE contact_score s SET score = n.score, probability = n.probability, version = $2, confidence = $3,
	announced = n.announced, scored_at = $4, computed = computed + n.step,
	` + keepFirst + `
FROM unnest($5::uuid[], $6::float8[], $7::float8[], $8::float8[], $9::int[]) AS n (contact_id, score, probability,
announced, step)
WHERE s.org_id = $1 AND s.contact_id = n.contact_id`

// recordSQL skips scores that equal the last recorded one of their contact, which may be the first.
const recordSQL = `
INSERT INTO score_history (org_id, contact_id, recorded_at, score, probability, version)
SELECT $1, n.contact_id, $3, n.score, n.probability, $2
FROM unnest($4::uuid[], $5::float8[], $6::float8[]) AS n (contact_id, score, probability)
JOIN contact_score s ON s.org_id = $1 AND s.contact_id = n.contact_id
LEFT JOIN LATERAL (SELECT h.score, h.version FROM score_history h WHERE h.org_id = $1
AND h.contact_id = n.contact_id ORDER BY h.recorded_at DESC LIMIT 1) AS last ON true
WHERE coalesce(last.score, s.first_score, s.score) <> n.score
OR coalesce(last.version, s.first_version, s.version) <> $2
ON CONFLICT DO NOTHING`

// Rescore is the background scoring of contacts. It scores the live contacts with rate and stores the results, records
// each score that differs from the last recorded one, and increments the second part of the ETag if the score changed.
// It does not change updated_at. It returns the changes to announce, with the lead_score that was announced last: moved
// reports whether the score is far enough from that one.
//
// It scores with the engagement of now. fades returns the time until an engagement falls to a lower level; contacts
// whose engagement has done so are returned by Faded.
func Rescore(ctx context.Context, tx *postgres.Tx, ids []id.ID, rate Scorer,
	moved func(announced, now float64) bool, fades func(engagement []float64) (time.Duration, bool),
) (tell []Change, err error) {
	ByKeys(tx)
	now := wire.Now()
	found, err := heldScores(ctx, tx, scoredOfSQL, tx.Org(), ids, now)
	if err != nil {
		return nil, err
	}

	for i := range found {
		h := &found[i]
		if h.sums == nil && h.Engagement == nil {
			continue
		}
		h.Engagement = h.sums
		var at *time.Time
		if in, ok := fades(h.sums); ok {
			at = new(now.Add(in))
		}
		tx.Queue(`UPDATE contact_score SET engagement = $3, fades_at = $4 WHERE org_id = $1 AND contact_id = $2`,
			tx.Org(), h.ID, h.sums, at)
	}

	return rescoreLocked(ctx, tx, found, rate, moved, true)
}

// Faded returns at most limit live contacts of all orgs, by org, with engagement that has fallen to a lower level since
// they were scored. system must be a connection of the system role.
func Faded(ctx context.Context, system *postgres.DB, limit int) (map[id.ID][]id.ID, error) {
	found := map[id.ID][]id.ID{}
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, fadedSQL, limit)
		if err != nil {
			return err
		}
		var org, contact id.ID
		_, err = pgx.ForEachRow(rows, []any{&org, &contact}, func() error {
			found[org] = append(found[org], contact)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find faded engagement: %w", err)
	}

	return found, nil
}

// RescoreAfter is Rescore for at most limit live contacts after an id, in the order of ids. It also returns the last id
// that it read, or the zero id if there are no more. It records only scores that are to be announced, because a new
// model changes every score slightly.
func RescoreAfter(ctx context.Context, tx *postgres.Tx, after id.ID, limit int, rate Scorer,
	moved func(announced, now float64) bool,
) (tell []Change, last id.ID, err error) {
	Planned(tx)
	found, err := heldScores(ctx, tx, scoredAfterSQL, tx.Org(), after, limit)
	if err != nil {
		return nil, id.ID{}, err
	}
	ByKeys(tx)
	if tell, err = rescoreLocked(ctx, tx, found, rate, moved, false); err != nil {
		return nil, id.ID{}, err
	}
	if len(found) == limit {
		last = found[limit-1].ID
	}
	return tell, last, nil
}

// heldScore is a locked contact, its last announced score and its engagement.
type heldScore struct {
	Row
	announced float64
	sums      []float64
}

func heldScores(ctx context.Context, tx *postgres.Tx, sql string, args ...any) ([]heldScore, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read contacts to score: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h heldScore, err error) {
		h.Row, err = scanWith(row, &h.announced, &h.sums)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("read contacts to score: %w", err)
	}
	return found, nil
}

// rescoreLocked scores locked contacts. It writes their scores with one statement and their history with another. The
// history gets all scores if all is set, else those that are to be announced.
func rescoreLocked(ctx context.Context, tx *postgres.Tx, found []heldScore, rate Scorer,
	moved func(announced, now float64) bool, all bool,
) (tell []Change, err error) {
	var (
		scores, past        scoreRows
		now                 = wire.Now()
		version, confidence string
	)
	for i := range found {
		h := &found[i]
		ch := Change{Row: h.Row, before: h.Contact}
		ch.LeadScore, ch.Contact.Score = rate(&h.Contact)
		version = ch.Contact.Score.ModelVersion
		confidence = ch.Contact.Score.Confidence
		changed := ch.Contact.Score != h.Contact.Score || ch.LeadScore != h.LeadScore
		tells := moved(h.announced, ch.LeadScore)
		announced, step := h.announced, 0
		if tells {
			announced, ch.Previous = ch.LeadScore, map[string]any{"lead_score": h.announced}
			tell = append(tell, ch)
		}
		if changed {
			step = 1
		}
		if changed || tells {
			scores.add(&ch, announced, step)
		}
		if all || tells {
			past.add(&ch, announced, step)
		}
	}

	if len(tell) > 0 {
		rows := make([]*Row, len(tell))
		for i := range tell {
			rows[i] = &tell[i].Row
		}
		if err := rereadSegments(ctx, tx, rows); err != nil {
			return nil, err
		}
	}
	if len(scores.ids) > 0 {
		tx.Queue(refreshSQL, tx.Org(), version, confidence, now, scores.ids, scores.scores, scores.probabilities,
			scores.announced, scores.steps)
	}
	if len(past.ids) > 0 {
		tx.Queue(recordSQL, tx.Org(), version, now, past.ids, past.scores, past.probabilities)
	}

	return tell, nil
}

// scoreRows holds scores as parallel columns.
type scoreRows struct {
	ids                              []id.ID
	scores, probabilities, announced []float64
	steps                            []int // increments of the ETag
}

func (s *scoreRows) add(ch *Change, announced float64, step int) {
	s.ids, s.scores, s.probabilities = append(s.ids, ch.ID), append(s.scores, ch.LeadScore),
		append(s.probabilities, ch.Contact.Score.Probability)
	s.announced, s.steps = append(s.announced, announced), append(s.steps, step)
}
