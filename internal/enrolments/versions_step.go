package enrolments

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

// movePiece is how many enrolments one step of a move moves. Each may have an event.
const movePiece = 1000

// Moved is the cause of transitions by a move, and the reason of enrolments that it finished.
const Moved = "moved"

// What StepMove has left.
const (
	MoveOver = iota // nothing
	MoveMore        // enrolments that can be moved now
	MoveWait        // enrolments whose email is on its way
)

// StepMove moves the next enrolments of a move, and reports what is left. An enrolment goes on at the step with the key
// of its own, unless the request chose another one, or at the first one behind it that is left. A step that the
// enrolment has run already, in any version, is left out. Enrolments whose email is on its way are moved when it
// has arrived.
func StepMove(ctx context.Context, tx *postgres.Tx, move id.ID) (left int, err error) {
	m, err := oneMove(ctx, tx, move, " FOR UPDATE")
	if fault.Is(err, fault.NotFound) {
		return MoveOver, nil
	}
	if err != nil || m.Status != Running {
		return MoveOver, err
	}
	w, err := m.newMover(ctx, tx)
	if f := fault.Of(err); f != nil {
		m.queueEnd(tx, Stopped, f.Detail)
		return MoveOver, nil //nolint:nilerr // the move has the error
	}
	if err != nil {
		return MoveOver, err
	}

	found, err := readWhere(ctx, tx, `n.sequence_id = $2 AND n.version = $3 AND n.ended_at IS NULL
		AND ($6 OR n.state <> 'sending' AND (n.state <> 'paused' OR NOT `+onItsWay+`))
		AND ($4::uuid IS NULL OR n.id > $4) ORDER BY n.id LIMIT $5 FOR UPDATE`,
		m.SequenceID, m.From, m.after, movePiece, m.DryRun)
	if err != nil {
		return MoveOver, err
	}
	if err := w.moveAll(ctx, found); err != nil {
		return MoveOver, err
	}

	if len(found) > 0 {
		m.after = &found[len(found)-1].ID
	}
	left = MoveMore
	if len(found) < movePiece {
		if left, err = m.reportRemaining(ctx, tx); err != nil {
			return left, err
		}
	}
	tx.Queue(`UPDATE enrolment_move SET moved = $3, finished = $4, after_id = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org(), m.ID, m.Moved, m.Finished, m.after)

	return left, nil
}

// reportRemaining reports what is left behind the last enrolment, and ends m if nothing is. The next look begins at the
// first one.
func (m *VersionMove) reportRemaining(ctx context.Context, tx *postgres.Tx) (left int, err error) {
	waiting := false
	if !m.DryRun {
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM enrolment WHERE org_id = $1 AND sequence_id = $2
			AND version = $3 AND ended_at IS NULL)`, []any{tx.Org(), m.SequenceID, m.From}, &waiting); err != nil {
			return MoveOver, fmt.Errorf("look for enrolments: %w", err)
		}
	}
	if m.after = nil; waiting {
		return MoveWait, nil
	}

	m.queueEnd(tx, Completed, "")
	return MoveOver, nil
}

// mover moves enrolments to a version.
type mover struct {
	*VersionMove
	tx       *postgres.Tx
	plan     *plan
	from, to *sequences.Version
}

func (m *VersionMove) newMover(ctx context.Context, tx *postgres.Tx) (*mover, error) {
	w := &mover{VersionMove: m, tx: tx}
	var err error
	if w.from, err = sequences.Load(ctx, tx, m.SequenceID, m.From); err != nil {
		return nil, err
	}
	if w.to, err = sequences.Load(ctx, tx, m.SequenceID, m.To); err != nil {
		return nil, err
	}

	w.plan, err = newGroupPlan(w.to)
	return w, err
}

