package enrolments

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const absent = "There is no such enrolment."

// Get returns an enrolment. If there is no such enrolment, the error is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, enrolment id.ID) (Enrolment, error) {
	return readOne(ctx, tx, enrolment, "")
}

// readOne returns an enrolment; lock is "" or the locking clause.
func readOne(ctx context.Context, tx *postgres.Tx, enrolment id.ID, lock string) (Enrolment, error) {
	all, err := readWhere(ctx, tx, `n.id = $2`+lock, enrolment)
	if err != nil {
		return Enrolment{}, err
	}
	if len(all) == 0 {
		return Enrolment{}, fault.New(fault.NotFound, absent)
	}
	return all[0], nil
}

// readWhere returns the enrolments n that where selects; its arguments begin with $2.
func readWhere(ctx context.Context, tx *postgres.Tx, where string, args ...any) ([]Enrolment, error) {
	rows, err := tx.Query(ctx, `SELECT `+states.Columns+` FROM enrolment n WHERE n.org_id = $1 AND `+where,
		append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read enrolments: %w", err)
	}
	all, err := pgx.CollectRows(rows, states.Scan)
	if err != nil {
		return nil, fmt.Errorf("read enrolments: %w", err)
	}
	return all, nil
}

func idsOf(all []Enrolment) []id.ID {
	ids := make([]id.ID, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return ids
}

// Filter selects enrolments; a nil or empty member selects all.
type Filter struct {
	Sequence, Contact *id.ID
	States            []string
	Step, Reason      string
}

// where returns the condition of f, and its arguments after those of the statement.
func (f *Filter) where(args ...any) (string, []any) {
	var parts []string
	add := func(condition string, arg any) {
		args = append(args, arg)
		parts = append(parts, strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1))
	}
	if f.Sequence != nil {
		add("n.sequence_id = ?", *f.Sequence)
	}
	if f.Contact != nil {
		add("n.contact_id = ?", *f.Contact)
	}
	if len(f.States) > 0 {
		add("n.state = ANY (?::text[])", f.States)
	}
	if f.Step != "" {
		add("n.step = ?", f.Step)
	}
	if f.Reason != "" {
		add("n.reason = ?", f.Reason)
	}
	if len(parts) == 0 {
		return "true", args
	}

	return strings.Join(parts, " AND "), args
}

// Count returns the exact number of enrolments that f selects.
func Count(ctx context.Context, tx *postgres.Tx, f *Filter) (n int64, err error) {
	where, args := f.where(tx.Org())
	err = tx.QueryRow(ctx, `SELECT count(*) FROM enrolment n WHERE n.org_id = $1 AND `+where, args, &n)
	if err != nil {
		return 0, fmt.Errorf("count enrolments: %w", err)
	}
	return n, nil
}

// Transition is one change of an enrolment's state or step.
type Transition struct {
	At        wire.Time `json:"at" format:"date-time" doc:"When it happened"`
	From      *string   `json:"from" doc:"State before; null: it was enrolled"`
	To        string    `json:"to" doc:"State after"`
	StepKey   string    `json:"step_key" doc:"Key of the step"`
	Cause     string    `json:"cause" doc:"What caused it, such as reply, suppression, sent or user/<id>"`
	EmailID   *id.ID    `json:"email_id" format:"uuid" nullable:"true"`
	MessageID *id.ID    `json:"message_id" format:"uuid" nullable:"true"`
}

// Descriptions implements wire.Describer.
func (Transition) Descriptions() map[string]string {
	return map[string]string{
		"email_id": "Email of the step; null: none", "message_id": "Incoming message that caused it; null: none",
	}
}

// historySQL selects the transitions of the enrolments with the ids $2. An enrolment has the first one itself, so that
// a large enrolment writes fewer rows. Older enrolments have a row for it, and an empty first_state.
const historySQL = `
SELECT n.id AS enrolment_id, n.id, n.created_at AS at, '' AS from_state, n.first_state AS to_state,
	n.first_step AS step, coalesce(nullif(n.created_by, ''), 'enrolled') AS cause, NULL::uuid AS email_id,
	NULL::uuid AS message_id
FROM enrolment n WHERE n.org_id = $1 AND n.id = ANY ($2::uuid[]) AND n.first_state <> ''
UNION ALL SELECT enrolment_id, id, at, from_state, to_state, step, cause, email_id, message_id
FROM enrolment_history WHERE org_id = $1 AND enrolment_id = ANY ($2::uuid[])`

// History returns the transitions of an enrolment, oldest first.
func History(ctx context.Context, tx *postgres.Tx, enrolment id.ID) ([]Transition, error) {
	rows, err := tx.Query(ctx, `SELECT at, nullif(from_state, ''), to_state, step, cause, email_id, message_id
		FROM (`+historySQL+`) AS h ORDER BY from_state <> '', at, id`, tx.Org(), []id.ID{enrolment})
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Transition])
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return all, nil
}

// Held returns every enrolment of a contact, oldest first.
func Held(ctx context.Context, tx *postgres.Tx, contact id.ID) ([]Enrolment, error) {
	return readWhere(ctx, tx, `n.contact_id = $2 ORDER BY n.id`, contact)
}
