package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const endpointColumns = `id, url, description, events, rate_limit, enabled, disabled_reason, created_at, ` +
	`updated_at, archived_at, edit, computed`

func scanEndpoint(r pgx.Row) (v Versioned, err error) {
	var reason string
	err = r.Scan(&v.ID, &v.URL, &v.Description, &v.Events, &v.RateLimit, &v.Enabled, &reason, &v.CreatedAt,
		&v.UpdatedAt, &v.ArchivedAt, &v.Edit, &v.Computed)
	if reason != "" {
		v.DisabledReason = &reason
	}
	return v, err
}

func collectEndpoint(r pgx.CollectableRow) (Versioned, error) { return scanEndpoint(r) }

var errNoEndpoint = fault.New(fault.NotFound, "There is no such webhook.")

// Create creates an endpoint and returns it with its secret, which is never shown again.
func (s *Service) Create(_ context.Context, tx *postgres.Tx, n New) (v Versioned, shown string, err error) {
	now := wire.Now()
	v = Versioned{Edit: 1, Endpoint: Endpoint{
		ID: id.New(), URL: n.URL, Events: distinct(n.Events), Description: n.Description, RateLimit: n.RateLimit,
		Enabled:   n.Enabled,
		CreatedAt: now, UpdatedAt: now,
	}}
	if err = s.checkEndpoint(&v.Endpoint, true); err != nil {
		return v, "", err
	}
	if shown = n.Secret; shown == "" {
		shown = newSecret()
	} else if err = checkSecret(shown); err != nil {
		return v, "", err
	}
	sealed, err := s.Box.Seal([]byte(shown), secretContext(tx.Org(), v.ID))
	if err != nil {
		return v, "", fmt.Errorf("seal secret: %w", err)
	}
	tx.Queue(`
		INSERT INTO webhook_endpoint (org_id, id, url, description, events, rate_limit, enabled, secret,
		created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		tx.Org(), v.ID, v.URL, v.Description, v.Events, v.RateLimit, v.Enabled, sealed, now)
	if v.RateLimit != nil {
		queue.SetKeyRate(tx, v.ID, v.RateLimit)
	}
	return v, shown, nil
}

// Get returns one endpoint, or a 404 fault. It returns an archived endpoint only if archived is true.
func (s *Service) Get(ctx context.Context, tx *postgres.Tx, endpoint id.ID, archived bool) (Versioned, error) {
	return readEndpoint(ctx, tx, `
		SELECT `+endpointColumns+` FROM webhook_endpoint
		WHERE org_id = $1 AND id = $2 AND (archived_at IS NULL OR $3)`, tx.Org(), endpoint, archived)
}

// List returns at most limit endpoints, archived or live, newest first, that precede the cursor before (zero: all).
func (s *Service) List(ctx context.Context, tx *postgres.Tx, before id.ID, limit int, archived bool) ([]Versioned,
	error,
) {
	if before.IsZero() {
		before = last
	}
	rows, err := tx.Query(ctx, `
		SELECT `+endpointColumns+` FROM webhook_endpoint
		WHERE org_id = $1 AND id < $2 AND (archived_at IS NOT NULL) = $3
		ORDER BY id DESC LIMIT $4`, tx.Org(), before, archived, limit)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	all, err := pgx.CollectRows(rows, collectEndpoint)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return all, nil
}

// last is greater than every id.
var last = id.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Update changes a live endpoint if allowed accepts its current row, which is locked until the end of tx. A patch that
// changes nothing writes nothing. A new URL, or enabling the endpoint, resets its health.
func (s *Service) Update(ctx context.Context, tx *postgres.Tx, endpoint id.ID, p Patch,
	allowed func(Versioned) error,
) (Versioned, error) {
	v, err := s.lockEndpoint(ctx, tx, endpoint, allowed)
	if err != nil {
		return v, err
	}
	url, enabled, rate := v.URL, v.Enabled, v.RateLimit
	changed, err := p.applyTo(&v.Endpoint)
	if err == nil {
		err = s.checkEndpoint(&v.Endpoint, v.URL != url)
	}
	if err != nil || !changed {
		return v, err
	}
	v.Edit++
	v.UpdatedAt = wire.Now()
	reason := ""
	if v.DisabledReason != nil {
		reason = *v.DisabledReason
	}
	tx.Queue(`
		UPDATE webhook_endpoint
		SET url = $3, description = $4, events = $5, rate_limit = $6, enabled = $7, disabled_reason = $8,
		updated_at = $9, edit = $10
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), v.ID, v.URL, v.Description, v.Events, v.RateLimit, v.Enabled, reason, v.UpdatedAt, v.Edit)
	if v.URL != url || v.Enabled != enabled {
		s.resetHealth(tx, v.ID)
	}
	if (v.RateLimit == nil) != (rate == nil) || rate != nil && *v.RateLimit != *rate {
		queue.SetKeyRate(tx, v.ID, v.RateLimit)
	}
	return v, nil
}

// Archive archives an endpoint; its pending deliveries are discarded when they are due. Archiving an archived endpoint
// changes nothing.
func (s *Service) Archive(ctx context.Context, tx *postgres.Tx, endpoint id.ID, allowed func(Versioned) error) error {
	v, err := readEndpoint(ctx, tx,
		`SELECT `+endpointColumns+` FROM webhook_endpoint WHERE org_id = $1 AND id = $2 FOR UPDATE`, tx.Org(), endpoint)
	if err != nil || v.ArchivedAt != nil {
		return err
	}
	if err := allowed(v); err != nil {
		return err
	}
	tx.Queue(
		`UPDATE webhook_endpoint SET archived_at = $3, updated_at = $3, edit = edit + 1 WHERE org_id = $1
			AND id = $2`, tx.Org(), endpoint, wire.Now())
	s.resetHealth(tx, endpoint)
	return nil
}

// Restore undoes Archive and reports whether the endpoint was archived; a live endpoint is unchanged.
func (s *Service) Restore(ctx context.Context, tx *postgres.Tx, endpoint id.ID) (v Versioned, changed bool, err error) {
	v, err = readEndpoint(ctx, tx, `SELECT `+endpointColumns+` FROM webhook_endpoint WHERE org_id = $1
		AND id = $2 FOR UPDATE`,
		tx.Org(), endpoint)
	if err != nil || v.ArchivedAt == nil {
		return v, false, err
	}
	v.ArchivedAt, v.UpdatedAt = nil, wire.Now()
	v.Edit++
	tx.Queue(
		`UPDATE webhook_endpoint SET archived_at = NULL, updated_at = $3, edit = $4 WHERE org_id = $1 AND id = $2`,
		tx.Org(), endpoint, v.UpdatedAt, v.Edit)
	return v, true, nil
}

func (s *Service) lockEndpoint(ctx context.Context, tx *postgres.Tx, endpoint id.ID,
	allowed func(Versioned) error,
) (Versioned, error) {
	v, err := readEndpoint(ctx, tx, `
		SELECT `+endpointColumns+` FROM webhook_endpoint
		WHERE org_id = $1 AND id = $2 AND archived_at IS NULL FOR UPDATE`, tx.Org(), endpoint)
	if err != nil {
		return v, err
	}
	return v, allowed(v)
}

func readEndpoint(ctx context.Context, tx *postgres.Tx, sql string, args ...any) (Versioned, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return Versioned{}, fmt.Errorf("read webhook: %w", err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, collectEndpoint)
	switch {
	case postgres.None(err):
		return v, errNoEndpoint
	case err != nil:
		return v, fmt.Errorf("read webhook: %w", err)
	}
	return v, nil
}
