package bulk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Change is one change to many contacts.
type Change struct {
	ID            id.ID          `json:"id" format:"uuid" doc:"ID of the bulk change"`
	Status        string         `json:"status" enum:"queued,running,completed,failed,cancelled"`
	Action        Action         `json:"action" doc:"The change that is applied to each contact"`
	Filter        map[string]any `json:"filter" nullable:"true" doc:"As sent; null if the tag selects the contacts"`
	DryRun        bool           `json:"dry_run" doc:"Only count the contacts, change nothing"`
	RowsTotal     int64          `json:"rows_total" doc:"Contacts that matched at the start; 0 while queued"`
	RowsChanged   int64          `json:"rows_changed" doc:"Changed so far; in a dry run, those that would change"`
	RowsUnchanged int64          `json:"rows_unchanged" doc:"Already in that state, or archived or erased meanwhile"`
	RowsFailed    int64          `json:"rows_failed"`
	SampleIDs     []id.ID        `json:"sample_ids" doc:"The first few matching contacts"`
	Errors        []Failure      `json:"errors" doc:"The first few errors"`
	Error         *string        `json:"error" doc:"Why the change failed as a whole; else null"`
	CreatedAt     wire.Time      `json:"created_at" format:"date-time" doc:"When the change was requested"`
	UpdatedAt     wire.Time      `json:"updated_at" format:"date-time" doc:"When the progress was last recorded"`
	CompletedAt   *wire.Time     `json:"completed_at" format:"date-time" doc:"When completed, failed or cancelled"`

	where []byte // the stored form of Filter; nil if there is none
	by    events.Origin
}

// Descriptions implements wire.Describer.
func (Change) Descriptions() map[string]string {
	return map[string]string{
		"status": "completed: every contact was processed; failed: it stopped on an error; cancelled: stopped by a " +
			"request, completed steps remain",
		"rows_failed": "Contacts to which the action could not be applied; see errors",
	}
}

// Failure is the reason why the action could not be applied to one contact.
type Failure struct {
	ContactID id.ID  `json:"contact_id" format:"uuid" doc:"ID of the contact that failed"`
	Code      string `json:"code" doc:"Code of the error, one of those that a problem may have"`
	Detail    string `json:"detail" doc:"Why the contact failed, for people"`
}

// States of a bulk change.
const (
	Queued    = "queued"
	Running   = "running"
	Completed = "completed"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Limits on the number of sample contacts and errors that are shown.
const (
	samples    = 10
	errorsKept = 50
)

const columns = `id, status, action, filter, dry_run, rows_total, rows_changed, rows_unchanged, rows_failed,
	sample_ids, errors, error,
	created_at, updated_at, completed_at, actor_type, actor_id, request_id`

func scanChange(row pgx.CollectableRow) (b Change, err error) {
	var action, errs []byte
	if err := row.Scan(&b.ID, &b.Status, &action, &b.where, &b.DryRun, &b.RowsTotal, &b.RowsChanged, &b.RowsUnchanged,
		&b.RowsFailed, &b.SampleIDs, &errs, &b.Error,
		&b.CreatedAt, &b.UpdatedAt, &b.CompletedAt, &b.by.ActorType, &b.by.ActorID, &b.by.RequestID); err != nil {
		return b, err
	}
	if b.where != nil {
		if err := json.Unmarshal(b.where, &b.Filter); err != nil {
			return b, fmt.Errorf("decode filter: %w", err)
		}
	}
	if err := json.Unmarshal(action, &b.Action); err != nil {
		return b, fmt.Errorf("decode action: %w", err)
	}
	if err := json.Unmarshal(errs, &b.Errors); err != nil {
		return b, fmt.Errorf("decode errors: %w", err)
	}

	return b, nil
}

// Ask stores a validated bulk change, with the origin of ctx as its author. The caller must enqueue its job. filter is
// in canonical form; it is nil for an action that names a tag.
func Ask(ctx context.Context, tx *postgres.Tx, a Action, filter json.RawMessage, dryRun bool) (Change, error) {
	now := wire.Now()
	b := Change{
		ID: id.New(), Status: Queued, Action: a, DryRun: dryRun, SampleIDs: []id.ID{}, Errors: []Failure{},
		CreatedAt: now, UpdatedAt: now, by: events.OriginOf(ctx),
	}
	action, err := json.Marshal(a)
	if err != nil {
		return b, fmt.Errorf("encode action: %w", err)
	}
	if filter != nil {
		if err := json.Unmarshal(filter, &b.Filter); err != nil {
			return b, fmt.Errorf("decode filter: %w", err)
		}
	}
	tx.Queue(`INSERT INTO contact_bulk (org_id, id, action, filter, dry_run, actor_type, actor_id, request_id,
		created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		tx.Org(), b.ID, action, orNull(filter), dryRun, b.by.ActorType, b.by.ActorID, b.by.RequestID, now)
	return b, nil
}

// orNull passes a missing JSON value as SQL NULL rather than as JSON null.
func orNull(b json.RawMessage) any {
	if b == nil {
		return nil
	}
	return string(b)
}

// Get returns one bulk change. An unknown id is a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	return readChange(ctx, tx, i, "")
}

func readChange(ctx context.Context, tx *postgres.Tx, i id.ID, how string) (Change, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM contact_bulk WHERE org_id = $1 AND id = $2`+how, tx.Org(), i)
	if err != nil {
		return Change{}, fmt.Errorf("read bulk change: %w", err)
	}
	b, err := pgx.CollectExactlyOneRow(rows, scanChange)
	if postgres.None(err) {
		return b, fault.New(fault.NotFound, "There is no such bulk change.")
	}
	return b, err
}

// Count returns the number of bulk changes.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_bulk WHERE org_id = $1`, []any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count bulk changes: %w", err)
	}
	return n, nil
}

