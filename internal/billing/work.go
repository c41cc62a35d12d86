package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// ErrLater reports that a change is in flight and that its own request is about to close it. Retry the event shortly.
var ErrLater = errors.New("a change is in flight")

// Event is a stored event.
type Event struct {
	ID, Type, Account, Customer, Object string
	Connect                             bool
	CreatedAt                           time.Time
	Payload                             []byte
	Worked                              bool
}

// ReadEvent returns an event of tx's org, or nil if there is none, for example because its retention is over.
func ReadEvent(ctx context.Context, tx *postgres.Tx, event string) (*Event, error) {
	e := &Event{ID: event}
	err := tx.QueryRow(ctx,
		`SELECT type, account, customer, object_id, connect, created_at, payload, worked_at IS NOT NULL
			FROM stripe_event WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), event}, &e.Type, &e.Account, &e.Customer, &e.Object, &e.Connect, &e.CreatedAt, &e.Payload,
		&e.Worked)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // nothing to do is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

// errWorked aborts a transaction because the event was already processed.
var errWorked = errors.New("event was already processed")

// Done marks an event as processed, in the transaction of its effect. Of two concurrent workers, one gets an error and
// its effect is rolled back.
func Done(ctx context.Context, tx *postgres.Tx, event, outcome string) error {
	n, err := tx.Exec(ctx,
		`UPDATE stripe_event SET worked_at = now(), outcome = $3 WHERE org_id = $1 AND id = $2 AND worked_at IS NULL`,
		tx.Org(), event, outcome)
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if n == 0 {
		return errWorked
	}
	return nil
}

// Work processes an event of an org. Regardless of the event's data, it reads the org's subscription, or the part of
// its connected account that the event is about, from Stripe and applies it. An event without an org is marked as
// ignored. Work returns ErrLater while a request of the org is changing its plan.
func (s *Service) Work(ctx context.Context, org id.ID, event string) error {
	var e *Event
	err := s.App.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		e, err = ReadEvent(ctx, tx, event)
		return err
	})
	if err != nil || e == nil || e.Worked {
		return err
	}
	mark := func(outcome string) func(context.Context, *postgres.Tx) error {
		return func(ctx context.Context, tx *postgres.Tx) error { return Done(ctx, tx, event, outcome) }
	}
	if org.IsZero() {
		return worked(s.App.Tx(ctx, org, func(tx *postgres.Tx) error { return mark("ignored")(ctx, tx) }))
	}
	if e.Connect {
		return worked(s.workConnected(ctx, org, e, mark))
	}
	if strings.HasPrefix(e.Type, "application_fee.") {
		h := hintOf(e.Payload)
		return worked(s.workPayment(ctx, org, h.Account, h, mark))
	}
	waits, err := s.Waiting(ctx, org)
	if err != nil {
		return err
	}
	if waits {
		return ErrLater
	}
	_, err = s.Refresh(ctx, org, told, mark("applied"))
	return worked(err)
}

func worked(err error) error {
	if errors.Is(err, errWorked) {
		return nil
	}
	return err
}
