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
)

// Job delivers.
type Job struct {
	DB      *postgres.DB // App role
	Hooks   *webhooks.Service
	Client  *outbound.Client
	Metrics *Metrics // nil: none are kept
}

// Handler ties the job to its kind.
func (j *Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work makes one try. It answers nil when the delivery is over, well or not, and an error with the wait until
// the next try otherwise; the tenth failure's error makes the job dead, where an operator can see it.
func (j *Job) Work(ctx context.Context, run *queue.Run[Args]) error {
	var p *webhooks.Parcel
	err := j.DB.View(ctx, run.Org, func(tx *postgres.Tx) (err error) {
		p, err = j.Hooks.Load(ctx, tx, run.Args.Delivery)
		return err
	})
	if postgres.None(err) {
		return nil // purged meanwhile
	}
	if err != nil {
		return err
	}
	if !p.Wanted {
		run.Effect(func(_ context.Context, tx *postgres.Tx) error {
			j.Hooks.Discard(tx, p.Delivery)
			return nil
		})
		j.Metrics.ended(string(webhooks.Discarded))
		return nil
	}
	o := j.try(ctx, p, run)
	if ctx.Err() != nil {
		return fmt.Errorf("deliver webhook: %w", ctx.Err()) // cut off by us: no attempt of the receiver's
	}
	run.Effect(func(ctx context.Context, tx *postgres.Tx) error { return j.Hooks.Record(ctx, tx, p, o) })
	j.Metrics.tried(p, &o)
	switch o.Status {
	case webhooks.Failed:
		return queue.RetryIn(errors.New(o.Error), time.Until(o.Next))
	case webhooks.Exhausted:
		if p.Test() {
			return nil
		}
		return errors.New(o.Error)
	default:
		return nil
	}
}

// try sends the parcel and judges the answer.
func (j *Job) try(ctx context.Context, p *webhooks.Parcel, run *queue.Run[Args]) webhooks.Outcome {
	o := webhooks.Outcome{Started: time.Now()}
	o.Header = webhooks.Headers(p.Secrets, p.EventID.String(), o.Started, p.Body)
	o.Answer = j.Client.Post(ctx, p.URL, o.Header, p.Body)
	judge(&o, p.Test() || run.Last(), run.Attempt)
	return o
}

// judge fills in what an answer means: 2xx is success, 410 the end of the endpoint, all else a failure.
func judge(o *webhooks.Outcome, final bool, attempt int) {
	code := o.Answer.Status
	switch {
	case o.Answer.Err != nil:
		o.Class, o.Error = string(o.Answer.Err.Class), o.Answer.Err.Sentence()
	case code >= 200 && code <= 299:
		o.Status = webhooks.Delivered
		return
	case code == http.StatusGone:
		o.Class, o.Error, o.Gone = "gone", "The receiver answered 410 and wants no more.", true
		o.Status = webhooks.Discarded
		return
	case code >= 300 && code <= 399:
		o.Class, o.Error = "redirect", fmt.Sprintf("The receiver answered %d: redirects are not followed.", code)
	default:
		o.Class, o.Error = "http_status", fmt.Sprintf("The receiver answered %d.", code)
	}
	if final {
		o.Status = webhooks.Exhausted
		return
	}
	o.Status = webhooks.Failed
	now := time.Now()
	o.Next = now.Add(wait(attempt, o.Answer.Header, now))
}
