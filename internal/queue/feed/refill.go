package feed

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// A concurrency key has few slots and its runs may be short, so it would spend most of its time waiting for the next
// round of the feeder. A refill is a round for only the orgs in which a run has just ended, under the same lock and by
// the same rules. It serves an org only if the last round saw all of the org's groups and gave every org all that it
// may have. A refill therefore takes no slot that is due to another org, and skips no key.
const refillOrgs = 30 // orgs per refill

// Refill is Round for those orgs for which Short returns true. later is the orgs to pass again, because another feeder
// feeds the lane or because there were too many for one refill.
func (f *Feeder) Refill(ctx context.Context, lane queue.Lane, limit int, orgs []id.ID) (refs []queue.Ref,
	later []id.ID, err error,
) {
	orgs = slices.DeleteFunc(slices.Clone(orgs), func(org id.ID) bool { return !f.Short(lane, org) })
	now := orgs[:min(len(orgs), refillOrgs)]
	if len(now) == 0 || limit <= 0 {
		return nil, nil, nil
	}
	refs, busy, err := f.feed(ctx, lane, limit, now)
	if err != nil || busy {
		return nil, orgs, err
	}
	return refs, orgs[len(now):], nil
}
