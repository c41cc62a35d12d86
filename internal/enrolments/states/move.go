package states

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Cause is what caused a transition.
type Cause struct {
	Text           string // such as reply, suppression or user/<id>
	Email, Message *id.ID
}

// To is the target of a transition that ends or pauses enrolments.
type To struct {
	State, Reason string
	ResumeAt      *time.Time // of a pause that ends by itself
}

// Open is the SQL condition that an enrolment n is open.
const Open = `n.ended_at IS NULL`

// moveSQL locks the enrolments, changes their state, cancels their emails that are not being transmitted, and writes
// their history. An email that is being transmitted cannot be stopped any more.
const moveSQL = `
WITH found AS (
	SELECT n.id, n.state, n.step, n.due_at FROM enrolment n WHERE n.org_id = $1 AND (%s) ORDER BY n.id FOR UPDATE
), moved AS (
	UPDATE enrolment n SET state = $2, reason = $3, due_at = NULL, until_at = NULL, resume_at = $7::timestamptz,
		kept_due_at = CASE WHEN $2 = 'paused' THEN coalesce(n.due_at, n.kept_due_at) END,
		task_id = CASE WHEN $2 = 'paused' THEN n.task_id END, state_at = clock_timestamp(), edit = n.edit + 1,
		ended_at = CASE WHEN $2 <> 'paused' THEN coalesce(n.ended_at, clock_timestamp()) END
	FROM found f WHERE n.org_id = $1 AND n.id = f.id
	RETURNING n.*
), stopped AS (
	UPDATE email e SET status = 'cancelled', computed = computed + 1,
		status_reason = CASE WHEN $2 = 'paused' THEN 'enrolment_paused' ELSE 'enrolment_ended' END
	FROM found f WHERE f.state = 'sending' AND e.org_id = $1 AND e.enrolment_id = f.id AND e.step = f.step
		AND e.status = 'planned'
), announced AS (
	INSERT INTO enrolment_history (org_id, enrolment_id, id, at, from_state, to_state, step, cause, email_id,
		message_id)
	SELECT $1, f.id, uuidv7_at(clock_timestamp()), clock_timestamp(), f.state, $2, f.step, $4, $5::uuid, $6::uuid
	FROM found f
)
SELECT ` + Columns + ` FROM moved n ORDER BY n.id`

// Move ends or pauses the enrolments n that where selects, and announces the ends. where is an SQL condition with its
// arguments numbered from $8; it must exclude enrolments that have the state already. Move returns the enrolments after
// the change.
func Move(ctx context.Context, tx *postgres.Tx, to To, c Cause, where string, args ...any) ([]Enrolment, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf(moveSQL, where), append([]any{
		tx.Org(), to.State, to.Reason, c.Text, c.Email, c.Message, to.ResumeAt,
	}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("change enrolments: %w", err)
	}
	all, err := pgx.CollectRows(rows, Scan)
	if err != nil {
		return nil, fmt.Errorf("change enrolments: %w", err)
	}

	if to.ResumeAt != nil {
		for i := range all {
			Due(tx, all[i].Group, *to.ResumeAt)
		}
	}

	return all, announceEnded(ctx, tx, all)
}

// announceEnded writes the events of enrolments that have ended.
func announceEnded(ctx context.Context, tx *postgres.Tx, all []Enrolment) error {
	var announced []events.Event
	for i := range all {
		if e := all[i].endEvent(); e != nil {
			announced = append(announced, e)
		}
	}
	if len(announced) == 1 { // its deliveries start at once
		return events.Announce(ctx, tx, announced[0])
	}
	return events.AnnounceAll(ctx, tx, announced)
}

// History is a transition to record, beside those of Move.
type History struct {
	Enrolment id.ID
	From, To  string
	Step      string
	Cause     string
	Email     *id.ID
}

// Record queues rows of enrolment_history.
func Record(tx *postgres.Tx, all ...History) {
	if len(all) == 0 {
		return
	}
	var (
		of, ids               []id.ID
		from, to, step, cause []string
		email                 []*id.ID
	)
	for _, h := range all {
		of, ids, email = append(of, h.Enrolment), append(ids, id.New()), append(email, h.Email)
		from, to = append(from, h.From), append(to, h.To)
		step, cause = append(step, h.Step), append(cause, h.Cause)
	}
	tx.Queue(`INSERT INTO enrolment_history (org_id, enrolment_id, id, at, from_state, to_state, step, cause, email_id)
		SELECT $1, u.of, u.id, clock_timestamp(), u.was, u.now, u.step, u.cause, u.email
		FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[])
			AS u (of, id, was, now, step, cause, email)`, tx.Org(), of, ids, from, to, step, cause, email)
}
