package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/uploads"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long the refused lines of an import can be read.
const Kept = 30 * 24 * time.Hour

// ErrorsLink is the kind of links to an import's refused lines.
const ErrorsLink = 's'

// WarningsLink is the kind of links to an import's warnings.
const WarningsLink = 'v'

// Statuses of an import. Before it is queued, its file is being uploaded.
const (
	queued    = "queued"
	running   = "running"
	completed = "completed"
	failed    = "failed"
)

// Import is an import of one file and its progress.
type Import struct {
	ID            id.ID                 `json:"id" format:"uuid" doc:"ID of the import, and of its job"`
	Status        string                `json:"status" enum:"queued,running,completed,failed"`
	FileName      *string               `json:"file_name" doc:"Name of the uploaded file; null: it had none"`
	Mapping       map[string]*string    `json:"mapping" doc:"The field of each column; null if the column is left out"`
	LeftOut       []sheet.OmittedColumn `json:"left_out" doc:"Columns with values that are not imported, and why"`
	Encoding      *string               `json:"encoding" doc:"Encoding in which the file was read"`
	Delimiter     *string               `json:"delimiter" doc:"What separates the cells of the file"`
	HeaderLine    *int                  `json:"header_line" doc:"Number of the row that was read as the header"`
	Strict        bool                  `json:"strict" doc:"A cell that is not understood costs its row"`
	Purpose       string                `json:"purpose" enum:"marketing,all" doc:"Purpose of lines without one"`
	Reason        string                `json:"reason" enum:"unsubscribe,complaint,hard_bounce,manual"`
	RowsTotal     int                   `json:"rows_total" doc:"Rows below the header: the sum of the next four"`
	RowsAdded     int                   `json:"rows_added" doc:"Rows that created a suppression, so far"`
	RowsUnchanged int                   `json:"rows_unchanged" doc:"Rows already in force, so far"`
	RowsFailed    int                   `json:"rows_failed" doc:"Rows that were refused, so far; see errors_url"`
	RowsBlank     int                   `json:"rows_blank" doc:"Rows without a value, so far"`
	WarningsCount int                   `json:"warnings_count" doc:"Cells left out, and other warnings, so far"`
	WarningsURL   *string               `json:"warnings_url"`
	ErrorsURL     *string               `json:"errors_url"`
	Error         *string               `json:"error" doc:"Why the import failed"`
	CreatedAt     wire.Time             `json:"created_at" format:"date-time" doc:"When the file was accepted"`
	StartedAt     *wire.Time            `json:"started_at" format:"date-time"`
	CompletedAt   *wire.Time            `json:"completed_at" format:"date-time" doc:"When it was completed or failed"`

	Computed int    `json:"-"` // the second part of the ETag
	Key      []byte `json:"-"` // signs links

	source  uploads.Source
	columns []column
	by      string
	next    int // index of the next block
	blocks  int
}

// Descriptions implements wire.Describer.
func (Import) Descriptions() map[string]string {
	return map[string]string{
		"warnings_url": "Signed link to a CSV of the warnings: row, column, code and detail; null if there are none",
		"errors_url":   "Signed link to a CSV of the refused rows, valid for at least an hour; null if there are none",
		"reason":       "Reason of the lines without their own",
		"started_at":   "When the first row was read; null: not yet",
		"status":       "State of the import",
	}
}

// HasErrors reports whether the import has refused lines that can still be read.
func (i *Import) HasErrors(now time.Time) bool {
	return i.RowsFailed > 0 && now.Before(i.CreatedAt.Add(Kept))
}

// HasWarnings reports whether the import has warnings that can still be read.
func (i *Import) HasWarnings(now time.Time) bool {
	return i.WarningsCount > 0 && now.Before(i.CreatedAt.Add(Kept))
}

const columns = `id, status, file_name, columns, purpose, reason, rows_total, rows_added, rows_unchanged, rows_failed,
	rows_blank, warnings_count, strict, source, error, created_at, started_at, completed_at,
	computed, link_key, created_by, next_block, blocks`

func scanImport(row pgx.CollectableRow) (i Import, err error) {
	var names, source []byte
	err = row.Scan(&i.ID, &i.Status, &i.FileName, &names, &i.Purpose, &i.Reason, &i.RowsTotal, &i.RowsAdded,
		&i.RowsUnchanged, &i.RowsFailed, &i.RowsBlank, &i.WarningsCount, &i.Strict, &source,
		&i.Error, &i.CreatedAt, &i.StartedAt, &i.CompletedAt, &i.Computed, &i.Key,
		&i.by, &i.next, &i.blocks)
	if err == nil {
		err = errors.Join(json.Unmarshal(names, &i.columns), json.Unmarshal(source, &i.source))
	}
	i.Mapping, i.LeftOut = map[string]*string{}, append([]sheet.OmittedColumn{}, i.source.LeftOut...)
	for _, c := range i.columns {
		i.Mapping[c.Name] = c.Field
		if c.Field == nil && c.Filled {
			i.LeftOut = append(i.LeftOut, sheet.OmittedColumn{Column: c.Name, Reason: c.Reason})
		}
	}
	if i.source.Delimiter != "" {
		i.Encoding, i.Delimiter, i.HeaderLine = &i.source.Encoding, &i.source.Delimiter, &i.source.HeaderRow
	}
	return i, err
}

// Get returns one import, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, which id.ID) (Import, error) {
	return readImport(ctx, tx, which, "")
}

func readImport(ctx context.Context, tx *postgres.Tx, which id.ID, lock string) (Import, error) {
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM suppression_import
		WHERE org_id = $1 AND id = $2 AND status <> 'uploading'`+lock, tx.Org(), which)
	if err != nil {
		return Import{}, fmt.Errorf("read import of suppressions: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanImport)
	if postgres.None(err) {
		return Import{}, fault.New(fault.NotFound, "There is no such import.")
	}
	if err != nil {
		return Import{}, fmt.Errorf("read import of suppressions: %w", err)
	}
	return found, nil
}
