package imports

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long an import can be undone and its error file can be read.
const Kept = 30 * 24 * time.Hour

// Import is an import of one file and its progress.
type Import struct {
	ID             id.ID                 `json:"id" format:"uuid" doc:"ID of the import"`
	Status         string                `json:"status" enum:"queued,running,completed,failed"`
	DryRun         bool                  `json:"dry_run" doc:"Nothing was written; the counts are those of a real run"`
	SuppressEvents bool                  `json:"suppress_events" doc:"Contacts were changed without individual events"`
	FileName       *string               `json:"file_name" doc:"Name of the uploaded file; null: it had none"`
	Mapping        map[string]*string    `json:"mapping" doc:"The field of each column; null if the column is left out"`
	Types          map[string]string     `json:"types" doc:"The type of each column that is a custom field"`
	LeftOut        []sheet.OmittedColumn `json:"left_out" doc:"Columns with values that are not imported, and why"`
	Encoding       *string               `json:"encoding" doc:"Encoding in which the file was read"`
	Delimiter      *string               `json:"delimiter" doc:"What separates the cells of the file"`
	HeaderLine     *int                  `json:"header_line" doc:"Number of the row that was read as the header"`
	MakeCompanies  bool                  `json:"create_companies" doc:"Companies that are not known are created"`
	Strict         bool                  `json:"strict" doc:"A cell that is not understood costs its row"`
	Locale         *string               `json:"locale" doc:"How the file writes dates and numbers; null: not given"`
	RowsTotal      int                   `json:"rows_total" doc:"Rows below the header: the sum of the next six"`
	RowsCreated    int                   `json:"rows_created" doc:"Rows that created a contact, so far"`
	RowsUpdated    int                   `json:"rows_updated" doc:"Rows that changed a contact, so far"`
	RowsUnchanged  int                   `json:"rows_unchanged" doc:"Rows whose contact had these values, so far"`
	RowsFailed     int                   `json:"rows_failed" doc:"Rows that were refused, so far; see errors_url"`
	RowsBlank      int                   `json:"rows_blank" doc:"Rows without a value, so far"`
	RowsRepeated   int                   `json:"rows_repeated" doc:"Successful rows about an earlier row's contact"`
	WarningsCount  int                   `json:"warnings_count" doc:"Cells left out, and other warnings, so far"`
	WarningsURL    *string               `json:"warnings_url"`
	ErrorsURL      *string               `json:"errors_url"`
	Error          *string               `json:"error" doc:"Why the import failed"`
	CreatedAt      wire.Time             `json:"created_at" format:"date-time" doc:"When the file was accepted"`
	StartedAt      *wire.Time            `json:"started_at" format:"date-time"`
	CompletedAt    *wire.Time            `json:"completed_at" format:"date-time" doc:"When it was completed or failed"`
	UndoableUntil  *wire.Time            `json:"undoable_until" format:"date-time" doc:"null: nothing to undo"`

	Undo     *Undo  `json:"-"` // nil unless an undo was requested
	Computed int    `json:"-"` // the second part of the ETag
	Key      []byte `json:"-"` // signs links

	source  uploads.Source
	locale  string
	columns []Column
	actor   events.Origin
	next    int // index of the next block
	blocks  int
	fresh   []string // keys of custom fields that the org had not defined
	act     string   // kind of the effects being undone
	from    *id.ID   // undone up to this one
}

// Descriptions implements wire.Describer.
func (Import) Descriptions() map[string]string {
	return map[string]string{
		"warnings_url": "Signed link to a CSV of the warnings: row, column, code and detail; null if there are none",
		"errors_url":   "Signed link to a CSV of the failed rows, valid for at least an hour; null if none failed",
		"status":       "State of the import; undo has its own",
		"started_at":   "When the first row was read; null: not yet",
	}
}

