package webhooks

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// counted is the number up to which an estimate counts before it uses the planner.
const counted = 1000

// CountDeliveries returns the number of deliveries that ListAllDeliveries lists in all pages. Its cost is proportional
// to that number, unless estimate is set: then it is exact up to 1,000, and above that the planner's estimate.
func (s *Service) CountDeliveries(ctx context.Context, tx *postgres.Tx, endpoint *id.ID, f Filter, estimate bool) (
	*int64, error,
) {
	where, args := f.addConditions("org_id = $1", []any{tx.Org()})
	if endpoint != nil {
		where, args = f.endpointSQL(tx.Org(), *endpoint)
		if f.orderBy() == "" && f.Status == "" { // so that the index of statuses, which has all columns, is read alone
			args = append(args, indexedStatuses())
			where += fmt.Sprintf(" AND indexed_status = ANY ($%d)", len(args))
		}
	}
	all, err := f.readSpan(ctx, tx, id.ID{})
	if err != nil {
		return nil, err
	}
	n := len(args)
	rows := fmt.Sprintf(`SELECT FROM %s WHERE %s AND id >= $%d AND id < $%d`, f.tableSQL(n), where, n+1, n+2)
	if estimate {
		return estimateDeliveries(ctx, tx, all, rows, args)
	}
	sum := int64(0)
	for _, days := range newestSpans(all) {
		n, err := countRows(ctx, tx, "SELECT count(*) FROM ("+rows+") AS d", append(args, days.from, days.before)...)
		if err != nil {
			return nil, err
		}
		sum += *n
	}
	return &sum, nil
}

// estimateDeliveries estimates how many deliveries the statement rows finds, whose last arguments are a span.
func estimateDeliveries(ctx context.Context, tx *postgres.Tx, all span, rows string, args []any) (*int64, error) {
	sum := int64(0)
	for _, days := range newestSpans(all) {
		n, err := countRows(ctx, tx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) AS d", rows, counted+1-sum),
			append(args, days.from, days.before)...)
		if err != nil {
			return nil, err
		}
		if sum += *n; sum > counted {
			break
		}
	}
	if sum <= counted {
		return &sum, nil
	}
	planned := int64(0)
	for _, days := range newestSpans(all) {
		n, err := tx.ExpectedRows(ctx, rows, append(args, days.from, days.before))
		if err != nil {
			return nil, fmt.Errorf("estimate deliveries: %w", err)
		}
		planned += n
	}
	planned = max(planned, sum)
	return &planned, nil
}
