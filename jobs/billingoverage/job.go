// Package billingoverage makes the payment processor charge for exactly the client orgs above an agency's included
// number.
package billingoverage

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args is empty. The platform's job finds agencies with a wrong quantity and enqueues one job for each.
type Args struct{}

// Kind is enqueued by the timetable often enough to correct a quantity within a minute.
var Kind = queue.Define[Args]("billing.overage",
	queue.Options{Lane: queue.Critical, MaxAttempts: 3, Timeout: time.Minute})
