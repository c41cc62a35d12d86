package emails

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// stepMail returns the email as the step of its enrolment, which it must have.
func (e *Email) stepMail() states.Mail {
	m := states.Mail{Email: e.ID, Enrolment: *e.EnrolmentID}
	if e.Step != nil {
		m.Step = *e.Step
	}
	return m
}

// goOn lets the enrolment of an email go on, if it has one: the email was sent at a time, or its fate stays unknown.
func (e *Email) goOn(ctx context.Context, tx *postgres.Tx, at time.Time, cause string) error {
	if e.EnrolmentID == nil {
		return nil
	}
	return states.Sent(ctx, tx, e.stepMail(), at, cause)
}

// notSent records in the enrolment of an email, if it has one, that the email was certainly not sent.
func (e *Email) notSent(ctx context.Context, tx *postgres.Tx, u states.Unsent) error {
	if e.EnrolmentID == nil {
		return nil
	}
	return states.NotSent(ctx, tx, e.stepMail(), u)
}
