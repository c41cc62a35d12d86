package inbound

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// reply returns what the message is to the enrolments of its sender and of the email that it answers.
func (e *effects) reply() *states.Reply {
	r := &states.Reply{Message: e.message, Contact: e.contact, At: e.at.Time}
	if e.email != nil {
		r.Email, r.Enrolment = &e.email.ID, e.email.EnrolmentID
	}
	return r
}

// stop ends or pauses the enrolments that the message is about. Suppressions have ended theirs already.
func (e *effects) stop(ctx context.Context, tx *postgres.Tx) error {
	r := e.reply()
	switch e.class {
	case classify.Human:
		return r.Human(ctx, tx, "reply")
	case classify.Unknown:
		return r.Human(ctx, tx, "unclassified_reply")
	case classify.AutoReply:
		return r.Away(ctx, tx, e.back)
	case classify.Bounce:
		switch e.bounce {
		case classify.Hard:
			return r.HardBounce(ctx, tx)
		case classify.Soft:
			return r.SoftBounce(ctx, tx)
		}
	}
	return nil
}