// Undo is the progress of an import's undo.
type Undo struct {
	Status      string     `json:"status" enum:"queued,running,completed,failed" doc:"State of the undo, a job"`
	Archived    int        `json:"contacts_archived" doc:"Created contacts that were archived again"`
	Restored    int        `json:"contacts_restored" doc:"Changed contacts that were restored to their previous state"`
	Left        int        `json:"contacts_left" doc:"Left unchanged, as they were edited, archived or erased since"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time"`
}

// Descriptions implements wire.Describer.
func (Undo) Descriptions() map[string]string {
	return map[string]string{
		"completed_at": "When the undo was completed or failed; null: not yet",
	}
}

const importColumns = `id, status, dry_run, suppress_events, file_name, columns, rows_total, rows_created,
	rows_updated, rows_unchanged, rows_failed,
	rows_blank, rows_repeated, warnings_count, create_companies, strict, locale, source, error, created_at, started_at,
	completed_at,
	undo_status, undo_archived, undo_restored, undo_left,
	undo_at, computed, link_key,
	actor_type, actor_id, request_id, next_block, blocks, fields_new, undo_act, undo_from`

func scan(row pgx.CollectableRow) (Import, error) {
	var (
		i       Import
		u       Undo
		columns []byte
		source  []byte
		undo    *string
	)
	err := row.Scan(&i.ID, &i.Status, &i.DryRun, &i.SuppressEvents, &i.FileName, &columns, &i.RowsTotal,
		&i.RowsCreated, &i.RowsUpdated, &i.RowsUnchanged,
		&i.RowsFailed, &i.RowsBlank, &i.RowsRepeated, &i.WarningsCount, &i.MakeCompanies, &i.Strict, &i.locale,
		&source, &i.Error,
		&i.CreatedAt, &i.StartedAt, &i.CompletedAt, &undo, &u.Archived,
		&u.Restored, &u.Left, &u.CompletedAt,
		&i.Computed, &i.Key, &i.actor.ActorType, &i.actor.ActorID, &i.actor.RequestID, &i.next, &i.blocks, &i.fresh,
		&i.act, &i.from)
	if err == nil {
		err = errors.Join(json.Unmarshal(columns, &i.columns), json.Unmarshal(source, &i.source))
	}
	if err != nil {
		return i, err
	}
	i.describe()
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

// describe sets the members that follow from how the file was read.
func (i *Import) describe() {
	i.Mapping, i.Types = map[string]*string{}, map[string]string{}
	i.LeftOut = append([]sheet.OmittedColumn{}, i.source.LeftOut...)
	for _, c := range i.columns {
		i.Mapping[c.Name] = c.Field
		if _, is := c.key(); is {
			i.Types[c.Name] = string(c.Type)
		}
		if c.Field == nil && c.Filled && c.Reason != "" {
			i.LeftOut = append(i.LeftOut, sheet.OmittedColumn{Column: c.Name, Reason: c.Reason})
		}
	}
	if i.locale != "" {
		i.Locale = &i.locale
	}
	if i.source.Delimiter != "" {
		i.Encoding, i.Delimiter, i.HeaderLine = &i.source.Encoding, &i.source.Delimiter, &i.source.HeaderRow
	}
}

// Show sets the links to i's files. base is the URL prefix of the links.
func (i *Import) Show(base string, org id.ID, now time.Time) {
	link := func(kind byte, n int) *string {
		if n == 0 || !now.Before(i.CreatedAt.Add(Kept)) {
			return nil
		}
		s := base + exports.Sign(exports.Link{Kind: kind, Org: org, ID: i.ID}, i.Key, now)
		return &s
	}
	i.ErrorsURL = link(ErrorsLink, i.RowsFailed)
	i.WarningsURL = link(WarningsLink, i.WarningsCount)
}

// ErrorsLink is the kind of links to an import's error file.
const ErrorsLink = 'e'

// WarningsLink is the kind of links to an import's warnings.
const WarningsLink = 'w'

func missing() *fault.Fault { return fault.New(fault.NotFound, "There is no such import.") }

func one(ctx context.Context, tx *postgres.Tx, i id.ID, lock string) (Import, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+importColumns+` FROM contact_import WHERE org_id = $1 AND id = $2 AND status <> 'uploading'`+lock,
		tx.Org(), i)
	if err != nil {
		return Import{}, fmt.Errorf("read import: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if postgres.None(err) {
		return Import{}, missing()
	}
	return found, err
}

// Get returns one import, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Import, error) { return one(ctx, tx, i, "") }

// Count returns the number of imports.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_import WHERE org_id = $1 AND status <> 'uploading'`,
		[]any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count imports: %w", err)
	}
	return n, nil
}

