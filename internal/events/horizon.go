package events

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// HorizonPublisher lets the feeds pass transactions that are not ours. A feed ends before the oldest open transaction,
// which may be somebody's psql. While that one stays the same, Publish publishes the oldest of our own, also to
// standbys. Several processes may publish. Migration 0132 has the rules.
//
// A HorizonPublisher is not safe for concurrent use.
type HorizonPublisher struct {
	DB *postgres.DB // System role

	oldest int64 // open transaction at the last call
}

// Publish is to be called a few times a second. Without an open transaction that lasts, it writes nothing.
func (p *HorizonPublisher) Publish(ctx context.Context) error {
	err := p.DB.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`SELECT publish_event_horizon($1)`, p.oldest).QueryRow(func(row pgx.Row) error {
			return row.Scan(&p.oldest)
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("publish the horizon of events: %w", err)
	}
	return nil
}
