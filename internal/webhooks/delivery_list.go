package webhooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Filter selects deliveries; a zero field does not restrict the selection.
type Filter struct {
	Status        Status
	EventType     string
	CreatedAfter  time.Time // exclusive, like CreatedBefore
	CreatedBefore time.Time
}

// DeliveryPage is a page of a list. It may be shorter than its limit though there are more deliveries.
type DeliveryPage struct {
	Deliveries []Delivery
	// Next is set if the page has not looked at deliveries with ids below it.
	Next *id.ID
}

// ListDeliveries returns at most limit deliveries of an endpoint, archived or not, newest first, that precede the
// cursor before (zero: all) and match f, with their attempts but without response bodies. It returns a 404 fault for an
// unknown endpoint.
func (s *Service) ListDeliveries(ctx context.Context, tx *postgres.Tx, endpoint id.ID, f Filter, before id.ID,
	limit int,
) (DeliveryPage, error) {
	if _, err := s.Get(ctx, tx, endpoint, true); err != nil {
		return DeliveryPage{}, err
	}
	return readPage(ctx, tx, f, before, limit, func(days span, limit int) (string, []any) {
		return listSQL(tx.Org(), endpoint, f, days, limit)
	})
}

// readPage reads the newest deliveries by statement, which returns those of a span.
func readPage(ctx context.Context, tx *postgres.Tx, f Filter, before id.ID, limit int,
	statement func(days span, limit int) (sql string, args []any),
) (DeliveryPage, error) {
	page := DeliveryPage{Deliveries: []Delivery{}}
	all, err := f.readSpan(ctx, tx, before)
	if err != nil {
		return page, err
	}
	for n, days := range newestSpans(all) {
		if n == spansOfPage {
			page.Next = &days.before
			break
		}
		sql, args := statement(days, limit-len(page.Deliveries))
		tx.Queue(inOrder)
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return page, fmt.Errorf("list deliveries: %w", err)
		}
		more, err := pgx.CollectRows(rows, collectDelivery)
		if err != nil {
			return page, fmt.Errorf("list deliveries: %w", err)
		}
		if page.Deliveries = append(page.Deliveries, more...); len(page.Deliveries) == limit {
			break
		}
	}
	return page, attachAttempts(ctx, tx, page.Deliveries, false)
}

// inOrder makes the planner walk an index in the order of a list as far as a page needs. Where it expects few rows, to
// read and sort them all costs as little.
const inOrder = postgres.PlanByDay + `, set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`

// listSQL returns a separate statement for each set of filters, so that each gets the plan for its own index. Without a
// filter of status or type it merges the deliveries of each indexed status.
func listSQL(org, endpoint id.ID, f Filter, days span, limit int) (sql string, args []any) {
	where, args := f.endpointSQL(org, endpoint)
	n := len(args)
	page := func(and, order string) string {
		return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM %s WHERE %s%s AND id >= $%d AND id < $%d
			ORDER BY %s LIMIT $%d`, f.tableSQL(n), where, and, n+1, n+2, order, n+3)
	}
	args = append(args, days.from, days.before, limit)
	if f.Status != "" || f.EventType != "" {
		return page("", f.orderSQL()), args
	}
	var parts []string
	for _, status := range indexedStatuses() {
		value := "'" + status + "'"
		parts = append(parts, "("+page(" AND indexed_status >= "+value+" AND indexed_status <= "+value,
			Filter{Status: Failed}.orderSQL())+")")
	}
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM (%s) AS d ORDER BY id DESC LIMIT $%d`,
		strings.Join(parts, " UNION ALL "), n+3), args
}

// indexedStatuses returns all values of indexed_status.
func indexedStatuses() (all []string) {
	for _, status := range []Status{Pending, Delivered, Failed, Exhausted, Discarded} {
		all = append(all, status.indexedStatus())
	}
	return all
}

// indexedStatus returns the value of indexed_status, except for an event's own delivery that is pending.
func (s Status) indexedStatus() string {
	if s == Delivered {
		return ""
	}
	return string(s)
}

// tableSQL returns the table that f's conditions apply to, between the ids $n+1 and $n+2 of the org $1. Pending
// deliveries are found by their jobs, which have their ids: no index tells them from delivered ones.
func (f Filter) tableSQL(n int) string {
	if f.Status != Pending {
		return "webhook_delivery"
	}
	return fmt.Sprintf(`(SELECT j.id, d.* FROM job j CROSS JOIN LATERAL (SELECT org_id, `+deliveryValues+`
		FROM webhook_delivery WHERE org_id = $1 AND id = j.id AND id >= $%[1]d AND id < $%[2]d OFFSET 0) AS d
		WHERE j.org_id = $1 AND j.kind = '`+events.DeliverKind+`' AND j.id >= $%[1]d AND j.id < $%[2]d
		ORDER BY j.id DESC) AS pending`, n+1, n+2)
}

// endpointSQL returns the condition of f on an endpoint's deliveries. Partitions are pruned by the ids of a span.
func (f Filter) endpointSQL(org, endpoint id.ID) (sql string, args []any) {
	return f.addConditions(`org_id = $1 AND endpoint_id = $2`, []any{org, endpoint})
}

// addConditions adds the conditions of f to those of sql.
func (f Filter) addConditions(sql string, args []any) (string, []any) {
	and := func(condition string, value any) {
		args = append(args, value)
		sql += fmt.Sprintf(" AND "+condition+" $%d", len(args))
	}
	if f.Status != "" {
		and("status =", string(f.Status))
	}
	if by := f.orderBy(); by != "" {
		value := f.EventType
		if by == "indexed_status" {
			value = f.Status.indexedStatus()
		}
		and(by+" >=", value)
		and(by+" <=", value)
	}
	if f.EventType != "" && f.orderBy() != "event_type" {
		and("event_type =", f.EventType)
	}
	if !f.CreatedAfter.IsZero() {
		and("created_at >", f.CreatedAfter)
	}
	if !f.CreatedBefore.IsZero() {
		and("created_at <", f.CreatedBefore)
	}
	return sql, args
}

// orderBy returns the column between the endpoint and the id in the index that serves f, or "" if that is the
// primary key. A list sorts by the column before the id, and bounds it instead of comparing it with its one value. Only
// that index has this order. With the plain condition the primary key has the order, too, and it costs no more where
// the planner expects one row: in a day that was never analyzed. It then reads all deliveries of the org.
func (f Filter) orderBy() string {
	switch {
	case f.Status == Pending:
		return ""
	case f.EventType != "" && (f.Status == "" || f.Status == Delivered): // most are delivered
		return "event_type"
	case f.Status != "":
		return "indexed_status"
	}
	return ""
}

// orderSQL returns the order of a list by its index.
func (f Filter) orderSQL() string {
	if by := f.orderBy(); by != "" {
		return by + " DESC, id DESC"
	}
	return "id DESC"
}
