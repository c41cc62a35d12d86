package imports

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long an import can be undone, and its file of errors read.
const Kept = 30 * 24 * time.Hour

// Import is one file and what became of it.
type Import struct {
	ID             id.ID              `json:"id" format:"uuid"`
	Status         string             `json:"status" enum:"queued,running,completed,failed"`
	DryRun         bool               `json:"dry_run" doc:"Nothing was written; the counts say what would have been"`
	SuppressEvents bool               `json:"suppress_events" doc:"Contacts were changed without events of their own"`
	FileName       *string            `json:"file_name"`
	Mapping        map[string]*string `json:"mapping" doc:"The field of each column; null: the column is ignored"`
	RowsTotal      int                `json:"rows_total" doc:"Rows below the header"`
	RowsCreated    int                `json:"rows_created"`
	RowsUpdated    int                `json:"rows_updated"`
	RowsUnchanged  int                `json:"rows_unchanged"`
	RowsFailed     int                `json:"rows_failed"`
	RowsRepeated   int                `json:"rows_repeated" doc:"Of the rows created, updated or unchanged: those about a contact that an earlier row was about"`
	ErrorsURL      *string            `json:"errors_url" doc:"Signed link to a CSV of the failed rows, good for at least an hour; null where none failed"`
	Error          *string            `json:"error" doc:"Why it failed"`
	CreatedAt      wire.Time          `json:"created_at" format:"date-time"`
	StartedAt      *wire.Time         `json:"started_at" format:"date-time"`
	CompletedAt    *wire.Time         `json:"completed_at" format:"date-time" doc:"When it was completed or failed"`
	UndoableUntil  *wire.Time         `json:"undoable_until" format:"date-time" doc:"null where there is nothing to undo"`

	Undo     *Undo  `json:"-"` // nil until it is asked for
	Computed int    `json:"-"` // the ETag's second part
	Key      []byte `json:"-"` // signs links

	columns []Column
	actor   events.Origin
	next    int // block
	blocks  int
	fresh   []string // custom fields that the org had not defined
	act     string   // which are being undone
	from    *id.ID   // of those up to it
}

// Undo is how far an import's undoing is.
type Undo struct {
	Status      string     `json:"status" enum:"queued,running,completed,failed"`
	Archived    int        `json:"contacts_archived" doc:"Contacts that the import made, archived again"`
	Restored    int        `json:"contacts_restored" doc:"Contacts that the import changed, as they were before"`
	Left        int        `json:"contacts_left" doc:"Contacts that somebody has changed, archived or erased since, left as they are"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time"`
}

const importColumns = `id, status, dry_run, suppress_events, file_name, columns, rows_total, rows_created, rows_updated, rows_unchanged, rows_failed,
	rows_repeated, error, created_at, started_at, completed_at, undo_status, undo_archived, undo_restored, undo_left, undo_at, computed, link_key,
	actor_type, actor_id, request_id, next_block, blocks, fields_new, undo_act, undo_from`

func scan(row pgx.CollectableRow) (Import, error) {
	var (
		i       Import
		u       Undo
		columns []byte
		undo    *string
	)
	err := row.Scan(&i.ID, &i.Status, &i.DryRun, &i.SuppressEvents, &i.FileName, &columns, &i.RowsTotal, &i.RowsCreated, &i.RowsUpdated, &i.RowsUnchanged,
		&i.RowsFailed, &i.RowsRepeated, &i.Error, &i.CreatedAt, &i.StartedAt, &i.CompletedAt, &undo, &u.Archived, &u.Restored, &u.Left, &u.CompletedAt,
		&i.Computed, &i.Key, &i.actor.ActorType, &i.actor.ActorID, &i.actor.RequestID, &i.next, &i.blocks, &i.fresh, &i.act, &i.from)
	if err == nil {
		err = json.Unmarshal(columns, &i.columns)
	}
	if err != nil {
		return i, err
	}
	i.Mapping = map[string]*string{}
	for _, c := range i.columns {
		i.Mapping[c.Name] = c.Field
	}
	if undo != nil {
		u.Status = *undo
		i.Undo = &u
	}
	if i.Status == "completed" && !i.DryRun && i.RowsCreated+i.RowsUpdated > 0 {
		until := wire.At(i.CreatedAt.Add(Kept))
		i.UndoableUntil = &until
	}
	return i, nil
}

