package mailmetrics

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	every = 30 * time.Second
	limit = 5 * time.Second // of one count
)

// state is what the gauges show.
type state struct {
	Held, Disabled             float64
	Preparing, Sending, Paused float64
	InboundLag, TickLag        float64 // seconds
}

// stateSQL reads the tables of mailboxes and broadcasts, of which there are some for each org, and the first entries of
// the indexes by time.
const stateSQL = `
	SELECT m.held, m.disabled, b.preparing, b.sending, b.paused,
		coalesce(greatest(extract(epoch FROM now() - (SELECT min(next_sync_at) FROM mailbox_folder)), 0), 0),
		coalesce(greatest(extract(epoch FROM now() - (SELECT min(wake_at) FROM send_group
			WHERE wake_at IS NOT NULL)), 0), 0)
	FROM (SELECT count(*) FILTER (WHERE status = 'held' AND (held_until IS NULL OR held_until > now())) AS held,
			count(*) FILTER (WHERE status = 'disabled') AS disabled
		FROM mailbox WHERE archived_at IS NULL AND status IN ('held', 'disabled')) m,
		(SELECT count(*) FILTER (WHERE status = 'preparing') AS preparing,
			count(*) FILTER (WHERE status = 'sending') AS sending, count(*) FILTER (WHERE status = 'paused') AS paused
		FROM broadcast WHERE archived_at IS NULL AND status IN ('preparing', 'sending', 'paused')) b`

// Watch keeps the gauges up to date until ctx ends. While Postgres is unavailable they keep their values. It returns
// nil.
func (m *Metrics) Watch(ctx context.Context, system *postgres.DB, log *slog.Logger) error {
	tick := time.NewTicker(every)
	defer tick.Stop()

	for {
		if err := m.countTables(ctx, system); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "failed to count mails", "error", err)
		}

		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (m *Metrics) countTables(ctx context.Context, system *postgres.DB) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var s state
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		rows, err := tx.Query(ctx, stateSQL)
		if err != nil {
			return err
		}
		s, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[state])
		return err
	})
	if err != nil {
		return fmt.Errorf("count mails: %w", err)
	}

	m.setGauges(&s)

	return nil
}
