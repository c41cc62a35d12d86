package enrolments

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

// newLimit is how many enrolments of a sequence may still begin, and when one more may.
type newLimit struct {
	left int
	at   time.Time
}

// takeNew takes at most n enrolments at their first step, as far as max_new_per_day of their sequences allows.
func (t *tick) takeNew(ctx context.Context, groups []*group, n int) ([]Enrolment, error) {
	var allowed []int64
	for _, g := range groups {
		l, err := t.newLimit(ctx, g.sequence)
		if err != nil {
			return nil, err
		}
		if l.left > 0 {
			allowed = append(allowed, g.id)
		} else {
			g.newFloor = l.at
		}
	}
	all, err := t.lockDue(ctx, allowed, first, n)
	if err != nil {
		return nil, err
	}

	fit := all[:0]
	for i := range all {
		if l := t.news[all[i].SequenceID]; l.left > 0 {
			l.left--
			fit = append(fit, all[i])
		}
	}

	return fit, nil
}

// newLimit returns how many enrolments of a sequence may begin now.
func (t *tick) newLimit(ctx context.Context, sequence id.ID) (*newLimit, error) {
	if l, ok := t.news[sequence]; ok {
		return l, nil
	}
	l := &newLimit{left: mailsAtOnce}
	t.news[sequence] = l
	v, err := t.activeVersion(ctx, sequence)
	if err != nil || v == nil || v.MaxNewPerDay == nil {
		return l, err
	}

	var began int
	var oldest *time.Time
	err = t.tx.QueryRow(ctx, `SELECT count(*), min(started_at) FROM (SELECT started_at FROM enrolment WHERE org_id = $1
		AND sequence_id = $2 AND started_at > $3 ORDER BY started_at DESC LIMIT $4) AS x`,
		[]any{t.tx.Org(), sequence, t.now.Add(-24 * time.Hour), *v.MaxNewPerDay}, &began, &oldest)
	if err != nil {
		return nil, fmt.Errorf("count new enrolments: %w", err)
	}

	if l.left = *v.MaxNewPerDay - began; oldest != nil {
		l.at = oldest.Add(24 * time.Hour)
	}

	return l, nil
}
