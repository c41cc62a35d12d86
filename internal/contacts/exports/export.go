package exports

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sheet"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long a file is stored.
const Kept = 7 * 24 * time.Hour

// File formats.
const (
	CSV    = "csv"
	NDJSON = "ndjson"
	XLSX   = "xlsx"
)

// Export is an export of contacts to a file.
type Export struct {
	ID          id.ID      `json:"id" format:"uuid" doc:"ID of the export"`
	Status      string     `json:"status" enum:"queued,running,completed,failed,expired" doc:"expired: file is deleted"`
	Format      string     `json:"format" enum:"csv,ndjson,xlsx"`
	BOM         bool       `json:"bom" doc:"The CSV begins with a byte order mark, by which spreadsheets know UTF-8"`
	Archived    bool       `json:"archived" doc:"Export archived contacts instead of live ones"`
	Fields      []string   `json:"fields" doc:"The columns; default custom field columns are known once it runs"`
	Rows        int        `json:"rows" doc:"Contacts in the file so far"`
	Bytes       int64      `json:"bytes" doc:"Size of the file so far, in bytes"`
	DownloadURL *string    `json:"download_url" doc:"Signed link, valid for at least an hour; null until completed"`
	Error       *string    `json:"error" doc:"Why the export failed"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time" doc:"When the export was requested"`
	StartedAt   *wire.Time `json:"started_at" format:"date-time"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"When it was completed or failed"`
	ExpiresAt   wire.Time  `json:"expires_at" format:"date-time" doc:"When the file is deleted"`

	Filter   json.RawMessage `json:"-"` // as requested; null: all contacts
	Computed int             `json:"-"` // the second part of the ETag
	Key      []byte          `json:"-"` // signs links

	actor    events.Origin
	parts    int
	workbook sheet.WorkbookState
	afterAt  *wire.Time
	afterID  *id.ID
}

// Descriptions implements wire.Describer.
func (Export) Descriptions() map[string]string {
	return map[string]string{
		"format":     "csv with a header row, xlsx: a workbook, or ndjson: one JSON object per line",
		"started_at": "When the first contact was written; null: not yet",
	}
}

const exportColumns = `id, status, format, bom, sheet, filter, archived, fields, rows, bytes, error, created_at,
	started_at,
	completed_at, expires_at, computed, link_key,
	actor_type, actor_id, request_id, parts, after_at, after_id`

func scanExport(row pgx.CollectableRow) (e Export, err error) {
	var filter, workbook []byte
	err = row.Scan(&e.ID, &e.Status, &e.Format, &e.BOM, &workbook, &filter, &e.Archived, &e.Fields, &e.Rows,
		&e.Bytes, &e.Error,
		&e.CreatedAt, &e.StartedAt, &e.CompletedAt,
		&e.ExpiresAt, &e.Computed, &e.Key, &e.actor.ActorType, &e.actor.ActorID, &e.actor.RequestID, &e.parts,
		&e.afterAt, &e.afterID)
	if e.Filter = filter; filter == nil {
		e.Filter = json.RawMessage("null")
	}
	if err == nil && workbook != nil {
		err = json.Unmarshal(workbook, &e.workbook)
	}
	return e, err
}

// Show sets the link to e's file. base is the URL prefix of the link.
func (e *Export) Show(base string, org id.ID, now time.Time) {
	if e.DownloadURL = nil; e.Status == "completed" && now.Before(e.ExpiresAt.Time) {
		link := base + Sign(Link{Kind: FileLink, Org: org, ID: e.ID}, e.Key, now)
		e.DownloadURL = &link
	}
}

// usual lists the default columns; the systems of external ids and the custom fields follow them.
var usual = slices.Concat([]string{"id", "email", "first_name", "last_name"}, contacts.TextNames(),
	contacts.ConsentNames(), []string{
		"company_id", "owner_id", "stage", "tag", "segment", "lead_score", "created_at", "updated_at",
	})

// Wanted holds the parameters of a requested export.
type Wanted struct {
	Format   string
	BOM      bool            // of a CSV
	Filter   json.RawMessage // nil: all
	Archived bool
	Fields   []string // empty: the default columns and every custom field
}

