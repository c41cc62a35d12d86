package states

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Unsent is why the email of a step was not sent.
type Unsent struct {
	Failed bool   // the email has failed; otherwise it was cancelled
	Reason string // of the email
	Hard   bool   // there is no such address
}

// NotSent records that the email of a step was certainly not sent: the enrolment ends, is paused, or waits for the step
// again. An enrolment that is not sending the email any more is unchanged.
func NotSent(ctx context.Context, tx *postgres.Tx, m Mail, u Unsent) error {
	const own = `n.id = $8 AND n.step = $9 AND n.state = 'sending'`
	c := Cause{Text: u.Reason, Email: &m.Email}
	if !u.Failed && u.Reason == SequencePaused {
		return makeDueAgain(ctx, tx, m, u.Reason)
	}
	_, err := Move(ctx, tx, u.nextState(), c, own, m.Enrolment, m.Step)
	return err
}

// nextState returns the state after an email that was not sent.
func (u *Unsent) nextState() To {
	switch {
	case u.Hard:
		return To{State: Bounced, Reason: "hard_bounce"}
	case u.Failed:
		return To{State: Failed, Reason: u.Reason}
	case u.Reason == "suppressed":
		return To{State: Unsubscribed, Reason: u.Reason}
	case u.Reason == EnrolmentEnded: // its sequence was archived
		return To{State: Removed, Reason: "archived"}
	case u.Reason == "contact_archived":
		return To{State: Removed, Reason: u.Reason}
	default:
		return To{State: Paused, Reason: u.Reason}
	}
}

// makeDueAgain makes the step of a cancelled email due again, in its group, which is held.
func makeDueAgain(ctx context.Context, tx *postgres.Tx, m Mail, cause string) error {
	var group int64
	now := wire.Now()
	err := tx.QueryRow(ctx, `UPDATE enrolment SET state = 'active', due_at = $4, state_at = $4, edit = edit + 1
		WHERE org_id = $1 AND id = $2 AND step = $3 AND state = 'sending' RETURNING grp`,
		[]any{tx.Org(), m.Enrolment, m.Step, now}, &group)
	if postgres.None(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("return step: %w", err)
	}

	Record(tx, History{
		Enrolment: m.Enrolment, From: Sending, To: Active, Step: m.Step, Cause: cause, Email: &m.Email,
	})
	Due(tx, group, now.Time)

	return nil
}

// Revived queues that the enrolments of emails which an operator sends again are sending them again. It leaves out an
// enrolment that another open one of its contact excludes, and all but the latest of those that exclude each other.
func Revived(tx *postgres.Tx, emails []id.ID) {
	tx.Queue(`
		WITH found AS (
			SELECT n.id, n.step, n.contact_id, e.id AS email,
				CASE WHEN NOT n.exclusive THEN n.sequence_id END AS beside
			FROM enrolment n JOIN email e ON e.org_id = $1 AND e.id = ANY
				($2::uuid[])
				AND e.enrolment_id = n.id AND e.step = n.step
			WHERE n.org_id = $1 AND n.state = 'failed' AND n.reason = 'job_stopped' AND e.status = 'failed'
				AND e.status_reason = 'job_stopped'
				AND NOT EXISTS (SELECT FROM enrolment o WHERE o.org_id = $1 AND o.contact_id = n.contact_id
					AND o.ended_at IS NULL AND (o.sequence_id = n.sequence_id OR o.exclusive AND n.exclusive))
			FOR UPDATE OF n
		), latest AS (
			SELECT DISTINCT ON (contact_id, beside) id, step, email FROM found ORDER BY contact_id, beside, id DESC
		), moved AS (
			UPDATE enrolment n SET state = 'sending', reason = '', ended_at = NULL, state_at = clock_timestamp(),
				edit = edit + 1
			FROM latest f WHERE n.org_id = $1 AND n.id = f.id
		)
		INSERT INTO enrolment_history (org_id, enrolment_id, id, at, from_state, to_state, step, cause, email_id)
		SELECT $1, f.id, uuidv7_at(clock_timestamp()), clock_timestamp(), 'failed', 'sending', f.step, 'job revived',
			f.email
		FROM latest f`, tx.Org(), emails)
}
