package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Walk creates a replay's next deliveries, so many that at most open of its deliveries are unattempted. It returns how
// many it created and whether the walk is complete. The deliveries and the position of the walk are written together in
// tx, so each event of the range gets one delivery, however often the walk is interrupted. Walk creates nothing while
// an earlier replay of the same endpoint is running.
//
// An event that commits behind the walk's position is not replayed, because its own delivery has just been created.
func (s *Service) Walk(ctx context.Context, tx *postgres.Tx, replay id.ID, open int) (made int, over bool, err error) {
	r, walked, wanted, err := s.lockReplay(ctx, tx, replay)
	switch {
	case postgres.None(err):
		return 0, true, nil // deleted after its retention
	case err != nil:
		return 0, false, fmt.Errorf("read replay: %w", err)
	case r.CompletedAt != nil:
		return 0, true, nil
	case !wanted:
		endReplay(tx, replay, "stopped")
		return 0, true, nil
	}
	room, err := readRoom(ctx, tx, &r, open)
	if err != nil || room <= 0 {
		return 0, false, err
	}
	sql, args := r.matchingSQL("id, event, type", walked)
	tx.Queue(postgres.PlanByDay)
	rows, err := tx.Query(ctx, sql+fmt.Sprintf(` ORDER BY id LIMIT %d`, room), append([]any{tx.Org()}, args...)...)
	if err != nil {
		return 0, false, fmt.Errorf("walk events: %w", err)
	}
	next, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e events.Again, err error) {
		return e, row.Scan(&walked, &e.Event, &e.Type)
	})
	if err != nil {
		return 0, false, fmt.Errorf("walk events: %w", err)
	}
	now := wire.Now()
	if len(next) > 0 {
		events.Replay(tx, r.WebhookID, replay, next, now)
	}
	tx.Queue(`UPDATE webhook_replay SET status = 'running', walked = $3, sent = sent + $4, updated_at = $5
		WHERE org_id = $1 AND id = $2`,
		tx.Org(), replay, walked, len(next), now)
	if over = len(next) < room; over {
		endReplay(tx, replay, "completed")
	}
	return len(next), over, nil
}

// readRoom returns how many deliveries may be created now: none while an earlier replay is running.
func readRoom(ctx context.Context, tx *postgres.Tx, r *Replay, open int) (int, error) {
	var waiting int
	var first bool
	tx.Queue(postgres.PlanByDay)
	err := tx.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM webhook_delivery WHERE org_id = $1 AND replay_id = $3
		AND indexed_status = 'pending' AND id >= $4 AND id < $5),
			NOT EXISTS (SELECT FROM webhook_replay WHERE org_id = $1 AND endpoint_id = $2 AND completed_at IS NULL
			AND id < $3)`,
		[]any{
			tx.Org(), r.WebhookID, *r.ID, id.Floor(r.CreatedAt.Add(-skew)), id.Floor(time.Now().Add(skew)),
		}, &waiting, &first)
	if err != nil {
		return 0, fmt.Errorf("count deliveries: %w", err)
	}
	if !first {
		return 0, nil
	}
	return open - waiting, nil
}

// lockReplay locks a replay and reports whether its endpoint still wants it: not if the endpoint was archived, or
// disabled after the replay was requested.
func (s *Service) lockReplay(ctx context.Context, tx *postgres.Tx, replay id.ID) (r Replay, walked id.ID, wanted bool,
	err error,
) {
	rows, err := tx.Query(ctx, `
		SELECT r.id, r.endpoint_id, r.from_at, r.to_at, r.types, r.only_failed, r.status, r.events, r.sent,
		r.created_at, r.updated_at, r.completed_at,
			r.walked, e.archived_at IS NULL AND (e.enabled OR r.to_disabled)
		FROM webhook_replay r JOIN webhook_endpoint e ON e.org_id = r.org_id AND e.id = r.endpoint_id
		WHERE r.org_id = $1 AND r.id = $2 FOR UPDATE OF r`, tx.Org(), replay)
	if err != nil {
		return r, walked, false, err
	}
	r, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (Replay, error) {
		return scanReplay(row, &walked, &wanted)
	})
	return r, walked, wanted, err
}

func endReplay(tx *postgres.Tx, replay id.ID, status string) {
	tx.Queue(
		`UPDATE webhook_replay SET status = $3, updated_at = $4, completed_at = $4 WHERE org_id = $1 AND id = $2`,
		tx.Org(), replay, status, wire.Now())
}
