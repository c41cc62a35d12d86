// Package webhookdeliver sends one event to one endpoint: it signs, POSTs, records the attempt and schedules the next
// one.
//
// # Why a call-out kind
//
// The POST cannot be undone, so it is made outside any transaction. The attempt, the delivery's status and the
// completion or next run of the job are written in one transaction after it. If a worker dies in between, nothing is
// recorded: the job runs again, and the receiver gets the same webhook-id. Delivery is at least once.
//
// Runs that begin together read their deliveries in one round trip (loads.go). Runs that succeeded share the
// transaction that ends them (webhooks.Success).
//
// # The states of an endpoint
//
//	healthy --a failure--> failing --5 in a row within a minute, or Retry-After--> open
//	   ^                      |                                                     |  30 s
//	   |<------a success------+                                                     v
//	   |<----------------a response to the probe------------------------------- probing
//	   |                                                                            |
//	   |                                                  no response, 429 or 5xx: open again
//	   |
//	   +--manually-- disabled <--410, or 5 days of nothing but failures of at least 20 events-- any
//
// Failing: each failure spends one of the delivery's ten attempts, at the plan's times. Only failures of the endpoint
// itself (no response, 429 and 5xx) count for the circuit; all failures count for the five-day rule.
//
// Open: waiting deliveries keep their place and spend no attempt. Every 30 s, and less often after a long outage, one
// delivery is sent as a probe. A failed probe is logged as a probe and does not count as an attempt. Tests and manual
// redeliveries are sent anyway. A delivery that was held for longer than its whole plan ends with its next probe, so
// that every delivery ends.
//
// Disabled: waiting deliveries are discarded when they run. Enabling the endpoint, or changing its URL, resets its
// state.
//
// The state is a row of webhook_health, evaluated with the database's clock. internal/webhooks/health.go has the rules,
// jobs/webhookhealth the five-day rule, jobs/webhooknotify the mails.
package webhookdeliver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args identifies the delivery. The delivery's id is also the job's. events.Announce writes the arguments.
type Args = events.Deliver

// Kind is one delivery, under the name events.DeliverKind. Its attempts follow the plan; a killed worker and a lost
// lease spend none.
var Kind = queue.Define[Args]("webhook.deliver", queue.Options{
	Lane: queue.Webhooks, MaxAttempts: events.DeliverAttempts, Timeout: 30 * time.Second, Backoff: Backoff,
})

// plan is the schedule of Standard Webhooks: the delay after each failed attempt, 75.5 hours in all.
var plan = [events.DeliverAttempts - 1]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// Backoff returns the delay after failure number failed, from 1, with up to a fifth of jitter, so that many endpoints
// that failed together do not retry together.
func Backoff(failed int) time.Duration { return queue.Jitter(Delay(failed), 0.2) }

// Delay is Backoff without jitter.
func Delay(failed int) time.Duration { return plan[min(max(failed, 1), len(plan))-1] }

// lasts is the longest duration of the plan. A delivery that an open circuit has held for longer ends with its next
// probe, so that every delivery ends.
const lasts = 91 * time.Hour

// maxRetryAfter is the longest delay that a receiver may request.
const maxRetryAfter = 24 * time.Hour

// retryDelay returns the delay that the receiver requested with Retry-After plus up to a fifth, or else Backoff.
func retryDelay(failed int, h http.Header, now time.Time) time.Duration {
	asked := retryAfter(h, now)
	if asked <= 0 {
		return Backoff(failed)
	}
	asked = min(asked, maxRetryAfter)
	return queue.Jitter(asked+asked/10, 1.0/11) // asked to 1.2 * asked
}

// retryAfter parses Retry-After as seconds or as a date (RFC 9110 section 10.2.3). It returns 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil { // a float, because a large number must not overflow
		return time.Duration(min(n, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return at.Sub(now)
	}
	return 0
}
