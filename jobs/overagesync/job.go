// Package overagesync makes the payment processor charge for just the client orgs above an agency's number.
package overagesync

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args are none. The platform's own job looks for agencies whose quantity is off and asks for one job of each.
type Args struct{}

// Kind is asked for by the timetable, often enough that a quantity is right within a minute.
var Kind = queue.Define[Args]("billing.overage", queue.Options{Lane: queue.Critical, MaxAttempts: 3, Timeout: time.Minute})
