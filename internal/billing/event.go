package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

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

// ErrWorked aborts a transaction because the event was already processed.
var ErrWorked = errors.New("event was already processed")

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
		return ErrWorked
	}

	return nil
}
