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

// ErrLater says that an event waits for a change that its own request is about to close. Come back in a moment.
var ErrLater = errors.New("a change is in flight")

// Event is one that was stored.
type Event struct {
	ID, Type, Account, Customer, Object string
	Connect                             bool
	CreatedAt                           time.Time
	Payload                             []byte
	Worked                              bool
}

// ReadEvent answers an event of tx's org; nil where there is none, such as one whose time is over.
func ReadEvent(ctx context.Context, tx *postgres.Tx, event string) (*Event, error) {
	e := &Event{ID: event}
	err := tx.QueryRow(ctx, `SELECT type, account, customer, object_id, connect, created_at, payload, worked_at IS NOT NULL FROM stripe_event WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), event}, &e.Type, &e.Account, &e.Customer, &e.Object, &e.Connect, &e.CreatedAt, &e.Payload, &e.Worked)
	if postgres.None(err) {
		return nil, nil //nolint:nilnil // nothing to do is no error
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

// errWorked ends a transaction whose event another has worked.
var errWorked = errors.New("event was worked before")

// Done marks an event as worked, in the transaction of its effect: of two workers one gets an error, and its effect is
// not written.
func Done(ctx context.Context, tx *postgres.Tx, event, outcome string) error {
	n, err := tx.Exec(ctx, `UPDATE stripe_event SET worked_at = now(), outcome = $3 WHERE org_id = $1 AND id = $2 AND worked_at IS NULL`, tx.Org(), event, outcome)
	if err != nil {
		return fmt.Errorf("mark event: %w", err)
	}
	if n == 0 {
		return errWorked
	}
	return nil
}

// Work does what an event of an org asks for: whatever it says, the org's subscription, or what of its connected account
// the event is about, is read anew and applied. An event of nobody's is marked and left. ErrLater while the org's own
// request is at it.
func (s *Service) Work(ctx context.Context, org id.ID, event string) error {
	var e *Event
	err := s.App.View(ctx, org, func(tx *postgres.Tx) (err error) {
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
