// Package scoretrain trains an org's scoring model on its deals.
//
// A training is enqueued when a deal is won or lost, and each night. A deal enqueues it some minutes ahead with a
// dedupe key, so that an import of deals causes one training. The nightly job (jobs/scoretrainnight) finds the orgs
// with outcomes that no training has used.
package scoretrain

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args reports whether to train although there are hardly any new outcomes, because a user asked for it.
type Args struct {
	Anyway bool `json:"anyway,omitempty"`
}

// Kind trains a model and promotes it if it wins the comparison. It computes outside any transaction. The version is
// written in the transaction that ends the job, so each run leaves one version or none.
var Kind = queue.Define[Args]("score.train", queue.Options{Lane: queue.Bulk, MaxAttempts: 4, Timeout: 4 * time.Minute})

// Ask returns the options for enqueueing a training: now if a user asked for it, or some minutes ahead after a deal has
// ended, so that one training covers all deals that end until then. A waiting training makes another one unnecessary.
func (a Args) Ask() []queue.Adding {
	if a.Anyway {
		return []queue.Adding{queue.Dedupe("score.train asked")}
	}
	return []queue.Adding{queue.In(soon), queue.Dedupe("score.train soon")}
}

const soon = 2 * time.Minute
