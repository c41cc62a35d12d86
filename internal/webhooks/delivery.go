package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Status is the status of a delivery.
type Status string

// The statuses.
const (
	Pending   Status = "pending"   // not attempted yet
	Delivered Status = "delivered" // a 2xx response
	Failed    Status = "failed"    // a retry is planned
	Exhausted Status = "exhausted" // no further retry
	Discarded Status = "discarded" // endpoint archived or disabled
)

// The triggers of an attempt. ByProbe occurs only for attempts, not for deliveries: a probe is an attempt that an open
// circuit permits.
const (
	ByEvent      = "event"
	ByTest       = "test"
	ByRedelivery = "redelivery"
	ByReplay     = "replay"
	ByProbe      = "probe"
)

// Error classes in addition to those of calls without a response.
const (
	Refused     = "http_status" // an error status without its own class
	Redirected  = "redirect"
	Gone        = "gone"        // 410
	Interrupted = "interrupted" // the worker died during the attempt
)

// Delivery is the delivery of one event to one endpoint.
type Delivery struct {
	ID             id.ID             `json:"id" format:"uuid" doc:"ID of the delivery"`
	WebhookID      id.ID             `json:"webhook_id" format:"uuid" doc:"ID of the webhook"`
	EventID        id.ID             `json:"event_id" format:"uuid"`
	EventType      string            `json:"event_type" doc:"Type of the event, such as contact.created"`
	ReplayID       *id.ID            `json:"replay_id" format:"uuid" nullable:"true"`
	Trigger        string            `json:"trigger" enum:"event,test,redelivery,replay"`
	Status         Status            `json:"status" enum:"pending,delivered,failed,exhausted,discarded"`
	AttemptCount   int               `json:"attempt_count" doc:"number of attempts, without failed probes"`
	LastStatusCode *int              `json:"last_status_code" doc:"status code of the last response; null if none"`
	LastErrorClass *string           `json:"last_error_class" doc:"of the last attempt; null after a success"`
	NextAttemptAt  *wire.Time        `json:"next_attempt_at" format:"date-time" doc:"approximate; null without a retry"`
	CreatedAt      wire.Time         `json:"created_at" format:"date-time" doc:"When the delivery was created"`
	UpdatedAt      wire.Time         `json:"updated_at" format:"date-time" doc:"When status or attempts changed"`
	Attempts       []DeliveryAttempt `json:"attempts" doc:"The attempts, oldest first"`
}

// Descriptions implements wire.Describer.
func (Delivery) Descriptions() map[string]string {
	return map[string]string{
		"status":    "failed: a retry is planned; exhausted: none is; discarded: webhook archived or disabled",
		"trigger":   "What caused the delivery: the event itself, a test, a redelivery or a replay",
		"event_id":  "ID of the event, sent as the header webhook-id of every attempt",
		"replay_id": "The replay that created the delivery; null: none",
	}
}

// DeliveryAttempt is one attempt of a delivery.
type DeliveryAttempt struct {
	ID             id.ID             `json:"id" format:"uuid" doc:"ID of the attempt"`
	Number         int               `json:"number" doc:"from 1; a failed probe and the next attempt share a number"`
	Trigger        string            `json:"trigger" enum:"event,test,redelivery,replay,probe"`
	StartedAt      wire.Time         `json:"started_at" format:"date-time" doc:"When the attempt started"`
	StatusCode     *int              `json:"status_code" doc:"HTTP status code of the response; null: there was none"`
	ErrorClass     *string           `json:"error_class"`
	Error          *string           `json:"error" doc:"Message of the error, for people; null for a success"`
	Timings        AttemptTimings    `json:"timings" doc:"Durations of the phases, in milliseconds"`
	RequestHeaders map[string]string `json:"request_headers" doc:"Headers that were sent, by name"`
	ResponseBody   *string           `json:"response_body" doc:"first 16 KiB; null in lists and without a response"`
	ResponseCut    bool              `json:"response_truncated" doc:"Whether the response was longer than 16 KiB"`
	Location       *string           `json:"location" doc:"target of a redirect, which is not followed"`
}

// Descriptions implements wire.Describer.
func (DeliveryAttempt) Descriptions() map[string]string {
	return map[string]string{
		"trigger": "probe: sent through an open circuit",
		"error_class": "null for a success. Without a response: address_not_allowed, dns_error, connection_failed, " +
			"tls_error, timeout, connection_closed or invalid_response. With a response: http_status, redirect or " +
			"gone. If the worker was lost: interrupted. Other values may be added",
	}
}

// AttemptTimings are in milliseconds. A phase that did not occur, for example on a reused connection, is 0.
type AttemptTimings struct {
	DNS       float64 `json:"dns_ms" doc:"Milliseconds to resolve the host name; 0: not done"`
	Connect   float64 `json:"connect_ms" doc:"Milliseconds to connect; 0: a connection was reused"`
	TLS       float64 `json:"tls_ms" doc:"Milliseconds of the TLS handshake; 0: none"`
	FirstByte float64 `json:"first_byte_ms"`
	Total     float64 `json:"total_ms" doc:"Milliseconds from the start of the attempt to its end"`
}

// Descriptions implements wire.Describer.
func (AttemptTimings) Descriptions() map[string]string {
	return map[string]string{
		"first_byte_ms": "Milliseconds from the start of the attempt to the first byte of the response",
	}
}

const deliveryColumns = `id, ` + deliveryValues

