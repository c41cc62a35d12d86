package sync

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// courtesy is how long an event leaves a change to the request that made it.
const courtesy = 30 * time.Second

// Waiting reports whether an org has a change in flight that is younger than the longest request. An event for the org
// then leaves the change to the request that made it.
func (s *Service) Waiting(ctx context.Context, org id.ID) (bool, error) {
	var waits bool
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) error {
		return tx.QueryRow(ctx,
			`SELECT EXISTS (SELECT FROM plan_change WHERE org_id = $1 AND state = 'in_flight' AND created_at > $2)`,
			[]any{org, s.Timestamp().Add(-courtesy)}, &waits)
	})
	return waits, err
}

// ErrLater reports that a change is in flight and that its own request is about to close it. Retry the event shortly.
var ErrLater = errors.New("a change is in flight")

// Work processes an event of an org. Regardless of the event's data, it reads the org's subscription, or the part of
// its connected account that the event is about, from Stripe and applies it. An event without an org is marked as
// ignored. Work returns ErrLater while a request of the org is changing its plan.
func (s *Service) Work(ctx context.Context, org id.ID, event string) error {
	var e *billing.Event
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		e, err = billing.ReadEvent(ctx, tx, event)
		return err
	})
	if err != nil || e == nil || e.Worked {
		return err
	}

	mark := func(outcome string) func(context.Context, *postgres.Tx) error {
		return func(ctx context.Context, tx *postgres.Tx) error { return billing.Done(ctx, tx, event, outcome) }
	}
	if org.IsZero() {
		return ignoreWorked(s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) }))
	}
	if e.Connect {
		return ignoreWorked(s.connect.WorkEvent(ctx, org, e, mark))
	}
	if strings.HasPrefix(e.Type, "application_fee.") {
		return ignoreWorked(s.connect.WorkFee(ctx, org, e, mark))
	}

	waits, err := s.Waiting(ctx, org)
	if err != nil {
		return err
	}
	if waits {
		return ErrLater
	}

	_, err = s.Refresh(ctx, org, billing.ByEvent, mark("applied"))

	return ignoreWorked(err)
}

func ignoreWorked(err error) error {
	if errors.Is(err, billing.ErrWorked) {
		return nil
	}
	return err
}
