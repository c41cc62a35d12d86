package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/imports"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/contactimport"
	"github.com/funnelwork/funnelwork/jobs/contactimportundo"
)

const (
	importsPath = contactsPath + "/imports"
	importBytes = 512 << 20
)

// mountImports must run before mountContacts, which would match "imports" as the id of a contact.
func (a *App) mountImports() {
	const tag = "Imports"
	httpx.Route(a.Server, httpx.Op{
		ID:      "imports.create",
		Method:  http.MethodPost,
		Path:    importsPath,
		Need:    httpx.Member,
		Tag:     tag,
		Title:   "Import contacts from a file",
		Secret:  true,
		Status:  http.StatusAccepted,
		Form:    importForm(),
		MaxBody: importBytes,
		Writes:  []string{contactimport.Kind.Name()},
		May:     []int{http.StatusUnsupportedMediaType},
	}, a.startImport)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "imports.list",
			Method: http.MethodGet,
			Path:   importsPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List imports, newest first",
			Secret: true,
		}, a.listImports)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "imports.get",
			Method: http.MethodGet, Path: importsPath + "/{id}", Need: httpx.Viewer, Tag: tag, Title: "Get an import",
			Secret: true,
		}, a.getImport)
	httpx.Route(a.Server, httpx.Op{
		ID:     "imports.undo",
		Method: http.MethodPost, Path: importsPath + "/{id}/undo", Need: httpx.Member, Tag: tag,
		Title: "Undo an import within 30 days", Secret: true, Status: http.StatusAccepted,
		Writes: []string{contactimportundo.Kind.Name()},
	}, a.undoImport)
}

// importForm returns the schema of an import's body for the API document. readForm parses the body.
func importForm() *huma.Schema {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	flag := func(doc string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: []any{"true", "false"}, Default: "false", Description: doc}
	}
	file := text("A file with a header, at most 512 MiB: CSV, also compressed (.csv.gz), the first sheet of an " +
		".xlsx, " +
		"or vCards. Encoding, delimiter and header are detected. The columns row, code and detail of a file of " +
		"refused " +
		"rows are ignored")
	file.Format = "binary"

	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"file"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"file": file,
			"mapping": text("A JSON object that gives columns, by their names in the header, a field of the " +
				"contact, attributes.KEY for a custom field, external_ids.SYSTEM, or null: ignored. " +
				"Columns that it does not name go by their own names; one that no field is called like becomes a " +
				"custom field, and so does the second of two columns for one field"),
			"types": text("A JSON object that gives columns of custom fields a type: string, number, boolean or " +
				"date. " +
				"The type of other columns fits all their values without changing one, and a dry run shows it"),
			"strict": flag("A cell that is not understood costs its row, instead of being left out with a " +
				"warning"),
			"encoding":  text("utf-8, utf-16, utf-16le, utf-16be or windows-1252. Default: detected"),
			"delimiter": text("comma, semicolon, tab or pipe, or the character. Default: detected"),
			"locale": text("How the file writes dates and numbers, such as de or en-GB. Default: what is " +
				"unambiguous"),
			"create_companies": flag("A column of companies' names or domains is mapped to company, and those that " +
				"are not known are created"),
			"dry_run":         flag("Works everything and writes nothing"),
			"suppress_events": flag("Contacts are changed without events of their own"),
		},
	}
}

// importState is the public form of an import.
type importState struct {
	imports.Import
	Undo httpx.Nullable[imports.Undo] `json:"undo" doc:"null until requested"`
}

type importStarted struct {
	Location string `header:"Location" doc:"Address of the progress"`
	Body     importState
}

type importAnswer struct {
	httpx.Tagged
	Body importState
}

// showImport includes the hour in the tag, since the link to the failed rows changes over time.
func (a *App) showImport(ctx context.Context, i imports.Import) *importAnswer {
	now := time.Now()
	i.Show(a.PublicURL+filesPath, httpx.Who(ctx).Org, now)
	return &importAnswer{
		Tagged: httpx.ETag(1, i.Computed+int(now.Sub(i.CreatedAt.Time)/time.Hour)),
		Body:   importState{i, httpx.Nullable[imports.Undo]{Value: i.Undo}},
	}
}

// startImport stores the file as it arrives, in separate transactions. It then creates the import, its job and the
// stored response in one transaction. It checks the idempotency key after the upload, since the fingerprint covers the
// bytes.
func (a *App) startImport(ctx context.Context, _ *struct{}) (*importStarted, error) {
	r := httpx.RequestOf(ctx)
	done, err := a.uploads.Begin(r.Who.Org)
	if err != nil {
		return nil, err
	}

	defer done()

	staged, choices, err := a.readForm(ctx, r)
	if err != nil {
		return nil, err
	}

	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*importStarted, error) {
		i, err := imports.Queue(ctx, tx, staged, choices)
		if err != nil {
			return nil, err
		}
		return &importStarted{Location: importsPath + "/" + i.ID.String(), Body: importState{Import: i}},
			contactimport.Kind.Add(ctx, tx, contactimport.Args{Import: i.ID})
	})
	if err != nil || r.Replayed {
		staged.Drop(ctx, a.DB, r.Who.Org)
	}

	return out, err
}

type importList struct {
	Body httpx.List[importState]
}

func (a *App) listImports(ctx context.Context, in *httpx.PageInput) (*importList, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*importList, error) {
		rows, err := imports.List(ctx, tx, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &importList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(i imports.Import) importState {
			return a.showImport(ctx, i).Body
		}, func(i imports.Import) id.ID { return i.ID })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, imports.Count)
		}

		return out, err
	})
}

// ImportID is the path parameter of one import.
type ImportID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the import"`
}

func (a *App) getImport(ctx context.Context, in *ImportID) (*importAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*importAnswer, error) {
		i, err := imports.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return a.showImport(ctx, i), nil
	})
}

type importUndone struct{ Body importState }

func (a *App) undoImport(ctx context.Context, in *ImportID) (*importUndone, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*importUndone, error) {
		i, started, err := imports.Undoing(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		if started {
			err = contactimportundo.Kind.Add(ctx, tx, contactimportundo.Args{Import: i.ID})
		}
		return &importUndone{Body: a.showImport(ctx, i).Body}, err
	})
}
