package feed

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Round is T2: it assigns slots to at most limit waiting jobs of a lane that are due. Each slot goes to the org that
// holds the fewest for its weight, within that org to the concurrency key that holds the fewest, and within that key to
// the job that was due first. The caller must push the returned jobs. Round returns nothing while another feeder feeds
// the lane or while the lane is paused.
func (f *Feeder) Round(ctx context.Context, lane queue.Lane, limit int) ([]queue.Ref, error) {
	var r round
	err := f.store.System.Tx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		r = round{
			lane: lane, tx: tx, feeder: f, turns: map[[2]id.ID]int{}, rated: map[[2]id.ID]*pace{},
			advanceRate: map[[2]id.ID]float64{},
		}
		if err := r.readGroups(ctx, limit); err != nil {
			return err
		}
		for range feedTries {
			if allocateSlots(r.orgs, limit-len(r.fed)) == 0 {
				break
			}
			if err := r.pickJobs(ctx); err != nil {
				return err
			}
		}
		r.storePaces()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.inTurn(), nil
}
