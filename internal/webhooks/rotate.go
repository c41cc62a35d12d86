package webhooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Overlap is how long the previous secret signs along with the new one by default; MaxOverlap is the maximum.
const (
	Overlap    = 24 * time.Hour
	MaxOverlap = 7 * 24 * time.Hour
)

// Rotate sets another secret for a live endpoint, chosen or, with "", generated, and returns it; it is never shown
// again. The previous secret also signs until the returned time, and older ones until their own, which a rotation does
// not change. An overlap of 0 ends all at once; the returned time is nil.
//
// The current secret cannot be chosen again, because a repeated request would otherwise end the overlap that it was
// meant to start.
func (s *Service) Rotate(ctx context.Context, tx *postgres.Tx, endpoint id.ID, chosen string,
	overlap time.Duration,
) (v Versioned, shown string, until *wire.Time, err error) {
	if overlap < 0 || overlap > MaxOverlap {
		return v, "", nil, fault.Invalid("overlap_hours", "out_of_range", "Old secrets sign for 0 to 168 hours.")
	}
	v, err = s.lockEndpoint(ctx, tx, endpoint, func(Versioned) error { return nil })
	if err != nil {
		return v, "", nil, err
	}
	var (
		sealed, previous []byte
		previousUntil    *time.Time
	)
	if err := tx.QueryRow(ctx, `SELECT secret, previous_secret, previous_until FROM webhook_endpoint
		WHERE org_id = $1 AND id = $2`, []any{tx.Org(), endpoint}, &sealed, &previous, &previousUntil); err != nil {
		return v, "", nil, fmt.Errorf("read secret: %w", err)
	}
	current, err := s.Box.Open(sealed, secretContext(tx.Org(), endpoint))
	if err != nil {
		return v, "", nil, fmt.Errorf("open secret: %w", err)
	}
	if shown = chosen; shown == "" {
		shown = newSecret()
	} else if err := checkSecret(shown); err != nil {
		return v, "", nil, err
	}
	if shown == string(current) {
		return v, "", nil, fault.Invalid("secret", "unchanged", "This is the webhook's secret already.")
	}
	next, err := s.Box.Seal([]byte(shown), secretContext(tx.Org(), endpoint))
	if err != nil {
		return v, "", nil, fmt.Errorf("seal secret: %w", err)
	}
	v.Edit++
	v.UpdatedAt = wire.Now()

	var old []oldSecret
	if overlap > 0 {
		at := wire.At(v.UpdatedAt.Add(overlap))
		until = &at
		earlier, err := s.openOldSecrets(tx.Org(), endpoint, previous, previousUntil, v.UpdatedAt.Time)
		if err != nil {
			return v, "", nil, err
		}
		old = append([]oldSecret{{string(current), at}}, earlier...)
		old = slices.DeleteFunc(old, func(o oldSecret) bool { return o.Secret == shown })
	}
	if len(old) > maxOldSecrets {
		return v, "", nil, fault.New(fault.Conflict, fmt.Sprintf("%d earlier secrets still sign. Rotate when the "+
			"first "+
			"of them has ended, or end all with overlap_hours 0.", maxOldSecrets))
	}
	previous, last, err := s.sealOldSecrets(tx.Org(), endpoint, old)
	if err != nil {
		return v, "", nil, err
	}
	tx.Queue(`
		UPDATE webhook_endpoint SET secret = $3, previous_secret = $4, previous_until = $5, updated_at = $6, edit = $7
		WHERE org_id = $1 AND id = $2`, tx.Org(), endpoint, next, previous, last, v.UpdatedAt, v.Edit)
	return v, shown, until, nil
}