// Start stores an export; the caller must enqueue its job. An unknown field is a validation fault, an invalid filter a
// *filter.Error.
func Start(ctx context.Context, tx *postgres.Tx, w Wanted) (Export, error) {
	if err := w.checkFields(ctx, tx); err != nil {
		return Export{}, err
	}

	by := events.OriginOf(ctx)
	key := make([]byte, 32)
	now := wire.Now()
	_, _ = rand.Read(key) // never fails
	e := Export{
		ID: id.New(), Status: "queued", Format: w.Format, BOM: w.BOM, Filter: w.Filter, Archived: w.Archived,
		Fields:    append([]string{}, w.Fields...),
		CreatedAt: now, ExpiresAt: wire.At(now.Add(Kept)), Key: key,
	}
	var filter *string
	if w.Filter != nil {
		text := string(w.Filter)
		filter = &text
	}
	tx.Queue(`INSERT INTO contact_export (org_id, id, status, format, filter, archived, fields, actor_type,
		actor_id, request_id, link_key, created_at, expires_at, bom)
		VALUES ($1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		tx.Org(), e.ID, e.Status, e.Format, filter, e.Archived, e.Fields, by.ActorType, by.ActorID, by.RequestID, key,
		e.CreatedAt, e.ExpiresAt, e.BOM)
	return e, nil
}

// noField returns the message that f is not a field of an export, and lists the fields.
func (w *Wanted) noField(f string) string {
	names := append(slices.Clone(usual), "archived_at")
	if w.Format == NDJSON {
		names = append(names, externalid.Member, "attributes")
	}
	return fault.Choices("A contact has no such field.", f,
		append(names, attribute+"KEY for a custom field, or "+external+"SYSTEM for ids of another system"))
}

func (w *Wanted) checkFields(ctx context.Context, tx *postgres.Tx) error {
	var wrong []fault.FieldError
	if w.BOM && w.Format != CSV {
		wrong = append(wrong, fault.FieldError{
			Pointer: "#/bom", Code: "not_allowed", Detail: "Only a csv has a byte order mark.",
		})
	}
	seen := map[string]bool{}
	for i, f := range w.Fields {
		at := "#/fields/" + strconv.Itoa(i)
		key, custom := strings.CutPrefix(f, attribute)
		system, outer := strings.CutPrefix(f, external)
		switch {
		case seen[f]:
			wrong = append(wrong, fault.FieldError{Pointer: at, Code: "duplicate", Detail: "The field is named twice."})
		case custom && contacts.ValidKey(key), slices.Contains(usual, f), f == "archived_at",
			outer && externalid.ValidSystem(system),
			(f == "attributes" || f == externalid.Member) && w.Format == NDJSON:
		default:
			wrong = append(wrong, fault.FieldError{Pointer: at, Code: "unknown_field", Detail: w.noField(f)})
		}
		seen[f] = true
	}

	if len(wrong) > 0 {
		return &fault.Fault{Code: fault.ValidationFailed, Detail: "The request has invalid fields.", Fields: wrong}
	}
	if w.Filter == nil {
		return nil
	}

	_, err := contacts.ParseFilter(ctx, tx, w.Filter)
	return err
}

func noExport() *fault.Fault { return fault.New(fault.NotFound, "There is no such export.") }

func readExport(ctx context.Context, tx *postgres.Tx, i id.ID, lock string) (Export, error) {
	rows, err := tx.Query(ctx, `SELECT `+exportColumns+` FROM contact_export WHERE org_id = $1 AND id = $2`+lock,
		tx.Org(), i)
	if err != nil {
		return Export{}, fmt.Errorf("read export: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanExport)
	if postgres.None(err) {
		return Export{}, noExport()
	}
	return found, err
}

// Get returns one export, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Export, error) {
	return readExport(ctx, tx, i, "")
}

// Count returns the number of exports.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_export WHERE org_id = $1`, []any{tx.Org()},
		&n); err != nil {
		return 0, fmt.Errorf("count exports: %w", err)
	}
	return n, nil
}

// List returns at most limit exports, newest first, starting before the given one if before is not nil.
func List(ctx context.Context, tx *postgres.Tx, before *id.ID, limit int) ([]Export, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+exportColumns+
			` FROM contact_export WHERE org_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
		tx.Org(), before, limit)
	if err != nil {
		return nil, fmt.Errorf("list exports: %w", err)
	}
	return pgx.CollectRows(rows, scanExport)
}

// Reader reads rows of an org: a postgres.DB or a standby.Source.
type Reader interface {
	ReadTx(ctx context.Context, org id.ID, fn func(*postgres.Tx) error) error
}

// Parts returns a function that reads an export's file part by part from db. It returns io.EOF after the last part.
func Parts(e *Export, db Reader, org id.ID) func(context.Context) ([]byte, error) {
	next := 0
	return func(ctx context.Context) (data []byte, err error) {
		if next == e.parts {
			return nil, errEnd
		}
		err = db.ReadTx(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx,
				`SELECT data FROM contact_export_part WHERE org_id = $1 AND export_id = $2 AND part = $3`,
				[]any{org, e.ID, next}, &data)
		})
		if err != nil {
			return nil, fmt.Errorf("read part %d: %w", next, err)
		}
		next++
		return data, nil
	}
}