// Show fills in the links to i's files: base is the address that they begin with.
func (i *Import) Show(base string, org id.ID, now time.Time) {
	if i.ErrorsURL = nil; i.RowsFailed > 0 && now.Before(i.CreatedAt.Add(Kept)) {
		link := base + exports.Sign(exports.Link{Kind: ErrorsLink, Org: org, ID: i.ID}, i.Key, now)
		i.ErrorsURL = &link
	}
}

// ErrorsLink is the kind of a link to an import's file of errors.
const ErrorsLink = 'e'

func missing() *fault.Fault { return fault.New(fault.NotFound, "There is no such import.") }

func one(ctx context.Context, tx *postgres.Tx, i id.ID, lock string) (Import, error) {
	rows, err := tx.Query(ctx, `SELECT `+importColumns+` FROM contact_import WHERE org_id = $1 AND id = $2 AND status <> 'uploading'`+lock, tx.Org(), i)
	if err != nil {
		return Import{}, fmt.Errorf("read import: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if postgres.None(err) {
		return Import{}, missing()
	}
	return found, err
}

// Get answers one import, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Import, error) { return one(ctx, tx, i, "") }

// Count is how many imports there are.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_import WHERE org_id = $1 AND status <> 'uploading'`, []any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count imports: %w", err)
	}
	return n, nil
}

// List answers at most limit imports, newest first, those older than before if it is given.
func List(ctx context.Context, tx *postgres.Tx, before *id.ID, limit int) ([]Import, error) {
	rows, err := tx.Query(ctx, `SELECT `+importColumns+` FROM contact_import WHERE org_id = $1 AND status <> 'uploading' AND ($2::uuid IS NULL OR id < $2)
		ORDER BY id DESC LIMIT $3`, tx.Org(), before, limit)
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	return pgx.CollectRows(rows, scan)
}

// Choices are what an import is asked for with, beside its file.
type Choices struct {
	Mapping        []byte // a JSON object; nil: columns go by their names
	DryRun         bool
	SuppressEvents bool
}

// Queue makes an import of what was staged. Whoever calls it adds the job that works it, and Drops what was staged where
// an error comes back.
func Queue(ctx context.Context, tx *postgres.Tx, s *Staged, c Choices) (Import, error) {
	if err := mapTo(s.columns, c.Mapping); err != nil {
		return Import{}, err
	}
	columns, err := json.Marshal(s.columns)
	if err != nil {
		return Import{}, fmt.Errorf("encode columns: %w", err)
	}
	n, err := tx.Exec(ctx, `UPDATE contact_import SET status = 'queued', dry_run = $3, suppress_events = $4, file_name = nullif($5, ''), columns = $6, blocks = $7, rows_total = $8
		WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, tx.Org(), s.ID, c.DryRun, c.SuppressEvents, s.FileName, columns, s.blocks, s.rows)
	if err != nil {
		return Import{}, fmt.Errorf("queue import: %w", err)
	}
	if n == 0 {
		return Import{}, fault.New(fault.Conflict, "The upload took so long that it was given up.")
	}
	return one(ctx, tx, s.ID, "")
}

// begin writes the row of an upload.
func begin(ctx context.Context, tx *postgres.Tx, i id.ID) {
	by, key := events.OriginOf(ctx), make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	tx.Queue(`INSERT INTO contact_import (org_id, id, status, actor_type, actor_id, request_id, link_key, created_at) VALUES ($1, $2, 'uploading', $3, $4, $5, $6, $7)`,
		tx.Org(), i, by.ActorType, by.ActorID, by.RequestID, key, wire.Now())
}
