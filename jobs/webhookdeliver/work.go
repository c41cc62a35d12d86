package webhookdeliver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/telemetry/spans"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhooknotify"
)

// Job delivers webhooks. Its runs must come from Handler.
type Job struct {
	DB      *postgres.DB // App role
	Hooks   *webhooks.Service
	Client  *outbound.Client
	Metrics *Metrics // may be nil

	loads *loads // set by Handler
}

// Handler returns the kind's handler.
func (j *Job) Handler() queue.Handler {
	j.loads = newLoads(j.Hooks, j.DB)
	return Kind.Handle(j.Work)
}

// Work makes one attempt. It returns nil when the delivery is over, successful or not. Otherwise it returns an error
// with the delay until the next attempt. The tenth failure's error makes the job dead, where an operator can see it.
// While the endpoint's circuit is open, only one probe at a time is sent, and no attempt is spent.
func (j *Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	p, err := j.loads.readDelivery(ctx, run.Org, run.Args.Delivery)
	if p == nil || err != nil {
		return err // deleted meanwhile, or Postgres is unavailable
	}
	if !p.Wanted {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			j.Hooks.Discard(tx, p.Delivery)
			return nil
		})
		j.Metrics.countEnding(string(webhooks.Discarded))
		return nil
	}
	if err := beginEndpointCall(run, p); err != nil {
		return err
	}

	probe := false
	if p.Held && !p.ByHand() {
		var wait time.Duration
		if probe, wait, err = j.Hooks.Admit(ctx, j.DB, run.Org, p.Endpoint); err != nil {
			return err
		}
		if wait > 0 {
			run.Effect(func(_ context.Context, tx *postgres.Tx) error {
				j.Hooks.Hold(tx, p.Endpoint, wait)
				return nil
			})
			return queue.Snooze(wait)
		}
		p.Held = probe // false if the circuit was closed meanwhile
	}
	o := j.sendRequest(ctx, p, run, probe)
	if ctx.Err() != nil {
		return fmt.Errorf("deliver webhook: %w", ctx.Err()) // cancelled by us: does not count as an attempt
	}
	if success, plain := webhooks.AsSuccess(p, &o); plain {
		run.EffectBatch(j.Hooks, success)
	} else {
		run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return j.recordAttempt(ctx, tx, p, o) })
	}
	j.Metrics.countAttempt(ctx, p, &o)
	return jobResult(p, &o)
}

// beginEndpointCall counts the call of the receiver. If it may not begin, the endpoint's other deliveries wait as long
// as this one.
func beginEndpointCall(run *queue.Run[Args], p *webhooks.DeliveryRequest) error {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil //nolint:nilerr // the client refuses the URL
	}
	err = run.BeginCall(u.Host)
	if d, ok := queue.SnoozeOf(err); ok {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			queue.DelayKey(tx, p.Endpoint, d)
			return nil
		})
	}
	return err
}

// recordAttempt writes the attempt, and enqueues the mails if it disabled the endpoint.
func (j *Job) recordAttempt(ctx context.Context, tx *postgres.Tx, p *webhooks.DeliveryRequest,
	o webhooks.Outcome,
) error {
	disabled, err := j.Hooks.Record(ctx, tx, p, o)
	if err != nil || !disabled {
		return err
	}
	return webhooknotify.Kind.Add(ctx, tx, webhooknotify.Args{Endpoint: p.Endpoint, What: webhooknotify.Disabled})
}

// jobResult returns the result of the job.
func jobResult(p *webhooks.DeliveryRequest, o *webhooks.Outcome) error {
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

// sendRequest sends the request and interprets the response.
func (j *Job) sendRequest(ctx context.Context, p *webhooks.DeliveryRequest, run *queue.Run[Args],
	probe bool,
) webhooks.Outcome {
	o := webhooks.Outcome{Started: time.Now(), Probe: probe}
	o.Header = webhooks.Headers(p.Secrets, p.EventID.String(), o.Started, p.Body)
	ctx, span := startSpan(ctx, p)
	if above := spans.Traceparent(ctx); above != "" {
		o.Header.Set(webhooks.TraceHeader, above)
	}
	done := j.Metrics.beginAttempt()
	o.Answer = j.Client.Post(ctx, p.URL, o.Header, p.Body)
	done()
	endSpan(span, &o.Answer)
	final := p.Test() || run.Last()
	if probe {
		final = o.Started.Sub(p.Made) > lasts
	}
	judgeResponse(&o, final, run.Attempt)
	return o
}

// judgeResponse interprets a response: 2xx is a success, 410 disables the endpoint, everything else is a failure.
func judgeResponse(o *webhooks.Outcome, final bool, attempt int) {
	code := o.Answer.Status
	switch {
	case o.Answer.Err != nil:
		o.Class = string(o.Answer.Err.Class)
		o.Error = o.Answer.Err.Sentence()
		o.Down = true
	case code >= 200 && code <= 299:
		o.Status = webhooks.Delivered
		return
	case code == http.StatusGone:
		o.Class = webhooks.Gone
		o.Error = "The receiver answered 410 and wants no more."
		o.Gone = true
		o.Status = webhooks.Discarded
		return
	case code >= 300 && code <= 399:
		o.Class = webhooks.Redirected
		o.Error = fmt.Sprintf("The receiver answered %d: redirects are not followed.", code)
	default:
		o.Class = webhooks.Refused
		o.Error = fmt.Sprintf("The receiver answered %d.", code)
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
		o.Status = webhooks.Failed
		o.Next = now.Add(max(webhooks.ProbeEvery, o.Asked))
	default:
		o.Status = webhooks.Failed
		o.Next = now.Add(retryDelay(attempt, o.Answer.Header, now))
	}
}

// Hook keeps deliveries consistent with their jobs: a delivery is exhausted when its job is dead or was dropped, and
// has another attempt planned when an operator runs its job again.
func Hook() queue.Hook {
	return Kind.Hook(deliveryWriter(webhooks.Stopped), deliveryWriter(webhooks.Revived))
}

func deliveryWriter(write func(*postgres.Tx, []id.ID)) func(context.Context, *postgres.Tx, []Args) error {
	return func(_ context.Context, tx *postgres.Tx, all []Args) error {
		ids := make([]id.ID, len(all))
		for i, a := range all {
			ids[i] = a.Delivery
		}
		write(tx, ids)
		return nil
	}
}
