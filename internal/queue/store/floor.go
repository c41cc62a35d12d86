package store

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// PublishFloor publishes the time before which no row has its wake_at. job_wake counts slots from there on, so that it
// does not visit the rows of ended jobs, which Postgres keeps in the index while anybody's old snapshot may see them. A
// row that is missed makes the count of slots too low, and harms nothing else.
//
// A floor is a new row, because the versions of an updated one could not be removed either. Readers take the highest.
func (s *Store) PublishFloor(ctx context.Context, at time.Time) error {
	err := s.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		tx.Queue(`INSERT INTO job_floor (at) VALUES ($1) ON CONFLICT DO NOTHING`, at)
		tx.Queue(`DELETE FROM job_floor WHERE at <> $1`, at)
		return nil
	})
	if err != nil {
		return fmt.Errorf("publish the floor of slots: %w", err)
	}
	return nil
}
