package enrolments

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

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
	e, err := s.begin(ctx, tx, r)
	if f := fault.Of(err); f != nil {
		b.end(tx, Stopped, f.Detail)
		return false, nil //nolint:nilerr // the batch has the error
	}
	if err != nil {
		return false, err
	}
	contacts, err := b.next(ctx, tx)
	if f := fault.Of(err); f != nil {
		b.end(tx, Stopped, f.Detail)
		return false, nil //nolint:nilerr // the batch has the error
	}
	if err != nil {
		return false, err
	}
	results, err := e.enrol(ctx, tx, contacts, &b.ID)
	if err != nil {
		return false, err
	}
	b.count(tx, results)
	if len(contacts) < batchPiece {
		b.end(tx, Completed, "")
		return false, nil
	}
	return true, nil
}

// next returns the next contacts in the order of their creation, and moves the position of b behind them.
func (b *Batch) next(ctx context.Context, tx *postgres.Tx) ([]id.ID, error) {
	sql, args, err := b.selecting(ctx, tx)
	if err != nil {
		return nil, err
	}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	sql += ` AND c.created_at <= ` + arg(b.CreatedAt)
	id2 := "c.id"
	if b.request.Segment != nil {
		id2 = "c.contact_id"
	}
	if b.afterAt != nil {
		sql += ` AND (c.created_at, ` + id2 + `) > (` + arg(*b.afterAt) + `, ` + arg(*b.afterID) + `)`
	}
	rows, err := tx.Query(ctx, sql+` ORDER BY c.created_at, `+id2+` LIMIT `+arg(batchPiece), args...)
	if err != nil {
		return nil, fmt.Errorf("select contacts: %w", err)
	}
	var (
		all     []id.ID
		contact id.ID
		at      time.Time
	)
	if _, err := pgx.ForEachRow(rows, []any{&contact, &at}, func() error {
		all = append(all, contact)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("select contacts: %w", err)
	}
	if len(all) > 0 {
		b.afterAt, b.afterID = &at, &contact
	}
	return all, nil
}

// count queues the results and the counts of a piece.
func (b *Batch) count(tx *postgres.Tx, results []Result) {
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