// moveAll moves the locked enrolments.
func (w *mover) moveAll(ctx context.Context, all []Enrolment) error {
	ran, err := w.readStepsRun(ctx, idsOf(all))
	if err != nil {
		return err
	}
	w.Moved += len(all)
	var (
		ended   []id.ID
		history []states.History
		now     = time.Now()
	)
	groups := map[int64]struct{}{}
	for i := range all {
		e := &all[i]
		next := w.landingStep(e.Step, ran[e.ID])
		switch {
		case next == nil:
			ended = append(ended, e.ID)
		case !w.DryRun:
			groups[w.queueMove(e, next, now)] = struct{}{}
			history = append(history, states.History{
				Enrolment: e.ID, From: e.State, To: e.State, Step: next.Key, Cause: Moved + " by " + w.by,
			})
		}
	}
	if w.Finished += len(ended); w.DryRun {
		return nil
	}
	if err := w.plan.queueGroups(w.tx, now); err != nil {
		return err
	}

	states.Record(w.tx, history...)
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		states.Due(w.tx, group, now)
	}
	if len(ended) == 0 {
		return nil
	}
	_, err = states.Move(ctx, w.tx, states.To{State: states.Finished, Reason: Moved}, states.Cause{Text: w.by},
		`n.id = ANY ($8::uuid[])`, ended)

	return err
}

// readStepsRun returns the keys of the steps that the enrolments have been at, and whether a mail of the step exists.
func (w *mover) readStepsRun(ctx context.Context, ids []id.ID) (map[id.ID]map[string]bool, error) {
	rows, err := w.tx.Query(ctx, `
		SELECT enrolment_id, step, bool_or(mail) FROM (
			SELECT enrolment_id, step, false AS mail FROM (`+historySQL+`) AS h
			UNION ALL SELECT enrolment_id, step, true FROM email
			WHERE org_id = $1 AND enrolment_id = ANY ($2::uuid[]) AND status <> 'cancelled') AS been
		GROUP BY enrolment_id, step`, w.tx.Org(), ids)
	if err != nil {
		return nil, fmt.Errorf("read steps of enrolments: %w", err)
	}

	out := make(map[id.ID]map[string]bool, len(ids))
	var (
		enrolment id.ID
		step      string
		mail      bool
	)
	if _, err := pgx.ForEachRow(rows, []any{&enrolment, &step, &mail}, func() error {
		if out[enrolment] == nil {
			out[enrolment] = map[string]bool{}
		}
		out[enrolment][step] = mail
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read steps of enrolments: %w", err)
	}

	return out, nil
}

// landingStep returns the step with which an enrolment at the step key goes on; nil: there is none. ran has the steps
// that it has been at. It has not run the one that it is at. Of the others it has run those with a mail, and, as far as
// is known, those that send none.
func (w *mover) landingStep(key string, ran map[string]bool) *steps.Step {
	next := steps.Find(w.to.Steps, steps.Landing(w.from.Steps, w.to.Steps, key, w.chosen))
	for next != nil && next.Key != key {
		mail, been := ran[next.Key]
		if !been || next.Kind == steps.KindEmail && !mail {
			break
		}
		next = steps.After(w.to.Steps, next.Key)
	}
	return next
}

// queueMove queues moving one enrolment, and returns its group. At another step than before it waits for nothing.
func (w *mover) queueMove(e *Enrolment, next *steps.Step, now time.Time) int64 {
	zone := e.TimeZone
	if w.plan.fixed != "" {
		zone = w.plan.fixed
	}
	group := w.plan.addGroup(next, e.MailboxID, zone)
	w.tx.Queue(`UPDATE enrolment SET version = $3, step = $4, zone = $5, grp = $6, stop_reply = $7, stop_company = $8,
			stop_deal = $9, edit = edit + 1, until_at = CASE WHEN step = $4 THEN until_at END,
			task_id = CASE WHEN step = $4 THEN task_id END,
			due_at = CASE WHEN state NOT IN ('pending', 'active') THEN NULL WHEN step = $4 THEN due_at
				ELSE coalesce(due_at, $10) END,
			kept_due_at = CASE WHEN state <> 'paused' THEN NULL WHEN step = $4 THEN kept_due_at
				ELSE coalesce(kept_due_at, $10) END
		WHERE org_id = $1 AND id = $2`, w.tx.Org(), e.ID, w.To, next.Key, zone, group, w.to.StopOn.Reply,
		w.to.StopOn.CompanyReply, w.to.StopOn.DealWon, now)

	return group
}