// List returns at most limit bulk changes, newest first, starting before the given one, or with the newest if before is
// nil.
func List(ctx context.Context, tx *postgres.Tx, before *id.ID, limit int) ([]Change, error) {
	from := id.Floor(wire.Now().AddDate(1, 0, 0))
	if before != nil {
		from = *before
	}
	rows, err := tx.Query(ctx,
		`SELECT `+columns+` FROM contact_bulk WHERE org_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`, tx.Org(),
		from, limit)
	if err != nil {
		return nil, fmt.Errorf("list bulk changes: %w", err)
	}

	all, err := pgx.CollectRows(rows, scanChange)
	if err != nil {
		return nil, fmt.Errorf("list bulk changes: %w", err)
	}

	return all, nil
}

// Cancel stops a bulk change; completed steps are not undone. A bulk change that has ended is a conflict, unless it was
// cancelled.
func Cancel(ctx context.Context, tx *postgres.Tx, i id.ID) (Change, error) {
	b, err := readChange(ctx, tx, i, ` FOR UPDATE`)
	switch {
	case err != nil, b.Status == Cancelled:
		return b, err
	case b.CompletedAt != nil:
		return b, fault.New(fault.Conflict, "The bulk change has already ended.")
	}
	b.markEnded(tx, Cancelled, nil)
	return b, nil
}

// Fail ends a bulk change with a job that has exhausted its retries. It does nothing if the bulk change has ended or no
// longer exists.
func Fail(ctx context.Context, tx *postgres.Tx, i id.ID, why string) error {
	b, err := readChange(ctx, tx, i, ` FOR UPDATE`)
	if fault.Is(err, fault.NotFound) || err == nil && b.CompletedAt != nil {
		return nil
	}
	if err == nil {
		b.markEnded(tx, Failed, &why)
	}
	return err
}

func (c *Change) markEnded(tx *postgres.Tx, status string, why *string) {
	now := wire.Now()
	c.Status = status
	c.Error = why
	c.UpdatedAt = now
	c.CompletedAt = &now
	tx.Queue(`UPDATE contact_bulk SET status = $3, error = $4, updated_at = $5, completed_at = $5
		WHERE org_id = $1 AND id = $2`, tx.Org(), c.ID, status, why, now)
	tx.Queue(`DELETE FROM contact_bulk_part WHERE org_id = $1 AND bulk_id = $2`, tx.Org(), c.ID)
}

// Erase queues the removal of a contact from all bulk changes: they skip it and no longer name it.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`UPDATE contact_bulk_part SET ids = array_remove(ids, $2) WHERE org_id = $1 AND $2 = ANY (ids)`,
		tx.Org(), contact)
	tx.Queue(`UPDATE contact_bulk SET sample_ids = array_remove(sample_ids, $2),
			errors = (SELECT coalesce(jsonb_agg(e), '[]') FROM jsonb_array_elements(errors) e
			WHERE e ->> 'contact_id' <> $2::uuid::text)
		WHERE org_id = $1 AND ($2 = ANY (sample_ids) OR position($2::uuid::text IN errors::text) > 0)`, tx.Org(),
		contact)
}
