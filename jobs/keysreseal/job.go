// Package keysreseal re-encrypts, under the current key, what older keys have sealed.
package keysreseal

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty: the job is the platform's and covers all orgs.
type Args struct{}

// Kind is enqueued by the rotation that promotes a key. It works in small transactions and starts over after a kill.
// Completed rows are detected and skipped.
var Kind = queue.Define[Args]("keys.reseal", queue.Options{Lane: queue.Bulk, Timeout: 2 * time.Hour})
