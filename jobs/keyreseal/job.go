// Package keyreseal seals anew, under the key of today, what older keys have sealed.
package keyreseal

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none: the job is the platform's own and goes through all orgs.
type Args struct{}

// Kind is asked for by the rotation that promotes a key. It goes on in small transactions, and from the start after a
// kill: what is done is found done.
var Kind = queue.Define[Args]("keys.reseal", queue.Options{Lane: queue.Bulk, Timeout: 2 * time.Hour})