// List returns at most limit imports, newest first, starting before the given one if before is not nil.
func List(ctx context.Context, tx *postgres.Tx, before *id.ID, limit int) ([]Import, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+importColumns+
			` FROM contact_import WHERE org_id = $1 AND status <> 'uploading' AND ($2::uuid IS NULL OR id < $2)
		ORDER BY id DESC LIMIT $3`, tx.Org(), before, limit)
	if err != nil {
		return nil, fmt.Errorf("list imports: %w", err)
	}
	return pgx.CollectRows(rows, scan)
}

// Choices holds the parameters of a requested import besides its file.
type Choices struct {
	Mapping        []byte // a JSON object; nil: map columns by name
	Types          []byte // a JSON object; nil: as the values are
	DryRun         bool
	SuppressEvents bool
	Strict         bool
	MakeCompanies  bool // those that rows name and the org does not have
	Locale         string
}

// Queue creates an import from a staged file. The caller must enqueue its job, and must call Drop if Queue returns an
// error.
func Queue(ctx context.Context, tx *postgres.Tx, s *Staged, c Choices) (Import, error) {
	if err := s.inherit(ctx, tx, &c); err != nil {
		return Import{}, err
	}
	if _, err := localeOf(c.Locale); err != nil {
		return Import{}, err
	}
	without := []string{company}
	if c.MakeCompanies {
		without = nil
	}
	if err := mapTo(s.columns, c.Mapping, without...); err != nil {
		return Import{}, err
	}
	defined, err := typesOf(ctx, tx, s.columns)
	if err != nil {
		return Import{}, err
	}
	if err := chooseTypes(s.columns, c.Types, defined); err != nil {
		return Import{}, err
	}
	for i := range s.columns {
		if key, is := s.columns[i].key(); is && defined[key] != "" {
			s.columns[i].Type = defined[key]
		}
	}
	columns, err := json.Marshal(s.columns)
	if err != nil {
		return Import{}, fmt.Errorf("encode columns: %w", err)
	}
	source, err := json.Marshal(s.source)
	if err != nil {
		return Import{}, fmt.Errorf("encode source: %w", err)
	}
	n, err := tx.Exec(ctx,
		`UPDATE contact_import SET status = 'queued', dry_run = $3, suppress_events = $4, file_name = nullif($5,
			''), columns = $6, blocks = $7, rows_total = $8, strict = $9, locale = $10, source = $11,
			create_companies = $12
		WHERE org_id = $1 AND id = $2 AND status = 'uploading'`, tx.Org(), s.ID, c.DryRun, c.SuppressEvents,
		s.FileName, columns, s.blocks, s.rows, c.Strict, c.Locale, source, c.MakeCompanies)
	if err != nil {
		return Import{}, fmt.Errorf("queue import: %w", err)
	}
	if n == 0 {
		return Import{}, fault.New(fault.Conflict, "The upload took too long and was aborted.")
	}
	return one(ctx, tx, s.ID, "")
}

// begin inserts the row of an upload.
func begin(ctx context.Context, tx *postgres.Tx, i id.ID) {
	by, key := events.OriginOf(ctx), make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	tx.Queue(`INSERT INTO contact_import (org_id, id, status, actor_type, actor_id, request_id, link_key,
		created_at) VALUES ($1, $2, 'uploading', $3, $4, $5, $6, $7)`,
		tx.Org(), i, by.ActorType, by.ActorID, by.RequestID, key, wire.Now())
}
