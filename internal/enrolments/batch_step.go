package enrolments

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// batchPiece is how many contacts one step of a batch enrols: few, so that the step is short, and others get the
// processor and the disk between two steps.
const batchPiece = 1000

// StepBatch enrols the next contacts of a batch, and reports whether there are more. A batch that has ended is left
// alone. A sequence that was archived meanwhile, or lost its mailboxes, fails the batch.
func (s *Service) StepBatch(ctx context.Context, tx *postgres.Tx, batch id.ID) (more bool, err error) {
	b, err := oneBatch(ctx, tx, batch, " FOR UPDATE")
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil || b.Status != Running {
		return false, err
	}
	r := &Request{
		Sequence: b.SequenceID, Mailbox: b.request.Mailbox, StartAt: b.request.StartAt, DryRun: b.DryRun, By: b.by,
	}
	e, err := s.newEnroller(ctx, tx, r)
	if f := fault.Of(err); f != nil {
		b.queueEnd(tx, Stopped, f.Detail)
		return false, nil //nolint:nilerr // the batch has the error
	}
	if err != nil {
		return false, err
	}

	next, more, err := b.readNext(ctx, tx)
	if f := fault.Of(err); f != nil {
		b.queueEnd(tx, Stopped, f.Detail)
		return false, nil //nolint:nilerr // the batch has the error
	}
	if err != nil {
		return false, err
	}

	results, err := e.enrolContacts(ctx, tx, next, &b.ID)
	if err != nil {
		return false, err
	}

	b.countResults(tx, results)
	if !more {
		b.queueEnd(tx, Completed, "")
	}

	return more, nil
}

// stretch is how many contacts of the org one step of a batch with a filter reads.
const stretch = 5 * batchPiece

// readNext returns the next contacts in the order of their creation, and moves the position of b behind them. more is
// false after the last.
func (b *Batch) readNext(ctx context.Context, tx *postgres.Tx) (all []id.ID, more bool, err error) {
	found, next, err := b.readSelected(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	if next != nil {
		b.afterAt, b.afterID = &next.At, &next.ID
	}
	for _, c := range found {
		all = append(all, c.ID)
	}
	return all, next != nil, nil
}

// position is where b has come to, nil at its start.
func (b *Batch) position() *contacts.CreatedPlace {
	if b.afterAt == nil {
		return nil
	}
	return &contacts.CreatedPlace{At: *b.afterAt, ID: *b.afterID}
}

// readSelected returns the next contacts, and the place that it has come to, nil after the last contact.
func (b *Batch) readSelected(ctx context.Context, tx *postgres.Tx) (found []contacts.CreatedPlace,
	next *contacts.CreatedPlace, err error,
) {
	until := b.CreatedAt.Time
	if segment := b.request.Segment; segment != nil {
		if err := liveSegment(ctx, tx, *segment); err != nil {
			return nil, nil, err
		}
		return contacts.NextMembers(ctx, tx, *segment, b.position(), until, batchPiece)
	}
	where, err := contacts.ParseFilter(ctx, tx, b.request.Filter)
	if err != nil {
		return nil, nil, err
	}
	return contacts.NextSelected(ctx, tx, &contacts.Filter{Where: where}, b.position(), until, stretch, batchPiece)
}

// countResults queues the results and the counts of a piece.
func (b *Batch) countResults(tx *postgres.Tx, results []Result) {
	var (
		skipped []id.ID
		reasons []string
	)
	for i := range results {
		r := &results[i]
		if r.Reason == nil {
			b.Enrolled++
			continue
		}
		b.Skipped[*r.Reason]++
		skipped, reasons = append(skipped, r.ContactID), append(reasons, *r.Reason)
	}
	b.Done += len(results)
	tx.Queue(`UPDATE enrolment_batch SET done = $3, enrolled = $4, skipped = $5, after_at = $6, after_id = $7
		WHERE org_id = $1 AND id = $2`, tx.Org(), b.ID, b.Done, b.Enrolled, b.Skipped, b.afterAt, b.afterID)
	if len(skipped) > 0 {
		tx.Queue(`INSERT INTO enrolment_result (org_id, batch_id, contact_id, reason, created_at)
			SELECT $1, $2, u.contact, u.reason, clock_timestamp() FROM unnest($3::uuid[], $4::text[]) AS u
				(contact, reason)
			ON CONFLICT DO NOTHING`, tx.Org(), b.ID, skipped, reasons)
	}
}
