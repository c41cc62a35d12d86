package enrolments

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Statuses of a batch.
const (
	Running   = "running"
	Completed = "completed"
	Cancelled = "cancelled"
	Stopped   = "failed"
)

// BatchRequest is a request to enrol the contacts of a segment or of a filter. Exactly one of both is set.
type BatchRequest struct {
	Request
	Segment *id.ID
	Filter  json.RawMessage
}

// stored is a BatchRequest as it is stored.
type stored struct {
	Segment *id.ID          `json:"segment,omitempty"`
	Filter  json.RawMessage `json:"filter,omitempty"`
	Mailbox *id.ID          `json:"mailbox,omitempty"`
	StartAt *time.Time      `json:"start_at,omitempty"`
	DryRun  bool            `json:"dry_run"`
}

// Batch is an enrolment of many contacts. Its id is that of the job in internal/progress.
type Batch struct {
	ID          id.ID          `json:"id" format:"uuid" doc:"ID of the job"`
	SequenceID  id.ID          `json:"sequence_id" format:"uuid" doc:"ID of the sequence"`
	Status      string         `json:"status" enum:"running,completed,cancelled,failed" doc:"State of the job"`
	DryRun      bool           `json:"dry_run" doc:"Whether nothing is written"`
	Done        int            `json:"done" doc:"Contacts that were processed"`
	Total       int            `json:"total" doc:"Contacts that the segment or the filter had at the beginning"`
	Enrolled    int            `json:"enrolled" doc:"Contacts that were enrolled"`
	Skipped     map[string]int `json:"skipped" doc:"Contacts that were skipped, by reason"`
	CreatedAt   wire.Time      `json:"created_at" format:"date-time" doc:"When it was requested"`
	CompletedAt *wire.Time     `json:"completed_at" format:"date-time" doc:"When it ended; null: it has not"`

	request stored
	by      string
	afterAt *time.Time
	afterID *id.ID
}

// StartBatch stores a batch and checks its request. The caller adds the job of sequence.enroll in the same transaction.
// The faults are those of Enrol; an invalid filter is a *filter.Error, and an unknown segment a validation fault.
func (s *Service) StartBatch(ctx context.Context, tx *postgres.Tx, r *BatchRequest) (*Batch, error) {
	if _, err := s.newEnroller(ctx, tx, &r.Request); err != nil {
		return nil, err
	}
	b := &Batch{
		ID: id.New(), SequenceID: r.Sequence, Status: Running, DryRun: r.DryRun, Skipped: map[string]int{},
		CreatedAt: wire.Now(), by: r.By,
		request: stored{Segment: r.Segment, Filter: r.Filter, Mailbox: r.Mailbox, StartAt: r.StartAt, DryRun: r.DryRun},
	}
	sql, args, err := b.selectContactsSQL(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM (`+sql+`) AS x`, args, &b.Total); err != nil {
		return nil, fmt.Errorf("count contacts: %w", err)
	}

	body, err := json.Marshal(b.request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}

	tx.Queue(`INSERT INTO enrolment_batch (org_id, id, sequence_id, request, status, total, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tx.Org(), b.ID, b.SequenceID, string(body), b.Status, b.Total, b.by,
		b.CreatedAt)

	return b, nil
}

// selectContactsSQL returns a statement that selects id and created_at of the contacts of b.
func (b *Batch) selectContactsSQL(ctx context.Context, tx *postgres.Tx) (sql string, args []any, err error) {
	if b.request.Segment != nil {
		if err := liveSegment(ctx, tx, *b.request.Segment); err != nil {
			return "", nil, err
		}
		return `SELECT c.contact_id AS id, c.created_at FROM segment_member c WHERE c.org_id = $1 AND c.segment_id = $2
			AND NOT c.archived`, []any{tx.Org(), *b.request.Segment}, nil
	}
	f, err := contacts.ParseFilter(ctx, tx, b.request.Filter)
	if err != nil {
		return "", nil, err
	}

	sql, args = contacts.Selecting(tx.Org(), &contacts.Filter{Where: f})

	return sql, args, nil
}

// liveSegment returns a fault unless there is such a segment.
func liveSegment(ctx context.Context, tx *postgres.Tx, segment id.ID) error {
	var live bool
	err := tx.QueryRow(ctx, `SELECT archived_at IS NULL FROM segment WHERE org_id = $1 AND id = $2`,
		[]any{tx.Org(), segment}, &live)
	if postgres.None(err) || err == nil && !live {
		return fault.Invalid("segment", "unknown_segment", "There is no such segment.")
	}
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	return nil
}

const batchColumns = `id, sequence_id, status, request, done, total, enrolled, skipped, created_by, created_at,
	completed_at, after_at, after_id`

// GetBatch returns a batch. If there is no such batch, the error is a not_found fault.
func GetBatch(ctx context.Context, tx *postgres.Tx, batch id.ID) (*Batch, error) {
	return oneBatch(ctx, tx, batch, "")
}

func oneBatch(ctx context.Context, tx *postgres.Tx, batch id.ID, lock string) (*Batch, error) {
	b := &Batch{}
	err := tx.QueryRow(ctx, `SELECT `+batchColumns+` FROM enrolment_batch WHERE org_id = $1 AND id = $2`+lock,
		[]any{tx.Org(), batch}, &b.ID, &b.SequenceID, &b.Status, &b.request, &b.Done, &b.Total, &b.Enrolled, &b.Skipped,
		&b.by, &b.CreatedAt, &b.CompletedAt, &b.afterAt, &b.afterID)
	if postgres.None(err) {
		return nil, fault.New(fault.NotFound, "There is no such job.")
	}
	if err != nil {
		return nil, fmt.Errorf("read batch: %w", err)
	}

	b.DryRun = b.request.DryRun
	return b, nil
}

// CancelBatch ends a running batch. Contacts that it has enrolled stay enrolled. A batch that has ended is unchanged.
func CancelBatch(ctx context.Context, tx *postgres.Tx, batch id.ID) (*Batch, error) {
	b, err := oneBatch(ctx, tx, batch, " FOR UPDATE")
	if err != nil || b.Status != Running {
		return b, err
	}
	b.queueEnd(tx, Cancelled, "")
	return b, nil
}

// FailBatch ends a running batch that cannot go on.
func FailBatch(ctx context.Context, tx *postgres.Tx, batch id.ID, detail string) error {
	b, err := oneBatch(ctx, tx, batch, " FOR UPDATE")
	if err != nil || b.Status != Running {
		return err
	}
	b.queueEnd(tx, Stopped, detail)
	return nil
}

// queueEnd queues the end of b.
func (b *Batch) queueEnd(tx *postgres.Tx, status, detail string) {
	now := wire.Now()
	b.Status, b.CompletedAt = status, &now
	tx.Queue(`UPDATE enrolment_batch SET status = $3, error = $4, completed_at = $5 WHERE org_id = $1 AND id = $2`,
		tx.Org(), b.ID, status, detail, now)
}

// SkippedOf returns at most limit contacts that a batch has skipped, in the order of their ids, after the given one.
func SkippedOf(ctx context.Context, tx *postgres.Tx, batch, after id.ID, limit int) ([]Result, error) {
	rows, err := tx.Query(ctx, `SELECT contact_id, 'skipped', reason, NULL::uuid FROM enrolment_result WHERE org_id = $1
		AND batch_id = $2 AND contact_id > $3 ORDER BY contact_id LIMIT $4`, tx.Org(), batch, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Result])
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	return all, nil
}
