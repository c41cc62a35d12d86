package webhookdeliver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args name the delivery, whose id is also the job's. events.Announce writes them.
type Args = events.Deliver

// Kind is one delivery. Its tries are those of the plan; a killed worker and a lost lease cost none.
var Kind = queue.Define[Args](events.DeliverKind, queue.Options{
	Lane: queue.Webhooks, MaxAttempts: events.DeliverAttempts, Timeout: 30 * time.Second, Backoff: Backoff,
})

// plan is Standard Webhooks' schedule: the wait after each failed try, 75 hours and a half in all.
var plan = [events.DeliverAttempts - 1]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Backoff is the wait after the failed'th failure, from 1, up to a fifth shorter or longer, so that a thousand
// endpoints that failed together do not come back together.
func Backoff(failed int) time.Duration {
	return queue.Jitter(plan[min(max(failed, 1), len(plan))-1], 0.2)
}

// lasts is how long the plan takes at most. A delivery that an open circuit has kept back for longer is ended by the
// next probe that is made with it, so that every delivery comes to an end.
const lasts = 91 * time.Hour

// maxRetryAfter is the longest wait that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// wait is Backoff, or what the receiver asked for with Retry-After and up to a fifth more.
func wait(failed int, h http.Header, now time.Time) time.Duration {
	asked := retryAfter(h, now)
	if asked <= 0 {
		return Backoff(failed)
	}
	asked = min(asked, maxRetryAfter)
	return queue.Jitter(asked+asked/10, 1.0/11) // asked to 1.2 x asked
}

// retryAfter reads Retry-After as seconds or as a date (RFC 9110 section 10.2.3); 0 if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil { // a float, because a number too large must not wrap
		return time.Duration(min(n, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return at.Sub(now)
	}
	return 0
}
