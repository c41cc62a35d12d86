package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/activities"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

const notesPath = "/api/v1/crm/notes"

func (a *App) mountNotes() {
	r := records[activities.Note, activities.NotePatch]{
		App: a, path: notesPath, id: func(n *activities.Note) id.ID { return n.ID },
		create: func(ctx context.Context, tx *postgres.Tx, p *activities.NotePatch) (activities.NoteRow, error) {
			return activities.CreateNote(ctx, tx, p, callingUser(ctx))
		},
		get: activities.GetNote, update: activities.UpdateNote, archive: activities.ArchiveNote,
		restore: activities.RestoreNote, resolve: a.resolveExternalID,
		announce: func(ctx context.Context, tx *postgres.Tx, ch *activities.NoteChange) error {
			return announceAll(ctx, tx, activities.NoteEvents(ch))
		},
	}
	const tag = "Notes"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "notes.create",
			Method: http.MethodPost, Path: notesPath, Need: httpx.Member, Tag: tag, Title: "Create a note",
			Status: http.StatusCreated, Writes: []string{"activity.logged"},
		}, createHandler(r, (*createNoteRequest).toPatch))
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "notes.list",
			Method: http.MethodGet,
			Path:   notesPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List notes",
		},
		a.listNotes,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "notes.get",
			Method: http.MethodGet,
			Path:   notesPath + "/{id}",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a note",
		},
		r.getRecord,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "notes.update",
			Method: http.MethodPatch,
			Path:   notesPath + "/{id}",
			Need:   httpx.Member,
			Tag:    tag,
			Title:  "Update a note",
		},
		updateHandler(r, (*updateNoteRequest).toPatch),
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "notes.archive",
			Method: http.MethodDelete, Path: notesPath + "/{id}", Need: httpx.Member, Tag: tag, Title: "Archive a note",
			Status: http.StatusNoContent,
		}, r.archiveRecord)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "notes.restore",
			Method: http.MethodPost, Path: notesPath + "/{id}/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived note",
		}, r.restoreRecord)
}

// callingUser returns the calling user, or nil for an API key.
func callingUser(ctx context.Context) *id.ID {
	w := httpx.Who(ctx)
	if w.IsKey() {
		return nil
	}
	return &w.User
}

// SubjectFields are the members that name the subject of a note or task.
type SubjectFields struct {
	ContactID httpx.Optional[string] `json:"contact_id" required:"false" format:"uuid" doc:"A live contact"`
	CompanyID httpx.Optional[string] `json:"company_id" required:"false" doc:"Any UUID; resolved if the company exists"`
	DealID    httpx.Optional[string] `json:"deal_id" required:"false" format:"uuid" doc:"A live deal"`

	ExternalIDs httpx.Optional[map[string]any] `json:"external_ids" required:"false"`

	ID         httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt  httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

// Descriptions implements wire.Describer.
func (SubjectFields) Descriptions() map[string]string {
	return map[string]string{"external_ids": "Ids in other systems, by system; null removes"}
}

func (f *SubjectFields) subjects() activities.Subjects {
	return activities.Subjects{ContactID: f.ContactID.Field, CompanyID: f.CompanyID.Field, DealID: f.DealID.Field}
}

// refuseReadOnly passes the read-only members that were sent to put.
func (f *SubjectFields) refuseReadOnly(put func(string, json.RawMessage)) {
	for name, sent := range map[string]httpx.RawJSON{
		"id": f.ID, "created_at": f.CreatedAt, "updated_at": f.UpdatedAt,
		"archived_at": f.ArchivedAt,
	} {
		put(name, json.RawMessage(sent))
	}
}

type createNoteRequest struct {
	Body httpx.Optional[string] `json:"body" doc:"Text of the note, up to 64 KiB"`
	SubjectFields
	AuthorID httpx.RawJSON `json:"author_id" required:"false" readOnly:"true"`
}

func (b *createNoteRequest) toPatch() activities.NotePatch {
	p := activities.NotePatch{Body: b.Body.Field, Subjects: b.subjects(), ExternalIDs: b.ExternalIDs.Field}
	b.refuseReadOnly(p.Refuse)
	p.Refuse("author_id", json.RawMessage(b.AuthorID))
	return p
}

type updateNoteRequest struct {
	Body httpx.Optional[string] `json:"body" required:"false" doc:"Text of the note, up to 64 KiB; not null"`
	SubjectFields
	AuthorID httpx.RawJSON `json:"author_id" required:"false" readOnly:"true"`
}

func (b *updateNoteRequest) toPatch() activities.NotePatch {
	p := activities.NotePatch{Body: b.Body.Field, Subjects: b.subjects(), ExternalIDs: b.ExternalIDs.Field}
	b.refuseReadOnly(p.Refuse)
	p.Refuse("author_id", json.RawMessage(b.AuthorID))
	return p
}

// SubjectQuery is embedded by the input of a list of records with a subject.
type SubjectQuery struct {
	ContactID string `query:"contact_id" format:"uuid" doc:"Only records about this contact"`
	CompanyID string `query:"company_id" format:"uuid" doc:"Only records about this company"`
	DealID    string `query:"deal_id" format:"uuid" doc:"Only records about this deal"`
	ExternalIDQuery
}

func (q *SubjectQuery) readIDs(contact, company, deal **id.ID) (err error) {
	if *contact, err = uuidParameter("contact_id", q.ContactID); err != nil {
		return err
	}
	if *company, err = uuidParameter("company_id", q.CompanyID); err != nil {
		return err
	}
	*deal, err = uuidParameter("deal_id", q.DealID)
	return err
}

func (a *App) listNotes(ctx context.Context, in *struct {
	httpx.Page
	CountQuery
	SubjectQuery
	AuthorID string `query:"author_id" format:"uuid" doc:"Only notes of this user"`
	Sort     string `query:"sort" enum:"-created_at,created_at" default:"-created_at" doc:"-created_at: newest first"`
	Archived bool   `query:"archived" doc:"List archived notes instead of live ones"`
},
) (*recordList[activities.Note], error) {
	f := &activities.NoteFilter{Archived: in.Archived}
	if err := in.readIDs(&f.Contact, &f.Company, &f.Deal); err != nil {
		return nil, err
	}

	var err error
	if f.ExternalID, err = externalIDParameter(in.ExternalID); err != nil {
		return nil, err
	}
	if f.Author, err = uuidParameter("author_id", in.AuthorID); err != nil {
		return nil, err
	}

	return listHandler(ctx, a, in.Page, in.Count, listing[activities.Note]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]activities.NoteRow,
			error,
		) {
			return activities.ListNotes(ctx, tx, f, in.Sort, after, limit)
		},
		position: func(r *activities.NoteRow) record.Position { return activities.NotePosition(in.Sort, r) },
		count: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return activities.CountNotes(ctx, tx, f)
		},
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return activities.EstimateNotes(ctx, tx, f)
		},
	})
}
