// Package scoretrain learns an org's scoring model from its deals.
//
// It is asked for when a deal is won or lost, and each night. A deal asks for it some minutes ahead and once at a time, so that
// an import of deals is one training. The night's asks find who has outcomes that no training has seen.
package scoretrain

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args say whether to learn though the outcomes have hardly grown: somebody asks.
type Args struct {
	Anyway bool `json:"anyway,omitempty"`
}

// Kind learns and, by the outcome of the contest, promotes. It computes outside any transaction; the version is written
// together with the job's end, so that each run leaves one version or none.
var Kind = queue.Define[Args]("score.train", queue.Options{Lane: queue.Bulk, MaxAttempts: 4, Timeout: 4 * time.Minute})

// Ask is how such a training is asked for: now, or, by a deal that has ended, some minutes ahead, so that one training is enough for all that
// end until then. One that waits already is enough, too.
func (a Args) Ask() []queue.Adding {
	if a.Anyway {
		return []queue.Adding{queue.Dedupe("score.train asked")}
	}
	return []queue.Adding{queue.At(time.Now().Add(soon)), queue.Dedupe("score.train soon")}
}

const soon = 2 * time.Minute

// NightArgs are none: the job is the platform's own.
type NightArgs struct{}

// Night asks for a training of each org that has outcomes that no training has seen.
var Night = queue.Define[NightArgs]("score.train_night", queue.Options{Lane: queue.Bulk, MaxAttempts: 3, Timeout: 5 * time.Minute})
