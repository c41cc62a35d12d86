package sequences

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/sequences/comparisons"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Activate freezes the draft of a sequence, if it has one, and makes the sequence active. check returns the faults that
// the version has; it is not called if nothing changes. The result says whether anything changed.
func Activate(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match,
	check func(*Sequence) error,
) (Row, bool, error) {
	r, err := readLocked(ctx, tx, i)
	if err == nil {
		err = checkMatch(match, &r)
	}
	if err != nil {
		return r, false, err
	}

	s := &r.Value
	switch {
	case s.Status == Archived:
		return r, false, fault.New(fault.SequenceNotActive, "The sequence is archived. Duplicate it to go on.")
	case s.Status == Active && s.DraftVersion == nil:
		return r, false, nil
	}

	if err := check(s); err != nil {
		return r, false, err
	}

	now := wire.Now()
	if s.DraftVersion != nil {
		tx.Queue(`UPDATE sequence_version SET activated_at = $4 WHERE org_id = $1 AND sequence_id = $2 AND number = $3`,
			tx.Org(), i, s.DraftVersion, now)
		tx.Queue(`UPDATE sequence SET enroll_segment = $3 WHERE org_id = $1 AND id = $2`, tx.Org(), i, s.EnrollSegment)
		comparisons.Begin(tx, i, s.Steps)
		s.Version, s.DraftVersion = s.DraftVersion, nil
	}
	setStatus(tx, &r, Active, "", now)
	return r, true, nil
}

func checkMatch(match record.Match, r *Row) error {
	if match == nil {
		return nil
	}
	return match(int64(r.Edit))
}

// setStatus queues writing the status and the version numbers of a locked sequence.
func setStatus(tx *postgres.Tx, r *Row, status, reason string, now wire.Time) {
	s := &r.Value
	s.Status = status
	s.StatusReason = nil
	s.UpdatedAt = now
	if reason != "" {
		s.StatusReason = &reason
	}
	r.Edit++
	tx.Queue(`UPDATE sequence SET status = $3, status_reason = $4, version = $5, draft = $6, updated_at = $7,
		edit = edit + 1 WHERE org_id = $1 AND id = $2`,
		tx.Org(), s.ID, s.Status, reason, s.Version, s.DraftVersion, now)
}

// ByPerson is the status_reason of a sequence that a person has paused.
const ByPerson = "paused_by_user"

// Pause pauses an active sequence: its enrolments wait. It reports whether anything changed. The error is
// sequence_not_active for a draft and for an archived sequence.
func Pause(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, bool, error) {
	return moveStatus(ctx, tx, i, Active, Paused, ByPerson)
}

// Resume makes a paused sequence active again, and reports whether anything changed. The error is sequence_not_active
// for a draft, which is activated instead, and for an archived sequence.
func Resume(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, bool, error) {
	return moveStatus(ctx, tx, i, Paused, Active, "")
}

func moveStatus(ctx context.Context, tx *postgres.Tx, i id.ID, from, to, reason string) (Row, bool, error) {
	r, err := readLocked(ctx, tx, i)
	if err != nil {
		return r, false, err
	}
	switch r.Value.Status {
	case to:
		return r, false, nil
	case from:
		setStatus(tx, &r, to, reason, wire.Now())
		return r, true, nil
	default:
		return r, false, fault.New(fault.SequenceNotActive, "The sequence is neither active nor paused.")
	}
}

// Archive ends a sequence for good, and reports whether anything changed. The caller ends its open enrolments in the
// same transaction.
func Archive(ctx context.Context, tx *postgres.Tx, i id.ID) (Row, bool, error) {
	r, err := readLocked(ctx, tx, i)
	if err != nil || r.Value.Status == Archived {
		return r, false, err
	}
	setStatus(tx, &r, Archived, "", wire.Now())
	return r, true, nil
}

// Delete hides a sequence; see record.Table.Archive. It archives the sequence too: the caller ends its open enrolments
// in the same transaction.
func Delete(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (Change, error) {
	queueLock(tx, i)
	ch, err := table.Archive(ctx, tx, i, match)
	if err == nil && ch.Changed() && ch.Value.Status != Archived {
		ch.Value.Status = Archived
		ch.Value.StatusReason = nil
		tx.Queue(`UPDATE sequence SET status = 'archived', status_reason = '' WHERE org_id = $1 AND id = $2`,
			tx.Org(), i)
	}
	return ch, err
}

// Restore lists a deleted sequence again. It stays archived.
func Restore(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	queueLock(tx, i)
	ch, _, err := table.Restore(ctx, tx, i)
	return ch, err
}

// Event returns the form of the sequence in events.
func (s *Sequence) Event() events.Sequence {
	return events.Sequence{ID: s.ID, Name: s.Name, Status: s.Status, Reason: s.StatusReason}
}
