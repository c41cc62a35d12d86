package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// The percentages of the rule at which the org's people are warned.
const (
	warnFirst = 50
	warnLast  = 90
)

// Ref identifies an endpoint.
type Ref struct{ Org, Endpoint id.ID }

// overdueSQL finds the endpoints for which a warning is due or the rule is met.
const overdueSQL = `
SELECT org_id, endpoint_id FROM webhook_health
WHERE failing_since <= now() - $1::interval * 0.5 AND (
	failing_since <= now() - $1::interval AND failed_events >= $2
	OR warned < 90 AND failing_since <= now() - $1::interval * 0.9 AND failed_events >= $2 * 0.9
	OR warned < 50 AND failed_events >= $2 * 0.5)
ORDER BY failing_since LIMIT $3`

// Overdue returns at most limit endpoints that need a review; tx must have the System role.
func Overdue(ctx context.Context, tx *postgres.Tx, limit int) ([]Ref, error) {
	rows, err := tx.Query(ctx, overdueSQL, disableAfter, disableFrom, limit)
	if err != nil {
		return nil, fmt.Errorf("find failing webhooks: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Ref])
	if err != nil {
		return nil, fmt.Errorf("find failing webhooks: %w", err)
	}
	return all, nil
}

// Review applies the rule to an endpoint. It returns whether it disabled the endpoint, or the warning to send: 50 or 90
// percent of the rule, 0 for no new warning.
func (s *Service) Review(ctx context.Context, tx *postgres.Tx, endpoint id.ID) (disabled bool, warn int, err error) {
	v, err := s.lockEndpoint(ctx, tx, endpoint, func(Versioned) error { return nil })
	if errors.Is(err, errNoEndpoint) || err == nil && !v.Enabled { // disabled: nothing is sent to it
		s.resetHealth(tx, endpoint)
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	h, now, err := lockHealth(ctx, tx, endpoint)
	if err != nil {
		return false, 0, err
	}
	switch done := h.disableProgress(now); {
	case done >= 100:
		disabled, err = s.disableEndpoint(ctx, tx, endpoint, v.URL, "failing")
		return disabled, 0, err
	case done >= warnLast && h.Warned < warnLast:
		warn = warnLast
	case done >= warnFirst && h.Warned < warnFirst:
		warn = warnFirst
	default:
		return false, 0, nil
	}
	h.Warned = warn
	saveHealth(tx, endpoint, &h)
	return false, warn, nil
}

// HealthOf returns the health of an endpoint.
func (s *Service) HealthOf(ctx context.Context, tx *postgres.Tx, endpoint id.ID) (h Health, err error) {
	rows, err := tx.Query(ctx, `SELECT `+healthColumns+` FROM webhook_health WHERE org_id = $1 AND endpoint_id = $2`,
		tx.Org(), endpoint)
	if err != nil {
		return h, fmt.Errorf("read webhook health: %w", err)
	}
	h, err = pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) (h Health, err error) {
		return h, scanHealth(r, &h)
	})
	if err != nil && !postgres.None(err) {
		return h, fmt.Errorf("read webhook health: %w", err)
	}
	return h, nil
}

// Unwell counts the unhealthy endpoints of all orgs. An endpoint with an open circuit does not count as failing.
type Unwell struct{ Failing, Open, Disabled int }

// CountUnwell counts the unhealthy endpoints; db must have the System role.
func CountUnwell(ctx context.Context, db *postgres.DB) (n Unwell, err error) {
	err = db.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		// few rows of tables that have many
		tx.Queue(`SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true)`)
		return tx.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM webhook_health WHERE failing_since IS NOT NULL AND opened_at IS NULL),
				(SELECT count(*) FROM webhook_health WHERE failing_since IS NOT NULL AND opened_at IS NOT NULL),
				(SELECT count(*) FROM webhook_endpoint WHERE disabled_reason <> '' AND archived_at IS NULL)`, nil,
			&n.Failing, &n.Open, &n.Disabled)
	})
	if err != nil {
		err = fmt.Errorf("count failing webhooks: %w", err)
	}
	return n, err
}
