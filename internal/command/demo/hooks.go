package demo

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
)

// endpoints is the number of webhooks of a fill.
const endpoints = 3

// The webhooks. The first two have a history; the third begins to fail after the fill.
var (
	mirror = webhooks.New{
		Description: "Mirror of contacts and deals", URL: "mirror", Enabled: true,
		Events: []string{
			"contact.created", "contact.updated", "contact.tagged", "deal.created", "deal.stage_changed", "deal.won",
			"deal.lost",
		},
	}
	archive = webhooks.New{
		Description: "Data warehouse, was down for five days", URL: "warehouse", Enabled: true,
		Events: []string{"deal.created", "deal.won", "deal.lost", "task.completed"},
	}
	failing = webhooks.New{
		Description: "Staging server, answers 503", URL: inbox.Failing, Enabled: true,
		Events: []string{"contact.tagged"},
	}
)

// downFor is how long the warehouse was down: too short for the endpoint to be disabled, and long enough for the
// deliveries of the first day to be exhausted.
const downFor = 114 * time.Hour

// downFrom returns when the warehouse went down: at the start of a Tuesday, since deals are won on working days, two to
// three weeks before the end of the plan.
func downFrom(until time.Time) time.Time {
	at := until.UTC().Truncate(24*time.Hour).AddDate(0, 0, -14)
	for at.Weekday() != time.Tuesday {
		at = at.AddDate(0, 0, -1)
	}
	return at
}

// settled is the age after which deliveries are written. Every attempt of such a delivery is in the past: either the
// second one succeeds, or the endpoint was down.
const settled = time.Hour

// writeDeliveries writes the deliveries of the chunk's events to the webhooks that have a history.
func (c *chunk) writeDeliveries() error {
	var all []webhooks.PastDelivery
	now := time.Now()
	down := downFrom(c.Until.Time)
	for n := range c.past {
		e := &c.past[n]
		if age := now.Sub(e.At.Time); age > events.FeedAge || age < settled {
			continue
		}
		if slices.Contains(mirror.Events, e.Type()) {
			all = append(all, c.pastDelivery(e, n*endpoints, c.Mirror, nil))
		}
		if slices.Contains(archive.Events, e.Type()) {
			all = append(all, c.pastDelivery(e, n*endpoints+1, c.Archive, func(at time.Time) bool {
				return at.After(down) && at.Before(down.Add(downFor))
			}))
		}
	}

	return webhooks.RecordPast(c.tx, all)
}

// pastDelivery returns the delivery of an event of the chunk with number n, which no other delivery of the chunk has.
// Its attempts fail while the endpoint is down, and the first one of a few other deliveries fails, too.
func (c *chunk) pastDelivery(e *events.Past, n int, endpoint id.ID, down func(time.Time) bool) webhooks.PastDelivery {
	seed := c.rowID(deliveryRow, c.Step, n, e.At.Time)
	r := rand.New(rand.NewPCG(c.Progress.Seed, uint64(seed[14])<<8|uint64(seed[15]))) //nolint:gosec // no secret
	at := e.At.Add(time.Duration(4+r.IntN(30)) * time.Millisecond)
	d := webhooks.PastDelivery{ID: seed, Endpoint: endpoint, Event: e.ID, EventType: e.Type(), At: e.At}
	flaky := r.IntN(100) < 3
	for failed := 0; failed < events.DeliverAttempts; {
		a := webhooks.PastAttempt{
			ID: c.rowID(attemptRow, c.Step, n*events.DeliverAttempts+failed, at), At: wire.At(at),
			Took: time.Duration(20+r.IntN(180)) * time.Millisecond,
		}
		switch {
		case down != nil && down(at):
			a.Class = outbound.Connect
			a.Error = "The connection could not be established."
			a.Took = 3 * time.Millisecond
		case flaky && failed == 0:
			a.Status = 502
			a.Answer = "bad gateway"
		default:
			a.Status = 200
			a.Answer = "ok"
		}

		if d.Attempts = append(d.Attempts, a); a.Status == 200 {
			break
		}

		failed++
		delay := webhookdeliver.Delay(failed)
		at = at.Add(delay + time.Duration(r.Int64N(int64(delay)/5+1)))
	}

	return d
}
