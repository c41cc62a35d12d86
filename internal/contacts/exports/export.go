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
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Kept is how long a file is kept.
const Kept = 7 * 24 * time.Hour

// The formats.
const (
	CSV    = "csv"
	NDJSON = "ndjson"
)

// Export is one file of contacts.
type Export struct {
	ID          id.ID      `json:"id" format:"uuid"`
	Status      string     `json:"status" enum:"queued,running,completed,failed,expired" doc:"expired: the file is gone"`
	Format      string     `json:"format" enum:"csv,ndjson"`
	Archived    bool       `json:"archived" doc:"The archived contacts instead of the live ones"`
	Fields      []string   `json:"fields" doc:"The columns; of the usual ones, those of custom fields are known once it runs"`
	Rows        int        `json:"rows" doc:"Contacts in the file so far"`
	Bytes       int64      `json:"bytes"`
	DownloadURL *string    `json:"download_url" doc:"Signed link to the file, good for at least an hour; null until it is completed"`
	Error       *string    `json:"error" doc:"Why it failed"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time"`
	StartedAt   *wire.Time `json:"started_at" format:"date-time"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"When it was completed or failed"`
	ExpiresAt   wire.Time  `json:"expires_at" format:"date-time" doc:"From then on the file is gone"`

	Filter   json.RawMessage `json:"-"` // as it was asked for; null: all contacts
	Computed int             `json:"-"` // the ETag's second part
	Key      []byte          `json:"-"` // signs links

	actor   events.Origin
	parts   int
	afterAt *wire.Time
	afterID *id.ID
}

const exportColumns = `id, status, format, filter, archived, fields, rows, bytes, error, created_at, started_at, completed_at, expires_at, computed, link_key,
	actor_type, actor_id, request_id, parts, after_at, after_id`

func scan(row pgx.CollectableRow) (e Export, err error) {
	var filter []byte
	err = row.Scan(&e.ID, &e.Status, &e.Format, &filter, &e.Archived, &e.Fields, &e.Rows, &e.Bytes, &e.Error, &e.CreatedAt, &e.StartedAt, &e.CompletedAt,
		&e.ExpiresAt, &e.Computed, &e.Key, &e.actor.ActorType, &e.actor.ActorID, &e.actor.RequestID, &e.parts, &e.afterAt, &e.afterID)
	if e.Filter = filter; filter == nil {
		e.Filter = json.RawMessage("null")
	}
	return e, err
}

// Show fills in the link to e's file: base is the address that it begins with.
func (e *Export) Show(base string, org id.ID, now time.Time) {
	if e.DownloadURL = nil; e.Status == "completed" && now.Before(e.ExpiresAt.Time) {
		link := base + Sign(Link{Kind: FileLink, Org: org, ID: e.ID}, e.Key, now)
		e.DownloadURL = &link
	}
}

// usual are the columns of a file that nobody has chosen the columns of, before those of custom fields.
var usual = []string{
	"id", "email", "first_name", "last_name", "phone", "job_title", "source", "time_zone", "company_id", "owner_id", "stage", "tag", "segment",
	"lead_score", "created_at", "updated_at",
}

// Wanted is what an export is asked for with.
type Wanted struct {
	Format   string
	Filter   json.RawMessage // nil: all
	Archived bool
	Fields   []string // none: the usual ones and every custom field
}

