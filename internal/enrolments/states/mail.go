package states

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Mail is the email of a step.
type Mail struct {
	Email, Enrolment id.ID
	Step             string
}

// LockOf queues the lock of the enrolment of an email, which precedes the lock of the email.
func LockOf(tx *postgres.Tx, emails ...id.ID) {
	tx.Queue(`SELECT FROM enrolment n WHERE n.org_id = $1 AND n.id IN (SELECT e.enrolment_id FROM email e
		WHERE e.org_id = $1 AND e.id = ANY ($2::uuid[])) ORDER BY n.id FOR UPDATE`, tx.Org(), emails)
}

// MayTransmit locks the enrolment of an email until tx ends, and returns "" if the email may be sent. Otherwise it
// returns the reason: the enrolment has ended or is paused, or its sequence does not send.
func MayTransmit(ctx context.Context, tx *postgres.Tx, m Mail) (reason string, err error) {
	var state, step, sequence string
	err = tx.QueryRow(ctx, `SELECT n.state, n.step, coalesce(q.status, 'archived') FROM enrolment n
			LEFT JOIN sequence q ON q.org_id = $1 AND q.id = n.sequence_id
		WHERE n.org_id = $1 AND n.id = $2 FOR UPDATE OF n`, []any{tx.Org(), m.Enrolment}, &state, &step, &sequence)
	switch {
	case postgres.None(err):
		return EnrolmentEnded, nil
	case err != nil:
		return "", fmt.Errorf("lock enrolment: %w", err)
	case state == Paused:
		return EnrolmentPaused, nil
	case state != Sending || step != m.Step || sequence == "archived":
		return EnrolmentEnded, nil
	case sequence != "active":
		return SequencePaused, nil
	}

	return "", nil
}

// Reasons for which the mark of an email is refused.
const (
	EnrolmentEnded  = "enrolment_ended"
	EnrolmentPaused = "enrolment_paused"
	SequencePaused  = "sequence_paused"
)

// progress is what decides how an enrolment goes on after an email.
type progress struct {
	state, step, next, unit, zone string
	value, number                 int
	group                         int64
	window                        *Window
	resume                        *time.Time // of a pause that ends by itself
}

const progressSQL = `
SELECT n.state, n.step, n.next_step, n.next_value, n.next_unit, n.next_grp, n.zone, n.step_number, n.resume_at,
	z.body
FROM enrolment n
	LEFT JOIN send_group g ON g.org_id = n.org_id AND g.id = n.grp
	LEFT JOIN schedule_zone z ON z.org_id = g.org_id AND z.schedule = g.schedule AND z.zone = g.zone
WHERE n.org_id = $1 AND n.id = $2 FOR UPDATE OF n`

// Sent records that the email of a step was sent at a time, or is treated as sent because its fate stays unknown: the
// enrolment goes on with the next step, whose delay begins at that time, or is finished. An enrolment that has ended
// meanwhile is unchanged. cause is sent or unknown.
func Sent(ctx context.Context, tx *postgres.Tx, m Mail, at time.Time, cause string) error {
	var (
		p    progress
		body []byte
	)
	err := tx.QueryRow(ctx, progressSQL, []any{tx.Org(), m.Enrolment}, &p.state, &p.step, &p.next, &p.value, &p.unit,
		&p.group, &p.zone, &p.number, &p.resume, &body)
	if postgres.None(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock enrolment: %w", err)
	}

	if p.step != m.Step || p.state != Sending && p.state != Paused {
		tx.Queue(`UPDATE enrolment SET last_email_id = $3 WHERE org_id = $1 AND id = $2 AND step = $4`, tx.Org(),
			m.Enrolment, m.Email, m.Step)
		return nil
	}

	p.window = &Window{}
	if body != nil {
		if err := json.Unmarshal(body, p.window); err != nil {
			return fmt.Errorf("decode schedule: %w", err)
		}
	}
	if err := announceStep(ctx, tx, m.Enrolment); err != nil {
		return err
	}

	if p.next == "" {
		return p.finishEnrolment(ctx, tx, m, cause)
	}

	return p.goOn(tx, m, at, cause)
}

// announceStep announces that the current step of a locked enrolment is done.
func announceStep(ctx context.Context, tx *postgres.Tx, enrolment id.ID) error {
	e, err := readOne(ctx, tx, enrolment)
	if err != nil {
		return err
	}
	return events.Announce(ctx, tx, events.SequenceStepCompleted{Enrolment: e.Event()})
}

func (p *progress) finishEnrolment(ctx context.Context, tx *postgres.Tx, m Mail, cause string) error {
	tx.Queue(`UPDATE enrolment SET last_email_id = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), m.Enrolment, m.Email)
	_, err := Move(ctx, tx, To{State: Finished, Reason: Completed}, Cause{Text: cause, Email: &m.Email}, `n.id = $8`,
		m.Enrolment)
	return err
}

// Completed is the reason of a finished enrolment.
const Completed = "completed"

func (p *progress) goOn(tx *postgres.Tx, m Mail, at time.Time, cause string) error {
	zone, err := time.LoadLocation(p.zone)
	if err != nil {
		return fmt.Errorf("zone of enrolment: %w", err)
	}
	d := schedule.Delay{Value: p.value, Unit: schedule.Unit(p.unit)}
	due := d.After(at, p.window.Schedule(), zone)
	state := Active
	if p.state == Paused {
		state = Paused
	}
	tx.Queue(`UPDATE enrolment SET state = $3, reason = CASE WHEN $3 = 'paused' THEN reason ELSE '' END, step = $4,
			step_number = step_number + 1, grp = $5, prio = 0, due_at = CASE WHEN $3 = 'active' THEN
				$6::timestamptz END,
			kept_due_at = CASE WHEN $3 = 'paused' THEN $6::timestamptz END, last_email_id = $7, next_step = '',
			until_at = NULL, edit = edit + 1, state_at = CASE WHEN $3 = 'active' THEN clock_timestamp() ELSE
				state_at END
		WHERE org_id = $1 AND id = $2`, tx.Org(), m.Enrolment, state, p.next, p.group, due, m.Email)
	Record(tx, History{Enrolment: m.Enrolment, From: p.state, To: state, Step: p.next, Cause: cause, Email: &m.Email})
	switch {
	case state == Active:
		Due(tx, p.group, due)
	case p.resume != nil:
		Due(tx, p.group, *p.resume)
	}

	return nil
}

// readOne returns an enrolment.
func readOne(ctx context.Context, tx *postgres.Tx, enrolment id.ID) (*Enrolment, error) {
	rows, err := tx.Query(ctx, `SELECT `+Columns+` FROM enrolment n WHERE n.org_id = $1 AND n.id = $2`, tx.Org(),
		enrolment)
	if err != nil {
		return nil, fmt.Errorf("read enrolment: %w", err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, Scan)
	if err != nil {
		return nil, fmt.Errorf("read enrolment: %w", err)
	}
	return &e, nil
}