const deliveryValues = `endpoint_id, event_id, event_type, replay_id, trigger, status, attempts, last_status, ` +
	`last_error, next_attempt_at, created_at, updated_at`

func collectDelivery(r pgx.CollectableRow) (d Delivery, err error) {
	var class string
	err = r.Scan(&d.ID, &d.WebhookID, &d.EventID, &d.EventType, &d.ReplayID, &d.Trigger, &d.Status, &d.AttemptCount,
		&d.LastStatusCode, &class, &d.NextAttemptAt, &d.CreatedAt, &d.UpdatedAt)
	d.LastErrorClass, d.Attempts = some(class), []DeliveryAttempt{}
	return d, err
}

// GetDelivery returns one delivery with all its attempts.
func (s *Service) GetDelivery(ctx context.Context, tx *postgres.Tx, delivery id.ID) (Delivery, error) {
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_delivery WHERE org_id = $1 AND id = $2`,
		tx.Org(), delivery)
	if err != nil {
		return Delivery{}, fmt.Errorf("read delivery: %w", err)
	}
	d, err := pgx.CollectExactlyOneRow(rows, collectDelivery)
	if postgres.None(err) {
		return d, fault.New(fault.NotFound, "There is no such delivery.")
	}
	if err != nil {
		return d, fmt.Errorf("read delivery: %w", err)
	}
	all := []Delivery{d}
	err = attach(ctx, tx, all, true)
	return all[0], err
}

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

// attemptsSQL reads the rows of webhook_attempt and the attempts that are kept in their deliveries' rows. The bounds on
// id prune partitions, $4 and $5 when the statement is planned, and those of each delivery when it is executed: an
// attempt is created between its delivery's creation and last update, plus clock skew. The order by delivery is that of
// the index of deliveries alone, see order.
const attemptsSQL = `
	SELECT delivery_id, id, number, trigger, started_at, status, error_class, error, dns_us, connect_us, tls_us,
	first_byte_us, total_us,
		request_headers, CASE WHEN $3 THEN answer ELSE '' END, answer_cut, location
	FROM unnest($2::uuid[], $6::uuid[], $7::uuid[]) AS one (key, first, last) CROSS JOIN LATERAL (
		SELECT * FROM webhook_attempt
		WHERE org_id = $1 AND delivery_id >= one.key AND delivery_id <= one.key AND id >= $4 AND id < $5
		AND id >= one.first AND id < one.last ORDER BY delivery_id, id) AS a
	UNION ALL
	SELECT id, attempt_id, attempts, trigger, started_at, last_status, '', '', dns_us, connect_us, tls_us,
	first_byte_us, total_us,
		request_headers, CASE WHEN $3 THEN answer ELSE '' END, answer_cut, ''
	FROM unnest($2::uuid[]) AS one (key) CROSS JOIN LATERAL (
		SELECT * FROM webhook_delivery
		WHERE org_id = $1 AND id = one.key AND id >= $4 AND id < $5 AND attempt_id IS NOT NULL LIMIT 1) AS d
	ORDER BY 2`

// attach reads the attempts of all deliveries in one query.
func attach(ctx context.Context, tx *postgres.Tx, all []Delivery, bodies bool) error {
	if len(all) == 0 {
		return nil
	}
	at, ids := map[id.ID]*Delivery{}, make([]id.ID, 0, len(all))
	firsts, ends := make([]id.ID, len(all)), make([]id.ID, len(all))
	from, to := all[0].CreatedAt.Time, all[0].UpdatedAt.Time
	for i := range all {
		at[all[i].ID] = &all[i]
		ids = append(ids, all[i].ID)
		firsts[i] = id.Floor(all[i].CreatedAt.Add(-skew))
		ends[i] = id.Floor(all[i].UpdatedAt.Add(skew))
		if all[i].CreatedAt.Before(from) {
			from = all[i].CreatedAt.Time
		}
		if all[i].UpdatedAt.After(to) {
			to = all[i].UpdatedAt.Time
		}
	}
	rows, err := tx.Query(ctx, attemptsSQL, tx.Org(), ids, bodies, id.Floor(from.Add(-skew)), id.Floor(to.Add(skew)),
		firsts, ends)
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		delivery, a, err := scanAttempt(rows, bodies)
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		if d := at[delivery]; d != nil {
			d.Attempts = append(d.Attempts, a)
		}
	}
	rows.Close()
	return rows.Err()
}

func scanAttempt(r pgx.Row, bodies bool) (delivery id.ID, a DeliveryAttempt, err error) {
	var (
		class, text, location        string
		headers                      json.RawMessage
		answer                       []byte
		dns, connect, tls, byte1, us int64
	)
	err = r.Scan(&delivery, &a.ID, &a.Number, &a.Trigger, &a.StartedAt, &a.StatusCode, &class, &text, &dns, &connect,
		&tls, &byte1, &us,
		&headers, &answer, &a.ResponseCut, &location)
	if err != nil {
		return delivery, a, err
	}
	a.ErrorClass, a.Error, a.Location = some(class), some(text), some(location)
	a.Timings = AttemptTimings{DNS: ms(dns), Connect: ms(connect), TLS: ms(tls), FirstByte: ms(byte1), Total: ms(us)}
	if bodies && a.StatusCode != nil {
		body := strings.ToValidUTF8(string(answer), "�")
		a.ResponseBody = &body
	}
	return delivery, a, json.Unmarshal(headers, &a.RequestHeaders)
}

func ms(us int64) float64 { return float64(us) / 1000 }

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
