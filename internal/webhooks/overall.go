package webhooks

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ListAllDeliveries is ListDeliveries over all endpoints of the org, or over the one that endpoint names. It returns no
// deliveries for an unknown endpoint.
func (s *Service) ListAllDeliveries(ctx context.Context, tx *postgres.Tx, endpoint *id.ID, f Filter, before id.ID,
	limit int,
) (DeliveryPage, error) {
	return readPage(ctx, tx, f, before, limit, func(days span, limit int) (string, []any) {
		if endpoint != nil {
			return listSQL(tx.Org(), *endpoint, f, days, limit)
		}
		return listingAll(tx.Org(), f, days, limit)
	})
}

// listingAll returns the statement of a list over all endpoints. Without a status and a type, it reads by the primary
// key, and pending deliveries by their jobs. With them, it reads the newest of each endpoint by the indexes that serve
// the lists of one endpoint: an org has few endpoints, and further indexes would cost every delivery.
func listingAll(org id.ID, f Filter, days span, limit int) (sql string, args []any) {
	condition, each := "org_id = $1", f.Status != Pending && (f.Status != "" || f.EventType != "")
	if each {
		condition += " AND endpoint_id = e.endpoint"
	}
	where, args := f.addConditions(condition, []any{org})
	n := len(args)
	order := "id DESC"
	if each {
		order = f.orderSQL()
	}
	page := fmt.Sprintf(`SELECT `+deliveryColumns+` FROM %s WHERE %s AND id >= $%d AND id < $%d
		ORDER BY %s LIMIT $%d`, f.tableSQL(n), where, n+1, n+2, order, n+3)
	args = append(args, days.from, days.before, limit)
	if !each {
		return page, args
	}
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM
		(SELECT id AS endpoint FROM webhook_endpoint WHERE org_id = $1) AS e CROSS JOIN LATERAL (%s) AS d
		ORDER BY id DESC LIMIT $%d`, page, n+3), args
}

// named is the maximum number of endpoints that Named returns.
const named = 1000

// Named returns id, URL and description of the org's live endpoints, newest first; at most 1,000.
func (s *Service) Named(ctx context.Context, tx *postgres.Tx) ([]Endpoint, error) {
	rows, err := tx.Query(ctx, `SELECT id, url, description FROM webhook_endpoint
		WHERE org_id = $1 AND archived_at IS NULL ORDER BY id DESC LIMIT $2`, tx.Org(), named)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Endpoint, err error) {
		return e, row.Scan(&e.ID, &e.URL, &e.Description)
	})
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	return all, nil
}
