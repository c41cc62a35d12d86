package emails

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Three soft bounces of an address within three days, with no mail delivered between, count as a hard one.
const (
	softBounces = 3
	softWithin  = 72 * time.Hour
)

// IsLastSoft reports whether a soft bounce of r, received at a time, is one of three that count as a hard bounce of its
// address. It locks the address until the end of tx, so that of bounces that come at the same time one is the last. It
// must precede all other locks. The caller then records the bounce as hard, or else with Incoming.Soft.
func IsLastSoft(ctx context.Context, tx *postgres.Tx, r *Row, at time.Time) (bool, error) {
	if r.ContactID == nil || r.To == "" {
		return false, nil
	}
	tx.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('soft_bounce/' || $1::text || '/' || lower($2), 0))`,
		tx.Org(), r.To)
	var bounced, delivered []time.Time
	err := tx.QueryRow(ctx, `
		SELECT coalesce(array_agg(soft_bounced_at) FILTER (WHERE bounced = 'soft' AND id <> $4), '{}'),
			coalesce(array_agg(greatest(delivered_at, replied_at)) FILTER (WHERE coalesce(delivered_at, replied_at)
				IS NOT NULL), '{}')
		FROM email WHERE org_id = $1 AND contact_id = $2 AND lower(to_email) = lower($3) AND (id = $4
			OR soft_bounced_at BETWEEN $5 AND $6 OR delivered_at BETWEEN $5 AND $6 OR replied_at BETWEEN $5 AND $6)`,
		[]any{tx.Org(), *r.ContactID, r.To, r.ID, at.Add(-softWithin), at.Add(softWithin)}, &bounced,
		&delivered)
	if err != nil {
		return false, fmt.Errorf("read soft bounces: %w", err)
	}
	return countsAsHard(append(bounced, at), delivered), nil
}

// countsAsHard reports whether three bounces lie within three days, and no delivery between the first and the third.
func countsAsHard(bounced, delivered []time.Time) bool {
	slices.SortFunc(bounced, time.Time.Compare)
	for i := range len(bounced) - softBounces + 1 {
		first, last := bounced[i], bounced[i+softBounces-1]
		between := func(at time.Time) bool { return at.After(first) && at.Before(last) }
		if last.Sub(first) <= softWithin && !slices.ContainsFunc(delivered, between) {
			return true
		}
	}
	return false
}
