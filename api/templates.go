package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/templates"
)

const (
	templatesPath = "/api/v1/templates"
	templatesTag  = "Templates"
)

func (a *App) mountTemplates() {
	r := records[templates.Template, templates.Patch]{
		App: a, path: templatesPath, id: func(t *templates.Template) id.ID { return t.ID },
		create: func(_ context.Context, tx *postgres.Tx, p *templates.Patch) (templates.Row, error) {
			return templates.Create(tx, p)
		},
		get: templates.Get, update: templates.Update, archive: templates.Archive, restore: templates.Restore,
		announce: func(context.Context, *postgres.Tx, *templates.Change) error { return nil }, // without events
	}
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.create",
		Method: http.MethodPost, Path: templatesPath, Need: httpx.Member, Tag: templatesTag,
		Title: "Create a template", Status: http.StatusCreated,
	}, createHandler(r, (*createTemplateRequest).toPatch))
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.list",
		Method: http.MethodGet, Path: templatesPath, Need: httpx.Viewer, Tag: templatesTag, Title: "List templates",
	}, a.listTemplates)
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.preview",
		Method: http.MethodPost, Path: templatesPath + "/preview", Need: httpx.Viewer, Tag: templatesTag, Open: true,
		Title: "Show a mail as a contact would get it",
	}, a.previewTemplate)
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.get",
		Method: http.MethodGet, Path: templatesPath + "/{id}", Need: httpx.Viewer, Tag: templatesTag,
		Title: "Get a template",
	}, r.getRecord)
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.update",
		Method: http.MethodPatch, Path: templatesPath + "/{id}", Need: httpx.Member, Tag: templatesTag,
		Title: "Update a template",
	}, updateHandler(r, (*updateTemplateRequest).toPatch))
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.archive",
		Method: http.MethodDelete, Path: templatesPath + "/{id}", Need: httpx.Member, Tag: templatesTag,
		Title: "Archive a template", Status: http.StatusNoContent,
	}, r.archiveRecord)
	httpx.Route(a.Server, httpx.Op{
		ID:     "templates.restore",
		Method: http.MethodPost, Path: templatesPath + "/{id}/restore", Need: httpx.Member, Tag: templatesTag,
		Title: "Restore an archived template",
	}, r.restoreRecord)
}

// TemplateParts are the parts of a mail in a request.
type TemplateParts struct {
	Subject httpx.Optional[string]          `json:"subject" required:"false"`
	HTML    httpx.Optional[string]          `json:"html" required:"false"`
	Text    httpx.Optional[string]          `json:"text" required:"false"`
	Blocks  httpx.Optional[[]compose.Block] `json:"blocks" required:"false"`
}

// Descriptions implements wire.Describer.
func (TemplateParts) Descriptions() map[string]string {
	return map[string]string{
		"subject": "Subject with merge fields, up to 2000 characters; null: empty",
		"html":    "HTML with merge fields, up to 512 KiB; null: none",
		"text":    "Text part with merge fields, up to 256 KiB; null: it is made from the HTML",
		"blocks":  "Blocks that the HTML is built from, at most 200; null: none. Not together with html",
	}
}

func (p *TemplateParts) toPatch() templates.Patch {
	return templates.Patch{
		Subject: p.Subject.Field, HTML: p.HTML.Field, Text: p.Text.Field, Blocks: p.Blocks.Field,
	}
}

// TemplateFields are the members common to every template body.
type TemplateFields struct {
	TemplateParts
	ID         httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	CreatedAt  httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt  httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

func (f *TemplateFields) toPatch(name httpx.Optional[string]) templates.Patch {
	p := f.TemplateParts.toPatch()
	p.Name = name.Field
	p.Refuse("id", json.RawMessage(f.ID))
	p.Refuse("created_at", json.RawMessage(f.CreatedAt))
	p.Refuse("updated_at", json.RawMessage(f.UpdatedAt))
	p.Refuse("archived_at", json.RawMessage(f.ArchivedAt))
	return p
}

type createTemplateRequest struct {
	Name httpx.Optional[string] `json:"name" doc:"Display name, 1 to 200 characters"`
	TemplateFields
}

func (b *createTemplateRequest) toPatch() templates.Patch { return b.TemplateFields.toPatch(b.Name) }

type updateTemplateRequest struct {
	Name httpx.Optional[string] `json:"name" required:"false" doc:"Display name, 1 to 200 characters; not null"`
	TemplateFields
}

func (b *updateTemplateRequest) toPatch() templates.Patch { return b.TemplateFields.toPatch(b.Name) }

type templateQuery struct {
	httpx.Page
	CountQuery
	Sort     string `query:"sort" enum:"-created_at,created_at,name" default:"-created_at"`
	Archived bool   `query:"archived" doc:"List archived templates instead of live ones"`
}

// Descriptions implements wire.Describer.
func (templateQuery) Descriptions() map[string]string {
	return map[string]string{
		"sort": "Order of the list; a leading minus is descending",
	}
}

func (a *App) listTemplates(ctx context.Context, in *templateQuery) (*recordList[templates.Template], error) {
	return listHandler(ctx, a, in.Page, in.Count, listing[templates.Template]{
		rows: func(ctx context.Context, tx *postgres.Tx, after *record.Position, limit int) ([]templates.Row, error) {
			return templates.List(ctx, tx, in.Archived, in.Sort, after, limit)
		},
		position: func(r *templates.Row) record.Position { return templates.Position(in.Sort, r) },
		count: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return templates.Count(ctx, tx, in.Archived)
		},
		estimate: func(ctx context.Context, tx *postgres.Tx) (int64, error) {
			return templates.Estimate(ctx, tx, in.Archived)
		},
	})
}
