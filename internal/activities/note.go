package activities

import (
	"context"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Note is a text that a user wrote about a contact, a company or a deal.
type Note struct {
	ID        id.ID  `json:"id" format:"uuid" doc:"ID of the note"`
	Body      string `json:"body" doc:"Text of the note, up to 64 KiB"`
	AuthorID  *id.ID `json:"author_id" format:"uuid" nullable:"true" doc:"The author; null if an API key wrote it"`
	ContactID *id.ID `json:"contact_id" format:"uuid" nullable:"true"`
	CompanyID *id.ID `json:"company_id" format:"uuid" nullable:"true"`
	DealID    *id.ID `json:"deal_id" format:"uuid" nullable:"true"`

	ExternalIDs externalid.IDs `json:"external_ids"`

	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When the note was created"`
	UpdatedAt  wire.Time  `json:"updated_at" format:"date-time" doc:"When the note was last edited"`
	ArchivedAt *wire.Time `json:"archived_at" format:"date-time" doc:"When the note was archived; null: it is live"`
}

// Descriptions implements wire.Describer.
func (Note) Descriptions() map[string]string {
	return map[string]string{
		"contact_id":   "The contact that the note is about; null: none",
		"company_id":   "The company that the note is about; null: none",
		"deal_id":      "The deal that the note is about; null: none",
		"external_ids": "The note's ids in other systems, by system; no two live notes share one",
	}
}

// NoteRow is a note with its edit counter.
type NoteRow = record.Row[Note]

// NoteChange is the result of a change to a note.
type NoteChange = record.Change[Note]

var notes = record.Table[Note]{
	Name: "note", Absent: "There is no such note.",
	Columns: "id, body, author_id, contact_id, company_id, deal_id, external_ids, created_at, updated_at, " +
		"archived_at",
	Scan: func(n *Note) []any {
		return []any{
			&n.ID, &n.Body, &n.AuthorID, &n.ContactID, &n.CompanyID, &n.DealID, &n.ExternalIDs,
			&n.CreatedAt, &n.UpdatedAt,
			&n.ArchivedAt,
		}
	},
	Stamps: func(n *Note) (*wire.Time, **wire.Time) { return &n.UpdatedAt, &n.ArchivedAt },
}

// maxText is the maximum length of a note or of a task's description, in characters and in bytes.
const maxText = 64 << 10

// NotePatch is a merge patch (RFC 7396) of a note. It is also the body of a create request.
type NotePatch struct {
	Body wire.Field[string]
	Subjects
	ExternalIDs externalid.Patch
	form.Refused
}

func (p *NotePatch) applyMembers(f *form.Form, n *Note, live there) {
	checkBytes(f, p.Body)
	f.RequiredText("body", p.Body, &n.Body, maxText)
	n.ExternalIDs = externalid.Apply(p.ExternalIDs, n.ExternalIDs, f.Wrong)
	p.Subjects.applySubjects(f, about{&n.ContactID, &n.CompanyID, &n.DealID}, live)
	if f.OK() && n.ContactID == nil && n.CompanyID == nil && n.DealID == nil {
		f.Wrong("contact_id", "required", "A note is about a contact, a company or a deal.")
	}
}

// checkBytes refuses a text that exceeds the limit in bytes but not in characters.
func checkBytes(f *form.Form, in wire.Field[string]) {
	if len(in.Value) > maxText && len([]rune(in.Value)) <= maxText {
		f.Wrong("body", "too_long", "At most 64 KiB are allowed.")
	}
}

// CreateNote creates a note from p. The author is the user by, or nil for an API key. An invalid p is a validation
// fault.
func CreateNote(ctx context.Context, tx *postgres.Tx, p *NotePatch, by *id.ID) (NoteRow, error) {
	live, err := p.findLive(ctx, tx)
	if err != nil {
		return NoteRow{}, err
	}
	f, now := form.At(""), wire.Now()
	n := Note{ID: id.New(), AuthorID: by, CreatedAt: now, UpdatedAt: now}
	f.ReadOnly(p.Sent, &n)
	form.Missing(f, "body", p.Body)
	if p.applyMembers(f, &n, live); !f.OK() {
		return NoteRow{}, f.Fault()
	}
	externalid.Refuse(tx.Queue(`INSERT INTO note (org_id, id, body, author_id, contact_id, company_id, deal_id,
		created_at, updated_at, external_ids) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)`,
		tx.Org(), n.ID, n.Body, n.AuthorID, n.ContactID, n.CompanyID, n.DealID, now, n.ExternalIDs.Text()),
		externalid.Note, n.ExternalIDs)
	return NoteRow{Value: n, Edit: 1}, nil
}

// GetNote returns one note of the org. An archived note is returned only with archivedToo. If there is no such note,
// the error is a not_found fault.
func GetNote(ctx context.Context, tx *postgres.Tx, i id.ID, archivedToo bool) (NoteRow, error) {
	return notes.Get(ctx, tx, i, archivedToo)
}

// UpdateNote applies p to the live note i; see record.Table.Update.
func UpdateNote(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match, p *NotePatch) (NoteChange, error) {
	ch, err := notes.Update(ctx, tx, i, match, func(was, now *Note) error {
		live, err := p.findLive(ctx, tx)
		if err != nil {
			return err
		}
		f := form.At("")
		f.ReadOnly(p.Sent, was)
		p.applyMembers(f, now, live)
		return f.Fault()
	})
	if n := &ch.Value; err == nil && ch.Changed() {
		externalid.Refuse(tx.Queue(`UPDATE note SET body = $3, contact_id = $4, company_id = $5, deal_id = $6,
			updated_at = $7, external_ids = $8, edit = edit + 1 WHERE org_id = $1 AND id = $2`,
			tx.Org(), n.ID, n.Body, n.ContactID, n.CompanyID, n.DealID, n.UpdatedAt, n.ExternalIDs.Text()),
			externalid.Note, n.ExternalIDs)
	}
	return ch, err
}

// ArchiveNote hides the note; see record.Table.Archive.
func ArchiveNote(ctx context.Context, tx *postgres.Tx, i id.ID, match record.Match) (NoteChange, error) {
	return notes.Archive(ctx, tx, i, match)
}

// RestoreNote undoes ArchiveNote.
func RestoreNote(ctx context.Context, tx *postgres.Tx, i id.ID) (NoteChange, error) {
	ch, q, err := notes.Restore(ctx, tx, i)
	if q != nil {
		externalid.Refuse(q, externalid.Note, ch.Value.ExternalIDs)
	}
	return ch, err
}

// NoteEvents returns the events of a change. Only the creation of a note has an event; edits have none.
func NoteEvents(ch *NoteChange) []events.Event {
	n := ch.Value
	if !ch.Before.ID.IsZero() {
		return nil
	}
	return []events.Event{events.ActivityLogged{Activity: events.Activity{
		ID: n.ID, Kind: "note", ContactID: n.ContactID, CompanyID: n.CompanyID, DealID: n.DealID, Text: n.Body,
		At: n.CreatedAt,
	}}}
}

// NoteFilter selects the notes of a list. The zero NoteFilter selects every live note.
type NoteFilter struct {
	Contact, Company, Deal, Author *id.ID
	ExternalID                     *externalid.Key
	Archived                       bool // select archived notes instead of live ones
}

var noteOrders = map[string]record.Order[Note]{
	"-created_at": {Column: "created_at", Type: "timestamptz", Down: true, Key: func(n *Note) string {
		return keyOf(n.CreatedAt)
	}},
	"created_at": {Column: "created_at", Type: "timestamptz", Key: func(n *Note) string { return keyOf(n.CreatedAt) }},
}

// keyOf formats a time as the sort key of an order.
func keyOf(t wire.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (f *NoteFilter) buildQuery(org id.ID) *record.Query {
	q := record.Where(org, f.Archived)
	q.Is("contact_id", f.Contact)
	q.Is("company_id", f.Company)
	q.Is("deal_id", f.Deal)
	q.Is("author_id", f.Author)
	q.HasExternalID(externalid.Note, f.ExternalID)
	return q
}

// ListNotes returns at most limit notes selected by f in an order (-created_at, created_at), starting after a position,
// or at the beginning if after is nil.
func ListNotes(ctx context.Context, tx *postgres.Tx, f *NoteFilter, order string, after *record.Position,
	limit int,
) ([]NoteRow, error) {
	return notes.List(ctx, tx, f.buildQuery(tx.Org()), noteOrders[order], after, limit)
}

// NotePosition returns the position of a note in an order.
func NotePosition(order string, r *NoteRow) record.Position {
	o := noteOrders[order]
	return o.Position(&r.Value, r.Value.ID)
}

// CountNotes returns the exact number of notes that f selects.
func CountNotes(ctx context.Context, tx *postgres.Tx, f *NoteFilter) (int64, error) {
	return notes.Count(ctx, tx, f.buildQuery(tx.Org()))
}

// EstimateNotes returns the number of notes that f selects: exact up to 1,000, above that the planner's estimate.
func EstimateNotes(ctx context.Context, tx *postgres.Tx, f *NoteFilter) (int64, error) {
	return notes.Estimate(ctx, tx, f.buildQuery(tx.Org()))
}
