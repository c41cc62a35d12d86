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

// ListDeliveries returns at most limit deliveries of an endpoint, archived or not, newest first, that precede the
// cursor before (zero: all) and match f, with their attempts but without response bodies. It returns a 404 fault for an
// unknown endpoint.
func (s *Service) ListDeliveries(ctx context.Context, tx *postgres.Tx, endpoint id.ID, f Filter, before id.ID,
	limit int,
) ([]Delivery, error) {
	if _, err := s.Get(ctx, tx, endpoint, true); err != nil {
		return nil, err
	}
	return list(ctx, tx, f, before, limit, func(from, before id.ID, limit int) (string, []any) {
		return listing(tx.Org(), endpoint, f, from, before, limit)
	})
}

// list reads the newest deliveries by statement, which returns the deliveries between two ids.
func list(ctx context.Context, tx *postgres.Tx, f Filter, before id.ID, limit int,
	statement func(from, before id.ID, limit int) (sql string, args []any),
) ([]Delivery, error) {
	all := []Delivery{}
	upper, oldest := f.bounds(before)
	for _, reach := range []time.Duration{36 * time.Hour, 8 * 24 * time.Hour, 10 * kept} {
		lower := later(oldest, id.Floor(upper.Time().Add(-reach)))
		sql, args := statement(lower, upper, limit-len(all))
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return nil, fmt.Errorf("list deliveries: %w", err)
		}
		more, err := pgx.CollectRows(rows, collectDelivery)
		if err != nil {
			return nil, fmt.Errorf("list deliveries: %w", err)
		}
		if all, upper = append(all, more...), lower; len(all) == limit || lower == oldest {
			break
		}
	}
	return all, attach(ctx, tx, all, false)
}

// bounds returns the ids between which a list reads. ListDeliveries reads the newest days first, and older ones only as
// far as a page needs, because the cost of planning a query grows with the number of daily partitions.
func (f Filter) bounds(before id.ID) (upper, oldest id.ID) {
	if upper = id.Floor(time.Now().Add(skew)); !before.IsZero() && later(before, upper) == upper {
		upper = before
	}
	if !f.CreatedBefore.IsZero() {
		if floor := id.Floor(f.CreatedBefore.Add(skew)); later(upper, floor) == upper {
			upper = floor
		}
	}
	if !f.CreatedAfter.IsZero() {
		oldest = id.Floor(f.CreatedAfter.Add(-skew))
	}
	return upper, oldest
}

// listing returns a separate statement for each set of filters, so that each gets the plan for its own index. Without a
// filter of status or type it merges the deliveries of each indexed status.
func listing(org, endpoint id.ID, f Filter, from, before id.ID, limit int) (sql string, args []any) {
	where, args := f.where(org, endpoint)
	n := len(args)
	page := func(and, order string) string {
		return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM %s WHERE %s%s AND id >= $%d AND id < $%d
			ORDER BY %s LIMIT $%d`, f.table(n), where, and, n+1, n+2, order, n+3)
	}
	args = append(args, from, before, limit)
	if f.Status != "" || f.EventType != "" {
		return page("", f.newest()), args
	}
	var parts []string
	for _, status := range []Status{Pending, Delivered, Failed, Exhausted, Discarded} {
		value := "'" + status.indexed() + "'"
		parts = append(parts, "("+page(" AND indexed_status >= "+value+" AND indexed_status <= "+value,
			Filter{Status: Failed}.newest())+")")
	}
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM (%s) AS d ORDER BY id DESC LIMIT $%d`,
		strings.Join(parts, " UNION ALL "), n+3), args
}

// indexed returns the value of indexed_status, except for an event's own delivery that is pending.
func (s Status) indexed() string {
	if s == Delivered {
		return ""
	}
	return string(s)
}

// table returns the table that f's conditions apply to, between the ids $n+1 and $n+2 of the org $1. Pending deliveries
// are found by their jobs, which have their ids: no index tells them from delivered ones.
func (f Filter) table(n int) string {
	if f.Status != Pending {
		return "webhook_delivery"
	}
	return fmt.Sprintf(`(SELECT j.id, d.* FROM job j CROSS JOIN LATERAL (SELECT org_id, `+deliveryValues+`
		FROM webhook_delivery WHERE org_id = $1 AND id = j.id OFFSET 0) AS d
		WHERE j.org_id = $1 AND j.kind = '`+events.DeliverKind+`' AND j.id >= $%d AND j.id < $%d
		ORDER BY j.id DESC) AS pending`, n+1, n+2)
}

// where returns the condition of f on an endpoint's deliveries. Partitions are pruned by the ids of bounds.
func (f Filter) where(org, endpoint id.ID) (sql string, args []any) {
	return f.and(`org_id = $1 AND endpoint_id = $2`, []any{org, endpoint})
}

// and adds the conditions of f to those of sql.
func (f Filter) and(sql string, args []any) (string, []any) {
	and := func(condition string, value any) {
		args = append(args, value)
		sql += fmt.Sprintf(" AND "+condition+" $%d", len(args))
	}
	if f.Status != "" {
		and("status =", string(f.Status))
	}
	if by := f.order(); by != "" {
		value := f.EventType
		if by == "indexed_status" {
			value = f.Status.indexed()
		}
		and(by+" >=", value)
		and(by+" <=", value)
	}
	if f.EventType != "" && f.order() != "event_type" {
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

// order returns the column between the endpoint and the id in the index that serves f, or "" if that is the primary
// key. A list sorts by the column before the id, and bounds it instead of comparing it with its one value. Only that
// index has this order. With the plain condition the primary key has the order, too, and it costs no more where the
// planner expects one row: in a day that was never analyzed. It then reads all deliveries of the org.
func (f Filter) order() string {
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

// newest returns the order of a list by its index.
func (f Filter) newest() string {
	if by := f.order(); by != "" {
		return by + " DESC, id DESC"
	}
	return "id DESC"
}
