package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// kept is how long events can be replayed.
const kept = 30 * 24 * time.Hour

// Range selects the events of a replay: events created at or after From and before To, of the given types, or of the
// endpoint's subscribed types if there are none. OnlyFailed excludes events that were delivered to the endpoint, events
// with a first delivery in progress, and events never sent to it.
type Range struct {
	From, To   time.Time
	Types      []string
	OnlyFailed bool
}

// Replay is the replay of a range, in the order in which the events were created.
type Replay struct {
	ID          *id.ID         `json:"id" format:"uuid" nullable:"true" doc:"ID of the replay; null for a preview"`
	WebhookID   id.ID          `json:"webhook_id" format:"uuid" doc:"ID of the webhook"`
	From        wire.Time      `json:"from" format:"date-time"`
	To          wire.Time      `json:"to" format:"date-time" doc:"a time in the future is replaced by the current time"`
	Types       []string       `json:"types" doc:"event types, or * for all"`
	OnlyFailed  bool           `json:"only_failed" doc:"Whether only events without a successful delivery are sent"`
	Status      string         `json:"status" enum:"preview,queued,running,completed,stopped"`
	Count       int64          `json:"count" doc:"number of matching events at the time of the request"`
	Sent        int64          `json:"sent" doc:"deliveries created; erased or meanwhile delivered events need none"`
	Deliveries  ReplayStatuses `json:"deliveries" doc:"number of these deliveries by status"`
	CreatedAt   wire.Time      `json:"created_at" format:"date-time" doc:"When the replay was requested"`
	UpdatedAt   wire.Time      `json:"updated_at" format:"date-time" doc:"When its progress was last recorded"`
	CompletedAt *wire.Time     `json:"completed_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Replay) Descriptions() map[string]string {
	return map[string]string{
		"status": "completed: every event has its delivery; stopped: the webhook was archived or disabled, or an " +
			"operator stopped it",
		"from":         "Start of the range: events created at or after this time",
		"completed_at": "When the replay was completed or stopped; null: not yet",
	}
}

// ReplayStatuses counts a replay's deliveries by status.
type ReplayStatuses struct {
	Pending   int64 `json:"pending" doc:"Deliveries that wait for their first attempt"`
	Delivered int64 `json:"delivered" doc:"Deliveries that succeeded"`
	Failed    int64 `json:"failed" doc:"Deliveries that failed and will be retried"`
	Exhausted int64 `json:"exhausted" doc:"Deliveries that failed for good"`
	Discarded int64 `json:"discarded" doc:"Deliveries given up since the webhook was archived or disabled"`
}

// Preview returns the replay that a range would start, with the number of its events. An archived endpoint is a
// conflict; an empty range, or one that starts before the oldest stored event, is invalid.
func (s *Service) Preview(ctx context.Context, tx *postgres.Tx, endpoint id.ID, r Range) (Replay, error) {
	v, err := s.Get(ctx, tx, endpoint, true)
	if err != nil {
		return Replay{}, err
	}
	if v.ArchivedAt != nil {
		return Replay{}, errArchived
	}
	now := wire.Now()
	if err := r.checkRange(now.Time); err != nil {
		return Replay{}, err
	}
	if r.To.After(now.Time) {
		r.To = now.Time
	}
	if r.Types = distinct(r.Types); len(r.Types) == 0 {
		r.Types = v.Events
	}
	out := Replay{
		WebhookID: endpoint, From: wire.At(r.From), To: wire.At(r.To), Types: r.Types, OnlyFailed: r.OnlyFailed,
		Status:    "preview",
		CreatedAt: now, UpdatedAt: now,
	}
	sql, args := out.matchingSQL("count(*)", id.ID{})
	tx.Queue(postgres.PlanByDay)
	if err := tx.QueryRow(ctx, sql, append([]any{tx.Org()}, args...), &out.Count); err != nil {
		return out, fmt.Errorf("count events: %w", err)
	}
	return out, nil
}

// Replay records a replay. The caller enqueues the job that walks the range.
func (s *Service) Replay(ctx context.Context, tx *postgres.Tx, endpoint id.ID, r Range) (Replay, error) {
	out, err := s.Preview(ctx, tx, endpoint, r)
	if err != nil {
		return out, err
	}
	made := id.New()
	out.ID, out.Status = &made, "queued"
	tx.Queue(`
		INSERT INTO webhook_replay (org_id, id, endpoint_id, from_at, to_at, types, only_failed, to_disabled,
		events, created_at, updated_at)
		SELECT org_id, $3, id, $4, $5, $6, $7, NOT enabled, $8, $9, $9 FROM webhook_endpoint WHERE org_id = $1
		AND id = $2`,
		tx.Org(), endpoint, made, out.From, out.To, out.Types, out.OnlyFailed, out.Count, out.CreatedAt)
	return out, nil
}

func (r *Range) checkRange(now time.Time) error {
	switch {
	case r.From.Before(now.Add(-kept)):
		return fault.Invalid("from", "out_of_range", "Events are kept for 30 days.")
	case !r.From.Before(now):
		return fault.Invalid("from", "out_of_range", "The range begins in the future.")
	case !r.To.After(r.From):
		return fault.Invalid("to", "out_of_range", "The range ends before it begins.")
	}
	for i, name := range r.Types {
		if _, ok := events.Lookup(name); !ok {
			return fault.Invalid(fmt.Sprintf("types/%d", i), "unknown_event_type", events.Unknown(name))
		}
	}
	return nil
}

// skew is the maximum difference between the time in a row's id, which determines its partition, and its created_at:
// one is the database's clock, the other a process's.
const skew = time.Minute

// matchingSQL returns the query for everything that the replay sends after the row walked; $1 is the org.
//
// With OnlyFailed, it selects first deliveries, of which there is one per event and endpoint, that did not succeed,
// unless a later delivery of the same event succeeded or is pending. Each status is read in the order of its index.
func (r *Replay) matchingSQL(columns string, walked id.ID) (sql string, args []any) {
	all := slices.Contains(r.Types, "*")
	args = []any{laterID(walked, id.Floor(r.From.Add(-skew))), id.Floor(r.To.Add(skew)), r.From, r.To, all, r.Types}
	const within = ` AND id > $2 AND id < $3 AND created_at >= $4 AND created_at < $5`
	if !r.OnlyFailed {
		return `SELECT ` + columns + ` FROM (SELECT id, id AS event, type FROM event WHERE org_id = $1` + within +
			` AND ($6 OR type = ANY ($7))) AS e`, args
	}
	var parts []string
	for _, status := range []Status{Failed, Exhausted, Discarded} {
		parts = append(parts, `SELECT id, event_id AS event, event_type AS type FROM webhook_delivery d
			WHERE org_id = $1 AND endpoint_id = $8 AND indexed_status = '`+status.indexedStatus()+`'
				AND trigger = 'event'`+within+
			` AND ($6 OR event_type = ANY ($7))
			AND NOT EXISTS (SELECT FROM webhook_delivery a WHERE a.org_id = $1 AND a.endpoint_id = $8
			AND a.event_id = d.event_id
				AND a.trigger IN ('redelivery', 'replay') AND a.status IN ('pending', 'delivered'))`)
	}
	return `SELECT ` + columns + ` FROM (` + strings.Join(parts, ` UNION ALL `) + `) AS e`, append(args, r.WebhookID)
}

func laterID(a, b id.ID) id.ID {
	if slices.Compare(a[:], b[:]) > 0 {
		return a
	}
	return b
}

const replayColumns = `id, endpoint_id, from_at, to_at, types, only_failed, status, events, sent, created_at, ` +
	`updated_at, completed_at`

func scanReplay(row pgx.Row, more ...any) (r Replay, err error) {
	return r,
		row.Scan(append([]any{
			&r.ID, &r.WebhookID, &r.From, &r.To, &r.Types, &r.OnlyFailed, &r.Status, &r.Count,
			&r.Sent, &r.CreatedAt, &r.UpdatedAt, &r.CompletedAt,
		}, more...)...)
}

// GetReplay returns a replay of an endpoint, archived or not, with the statuses of its deliveries.
func (s *Service) GetReplay(ctx context.Context, tx *postgres.Tx, endpoint, replay id.ID) (r Replay, err error) {
	rows, err := tx.Query(ctx,
		`SELECT `+replayColumns+` FROM webhook_replay WHERE org_id = $1 AND endpoint_id = $2 AND id = $3`, tx.Org(),
		endpoint, replay)
	if err != nil {
		return r, fmt.Errorf("read replay: %w", err)
	}
	r, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Replay, error) { return scanReplay(row) })
	if postgres.None(err) {
		return r, fault.New(fault.NotFound, "There is no such replay.")
	}
	if err != nil {
		return r, fmt.Errorf("read replay: %w", err)
	}
	return r, r.countStatuses(ctx, tx, replay)
}

// countStatuses counts the deliveries of a replay, some days at a time, from its request to when it had made them all.
func (r *Replay) countStatuses(ctx context.Context, tx *postgres.Tx, replay id.ID) error {
	at := map[Status]*int64{
		Pending: &r.Deliveries.Pending, Delivered: &r.Deliveries.Delivered, Failed: &r.Deliveries.Failed,
		Exhausted: &r.Deliveries.Exhausted, Discarded: &r.Deliveries.Discarded,
	}
	made := span{from: id.Floor(r.CreatedAt.Add(-skew)), before: id.Floor(time.Now().Add(skew))}
	if r.CompletedAt != nil {
		made.before = id.Floor(r.CompletedAt.Add(skew))
	}
	for _, days := range newestSpans(made) {
		tx.Queue(postgres.PlanByDay)
		rows, err := tx.Query(ctx, replayStatusesSQL, tx.Org(), replay, days.from, days.before)
		if err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
		var status Status
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
			*at[status] += n
			return nil
		})
		if err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
	}
	return nil
}

const replayStatusesSQL = `SELECT CASE indexed_status WHEN '' THEN 'delivered' ELSE indexed_status END, count(*)
	FROM webhook_delivery WHERE org_id = $1 AND replay_id = $2 AND id >= $3 AND id < $4 GROUP BY indexed_status`