// Start writes an export down; whoever calls it adds the job that makes the file. A field that a contact has not is a
// validation fault, a filter that is none a *filter.Error.
func Start(ctx context.Context, tx *postgres.Tx, w Wanted) (Export, error) {
	if err := w.check(ctx, tx); err != nil {
		return Export{}, err
	}
	by, key, now := events.OriginOf(ctx), make([]byte, 32), wire.Now()
	_, _ = rand.Read(key) // it never fails
	e := Export{
		ID: id.New(), Status: "queued", Format: w.Format, Filter: w.Filter, Archived: w.Archived, Fields: append([]string{}, w.Fields...),
		CreatedAt: now, ExpiresAt: wire.At(now.Add(Kept)), Key: key,
	}
	var filter *string
	if w.Filter != nil {
		text := string(w.Filter)
		filter = &text
	}
	tx.Queue(`INSERT INTO contact_export (org_id, id, status, format, filter, archived, fields, actor_type, actor_id, request_id, link_key, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, $11, $12, $13)`,
		tx.Org(), e.ID, e.Status, e.Format, filter, e.Archived, e.Fields, by.ActorType, by.ActorID, by.RequestID, key, e.CreatedAt, e.ExpiresAt)
	return e, nil
}

// noField says that f is no field of an export, and which are.
func (w *Wanted) noField(f string) string {
	names := append(slices.Clone(usual), "archived_at")
	if w.Format == NDJSON {
		names = append(names, "attributes")
	}
	return fault.Choices("A contact has no such field.", f, append(names, attribute+"KEY for a custom field"))
}

func (w *Wanted) check(ctx context.Context, tx *postgres.Tx) error {
	var wrong []fault.Field
	seen := map[string]bool{}
	for i, f := range w.Fields {
		at := "#/fields/" + strconv.Itoa(i)
		key, custom := strings.CutPrefix(f, attribute)
		switch {
		case seen[f]:
			wrong = append(wrong, fault.Field{Pointer: at, Code: "duplicate", Detail: "The field is named twice."})
		case custom && contacts.ValidKey(key), slices.Contains(usual, f), f == "archived_at", f == "attributes" && w.Format == NDJSON:
		default:
			wrong = append(wrong, fault.Field{Pointer: at, Code: "unknown_field", Detail: w.noField(f)})
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

func missing() *fault.Fault { return fault.New(fault.NotFound, "There is no such export.") }

func one(ctx context.Context, tx *postgres.Tx, i id.ID, lock string) (Export, error) {
	rows, err := tx.Query(ctx, `SELECT `+exportColumns+` FROM contact_export WHERE org_id = $1 AND id = $2`+lock, tx.Org(), i)
	if err != nil {
		return Export{}, fmt.Errorf("read export: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if postgres.None(err) {
		return Export{}, missing()
	}
	return found, err
}

// Get answers one export, or a not_found fault.
func Get(ctx context.Context, tx *postgres.Tx, i id.ID) (Export, error) { return one(ctx, tx, i, "") }

// Count is how many exports there are.
func Count(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	if err = tx.QueryRow(ctx, `SELECT count(*) FROM contact_export WHERE org_id = $1`, []any{tx.Org()}, &n); err != nil {
		return 0, fmt.Errorf("count exports: %w", err)
	}
	return n, nil
}

// List answers at most limit exports, newest first, those older than before if it is given.
func List(ctx context.Context, tx *postgres.Tx, before *id.ID, limit int) ([]Export, error) {
	rows, err := tx.Query(ctx, `SELECT `+exportColumns+` FROM contact_export WHERE org_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`, tx.Org(), before, limit)
	if err != nil {
		return nil, fmt.Errorf("list exports: %w", err)
	}
	return pgx.CollectRows(rows, scan)
}

// Parts answers a reader of an export's file, part by part; io.EOF after the last.
func Parts(e *Export, db *postgres.DB, org id.ID) func(context.Context) ([]byte, error) {
	next := 0
	return func(ctx context.Context) (data []byte, err error) {
		if next == e.parts {
			return nil, errEnd
		}
		err = db.View(ctx, org, func(tx *postgres.Tx) error {
			return tx.QueryRow(ctx, `SELECT data FROM contact_export_part WHERE org_id = $1 AND export_id = $2 AND part = $3`, []any{org, e.ID, next}, &data)
		})
		if err != nil {
			return nil, fmt.Errorf("read part %d: %w", next, err)
		}
		next++
		return data, nil
	}
}
