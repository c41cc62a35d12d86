package enrolments

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// MoveRequest is a request to move the open enrolments of a sequence from one version to another.
type MoveRequest struct {
	Sequence id.ID
	From, To int
	// Chosen names the step of To, or steps.End, for steps of From that are not to go on at the step with the same key.
	Chosen map[string]string
	DryRun bool
	By     string // "user/<id>" or "key/<id>"
}

// VersionMove is a move of the enrolments of a sequence. Its id is that of the job in internal/progress.
type VersionMove struct {
	ID          id.ID      `json:"id" format:"uuid" doc:"ID of the job"`
	SequenceID  id.ID      `json:"sequence_id" format:"uuid" doc:"ID of the sequence"`
	From        int        `json:"from" doc:"Version that the enrolments have"`
	To          int        `json:"to" doc:"Version that they are moved to"`
	DryRun      bool       `json:"dry_run" doc:"Whether nothing is written to the enrolments"`
	Status      string     `json:"status" enum:"running,completed,failed" doc:"State of the job"`
	Total       int        `json:"total" doc:"Open enrolments that had the version at the beginning"`
	Moved       int        `json:"moved" doc:"Enrolments that were moved, the finished ones included"`
	Finished    int        `json:"finished" doc:"Enrolments that were finished, since no step was left for them"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time" doc:"When it was requested"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"When it ended; null: it has not"`

	chosen map[string]string
	by     string
	after  *id.ID
}

// StartMove stores a move and checks its request. The caller adds the job of sequence.move in the same transaction. An
// unknown sequence is a not_found fault; versions that do not exist, a draft and unknown steps are validation faults.
func StartMove(ctx context.Context, tx *postgres.Tx, r *MoveRequest) (*VersionMove, error) {
	at, err := sequences.StateOf(ctx, tx, r.Sequence)
	if err != nil {
		return nil, err
	}
	if at.Status == sequences.Archived {
		return nil, fault.New(fault.SequenceNotActive, "The sequence is archived.")
	}
	if err := r.checkVersions(ctx, tx); err != nil {
		return nil, err
	}

	m := &VersionMove{
		ID: id.New(), SequenceID: r.Sequence, From: r.From, To: r.To, DryRun: r.DryRun, Status: Running,
		CreatedAt: wire.Now(), chosen: r.Chosen, by: r.By,
	}
	if m.chosen == nil {
		m.chosen = map[string]string{}
	}
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM enrolment WHERE org_id = $1 AND sequence_id = $2 AND version = $3
		AND ended_at IS NULL`, []any{tx.Org(), r.Sequence, r.From}, &m.Total); err != nil {
		return nil, fmt.Errorf("count enrolments: %w", err)
	}

	tx.Queue(`INSERT INTO enrolment_move (org_id, id, sequence_id, from_version, to_version, chosen, dry_run, status,
			total, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, tx.Org(), m.ID, m.SequenceID, m.From, m.To, m.chosen,
		m.DryRun, m.Status, m.Total, m.by, m.CreatedAt)

	return m, nil
}

// checkVersions checks the versions and the chosen steps.
func (r *MoveRequest) checkVersions(ctx context.Context, tx *postgres.Tx) error {
	if r.From == r.To {
		return fault.Invalid("to", "not_allowed", "The enrolments have this version already.")
	}
	lists := map[int][]steps.Step{}
	for _, v := range []struct {
		field  string
		number int
	}{{"from", r.From}, {"to", r.To}} {
		loaded, err := sequences.Load(ctx, tx, r.Sequence, v.number)
		if fault.Is(err, fault.NotFound) {
			return fault.Invalid(v.field, "unknown_version", "The sequence has no such version.")
		}
		if err != nil {
			return err
		}
		if !loaded.Frozen {
			return fault.Invalid(v.field, "not_activated", "This version is a draft. Activate it first.")
		}
		lists[v.number] = loaded.Steps
	}
	for key, target := range r.Chosen {
		if steps.Find(lists[r.From], key) == nil {
			return fault.Invalid("map/"+key, "step_unknown", "The version has no step with this key.")
		}
		if target != steps.End && steps.Find(lists[r.To], target) == nil {
			return fault.Invalid("map/"+key, "step_unknown", "There is no step with this key to move to.")
		}
	}

	return nil
}

const moveColumns = `id, sequence_id, from_version, to_version, dry_run, status, total, moved, finished, created_at,
	completed_at, chosen, created_by, after_id`

// GetMove returns a move. If there is no such move, the error is a not_found fault.
func GetMove(ctx context.Context, tx *postgres.Tx, move id.ID) (*VersionMove, error) {
	return oneMove(ctx, tx, move, "")
}

func oneMove(ctx context.Context, tx *postgres.Tx, move id.ID, lock string) (*VersionMove, error) {
	m := &VersionMove{}
	err := tx.QueryRow(ctx, `SELECT `+moveColumns+` FROM enrolment_move WHERE org_id = $1 AND id = $2`+lock,
		[]any{tx.Org(), move}, &m.ID, &m.SequenceID, &m.From, &m.To, &m.DryRun, &m.Status, &m.Total, &m.Moved,
		&m.Finished, &m.CreatedAt, &m.CompletedAt, &m.chosen, &m.by, &m.after)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such job.")
	}
	if err != nil {
		return nil, fmt.Errorf("read move: %w", err)
	}
	return m, nil
}

// FailMove ends a running move that cannot go on. Enrolments that it has moved stay moved.
func FailMove(ctx context.Context, tx *postgres.Tx, move id.ID, detail string) error {
	m, err := oneMove(ctx, tx, move, " FOR UPDATE")
	if err != nil || m.Status != Running {
		return err
	}
	m.queueEnd(tx, Stopped, detail)
	return nil
}

// queueEnd queues the end of m.
func (m *VersionMove) queueEnd(tx *postgres.Tx, status, detail string) {
	now := wire.Now()
	m.Status, m.CompletedAt = status, &now
	tx.Queue(`UPDATE enrolment_move SET status = $3, error = $4, completed_at = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org(), m.ID, status, detail, now)
}
