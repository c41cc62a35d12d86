package inbound

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// asReply returns what the message is to the enrolments of its sender and of the email that it answers.
func (e *effects) asReply() *states.Reply {
	r := &states.Reply{Message: e.message, Contact: e.contact, At: e.at.Time, Settles: e.former != ""}
	if e.email != nil {
		r.Email, r.Enrolment = &e.email.ID, e.email.EnrolmentID
	}
	return r
}

// stopEnrolments ends or pauses the enrolments that the message is about. Suppressions have ended theirs already. Those
// that waited for the class of the message go on otherwise.
func (e *effects) stopEnrolments(ctx context.Context, tx *postgres.Tx) error {
	if err := e.moveEnrolments(ctx, tx); err != nil || e.former == "" || e.inDoubt {
		return err
	}
	if waits, err := e.othersInDoubt(ctx, tx); err != nil || waits {
		return err
	}
	return e.asReply().Settle(ctx, tx)
}

// othersInDoubt reports whether another message of the contact waits for a person, too.
func (e *effects) othersInDoubt(ctx context.Context, tx *postgres.Tx) (waits bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM message WHERE org_id = $1 AND contact_id = $2::uuid AND id <> $3
		AND NOT sure AND NOT own AND read_at IS NOT NULL)`, []any{tx.Org(), e.contact, e.message}, &waits)
	if err != nil {
		return false, fmt.Errorf("find messages in doubt: %w", err)
	}
	return waits, nil
}

func (e *effects) moveEnrolments(ctx context.Context, tx *postgres.Tx) error {
	r := e.asReply()
	if e.inDoubt {
		return r.Unsure(ctx, tx)
	}
	switch e.class {
	case classify.Human:
		return r.Human(ctx, tx, "reply")
	case classify.AutoReply:
		return r.Away(ctx, tx, e.back)
	case classify.Bounce:
		if !e.isProven() {
			return nil
		}
		switch e.bounce {
		case classify.Hard:
			return r.HardBounce(ctx, tx)
		case classify.Soft:
			return r.SoftBounce(ctx, tx)
		}
	}

	return nil
}
