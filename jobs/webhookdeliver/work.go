package webhookdeliver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhooktell"
)

// Job delivers. It is not copied after its first use.
type Job struct {
	DB      *postgres.DB // App role
	Hooks   *webhooks.Service
	Client  *outbound.Client
	Metrics *Metrics // nil: none are kept

	loads loads
}

// Handler ties the job to its kind.
func (j *Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one try. It answers nil when the delivery is over, well or not, and an error with the wait until
// the next try otherwise; the tenth failure's error makes the job dead, where an operator can see it. While the
// endpoint's circuit is open nothing but one probe at a time is sent, and no try is spent.
func (j *Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	p, err := j.loads.get(ctx, j.Hooks, j.DB, run.Org, run.Args.Delivery)
	if p == nil || err != nil {
		return err // purged meanwhile, or Postgres is away
	}
	if !p.Wanted {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			j.Hooks.Discard(tx, p.Delivery)
			return nil
		})
		j.Metrics.ended(string(webhooks.Discarded))
		return nil
	}
	probe := false
	if p.Held && !p.ByHand() {
		var wait time.Duration
		if probe, wait, err = j.Hooks.Admit(ctx, j.DB, run.Org, p.Endpoint); err != nil {
			return err
		}
		if wait > 0 {
			run.Effect(func(_ context.Context, tx *postgres.Tx) error { j.Hooks.Hold(tx, p.Endpoint, wait); return nil })
			return queue.Snooze(wait)
		}
		p.Held = probe // or it was closed since
	}
	o := j.try(ctx, p, run, probe)
	if ctx.Err() != nil {
		return fmt.Errorf("deliver webhook: %w", ctx.Err()) // cut off by us: no attempt of the receiver's
	}
	if success, plain := webhooks.Plain(p, &o); plain {
		run.Share(j.Hooks, success)
	} else {
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return j.record(ctx, tx, p, o) })
	}
	j.Metrics.tried(p, &o)
	return verdict(p, &o)
}

// record writes the try, and asks for the mails where it disabled the endpoint.
func (j *Job) record(ctx context.Context, tx *postgres.Tx, p *webhooks.Parcel, o webhooks.Outcome) error {
	disabled, err := j.Hooks.Record(ctx, tx, p, o)
	if err != nil || !disabled {
		return err
	}
	return webhooktell.Kind.Add(ctx, tx, webhooktell.Args{Endpoint: p.Endpoint, What: webhooktell.Disabled})
}

// verdict is what the job comes to.
func verdict(p *webhooks.Parcel, o *webhooks.Outcome) error {
	switch {
	case o.Status == webhooks.Failed && o.Probe:
		return queue.Snooze(time.Until(o.Next))
	case o.Status == webhooks.Failed:
		return queue.RetryIn(errors.New(o.Error), time.Until(o.Next))
	case o.Status == webhooks.Exhausted && !p.Test():
		if o.Probe {
			return queue.Drop(errors.New(o.Error))
		}
		return errors.New(o.Error)
	default:
		return nil
	}
}

// try sends the parcel and judges the answer.
func (j *Job) try(ctx context.Context, p *webhooks.Parcel, run *queue.Run[Args], probe bool) webhooks.Outcome {
	o := webhooks.Outcome{Started: time.Now(), Probe: probe}
	o.Header = webhooks.Headers(p.Secrets, p.EventID.String(), o.Started, p.Body)
	done := j.Metrics.begin()
	o.Answer = j.Client.Post(ctx, p.URL, o.Header, p.Body)
	done()
	final := p.Test() || run.Last()
	if probe {
		final = o.Started.Sub(p.Made) > lasts
	}
	judge(&o, final, run.Attempt)
	return o
}

// judge fills in what an answer means: 2xx is success, 410 the end of the endpoint, all else a failure.
func judge(o *webhooks.Outcome, final bool, attempt int) {
	code := o.Answer.Status
	switch {
	case o.Answer.Err != nil:
		o.Class, o.Error, o.Down = string(o.Answer.Err.Class), o.Answer.Err.Sentence(), true
	case code >= 200 && code <= 299:
		o.Status = webhooks.Delivered
		return
	case code == http.StatusGone:
		o.Class, o.Error, o.Gone = webhooks.Gone, "The receiver answered 410 and wants no more.", true
		o.Status = webhooks.Discarded
		return
	case code >= 300 && code <= 399:
		o.Class, o.Error = webhooks.Redirected, fmt.Sprintf("The receiver answered %d: redirects are not followed.", code)
	default:
		o.Class, o.Error = webhooks.Refused, fmt.Sprintf("The receiver answered %d.", code)
		o.Down = code >= 500 || code == http.StatusTooManyRequests
	}
	now := time.Now()
	if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
		o.Asked = min(retryAfter(o.Answer.Header, now), maxRetryAfter)
	}
	switch {
	case final:
		o.Status = webhooks.Exhausted
	case o.Probe:
		o.Status, o.Next = webhooks.Failed, now.Add(max(webhooks.ProbeEvery, o.Asked))
	default:
		o.Status, o.Next = webhooks.Failed, now.Add(wait(attempt, o.Answer.Header, now))
	}
}
