package webhookhealth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/jobs/webhooknotify"
)

// batch is how many endpoints one job reviews; the job of the next minute continues.
const batch = 500

// Job has the dependencies of the work.
type Job struct {
	App, System *postgres.DB
	Hooks       *webhooks.Service
	Log         *slog.Logger
}

// Handler returns the kind's handler.
func (j Job) Handler() queue.Handler { return Kind.Handle(j.Work) }

// Work reviews every due endpoint. A failed review does not delay the other endpoints.
func (j Job) Work(ctx context.Context, _ *queue.Run[Args]) error {
	var due []webhooks.Ref
	err := j.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) (err error) {
		due, err = webhooks.Overdue(ctx, tx, batch)
		return err
	})
	if err != nil {
		return err
	}

	var errs []error
	for _, r := range due {
		if err := j.reviewEndpoint(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("webhook %s: %w", r.Endpoint, err))
		}
	}

	return errors.Join(errs...)
}

func (j Job) reviewEndpoint(ctx context.Context, r webhooks.Ref) error {
	var (
		disabled bool
		percent  int
	)
	err := j.App.Tx(ctx, r.Org, func(tx *postgres.Tx) (err error) {
		disabled, percent, err = j.Hooks.Review(ctx, tx, r.Endpoint)
		switch {
		case err != nil:
			return err
		case disabled:
			return webhooknotify.Kind.Add(ctx, tx,
				webhooknotify.Args{Endpoint: r.Endpoint, What: webhooknotify.Disabled})
		case percent > 0:
			return webhooknotify.Kind.Add(ctx, tx,
				webhooknotify.Args{Endpoint: r.Endpoint, What: webhooknotify.Failing, Percent: percent})
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case disabled:
		j.Log.WarnContext(ctx, "webhook disabled after five days of failures", "org_id", r.Org.String(), "webhook_id",
			r.Endpoint.String())
	case percent > 0:
		j.Log.WarnContext(ctx, "webhook will be disabled if it keeps failing", "org_id", r.Org.String(),
			"webhook_id", r.Endpoint.String(), "percent", percent)
	}

	return nil
}
