package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/exports"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/contactexport"
)

const exportsPath = contactsPath + "/exports"

// mountExports must run before mountContacts, like mountImports. An export changes no data of the org, so an org may
// still export its contacts after its trial.
func (a *App) mountExports() {
	const tag = "Exports"
	httpx.Route(a.Server, httpx.Op{
		ID:     "exports.create",
		Method: http.MethodPost, Path: exportsPath, Need: httpx.Viewer, Tag: tag, Title: "Export contacts to a file",
		Secret: true, Status: http.StatusAccepted, Open: true,
		Writes: []string{contactexport.Kind.Name()}, May: []int{http.StatusBadRequest},
	}, a.startExport)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "exports.list",
			Method: http.MethodGet,
			Path:   exportsPath,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List exports, newest first",
			Secret: true,
		}, a.listExports)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "exports.get",
			Method: http.MethodGet, Path: exportsPath + "/{id}", Need: httpx.Viewer, Tag: tag, Title: "Get an export",
			Secret: true,
		}, a.getExport)
}

type createExportIn struct {
	Body struct {
		Format   string        `json:"format" enum:"csv,ndjson,xlsx"`
		BOM      httpx.Flag    `json:"bom" required:"false" doc:"Begin the CSV with a byte order mark"`
		Filter   httpx.RawJSON `json:"filter,omitempty" doc:"Which contacts; see the filter language. All if absent"`
		Archived httpx.Flag    `json:"archived" required:"false" doc:"Export archived contacts instead of live ones"`
		Fields   []string      `json:"fields,omitempty" maxItems:"300"`
	}
}

// Descriptions implements wire.Describer.
func (createExportIn) Descriptions() map[string]string {
	return map[string]string{
		"fields": "Columns in order: fields of a contact, external_ids.SYSTEM, attributes.KEY for custom fields; " +
			"NDJSON also has external_ids and attributes as a whole. Default: all fields an import accepts, the " +
			"score and the times",
		"format": "csv with a header row, xlsx: a workbook, or ndjson: one JSON object per line",
	}
}

// exportState is the public form of an export.
type exportState struct {
	exports.Export
	Filter asAsked `json:"filter" doc:"As requested; null: all contacts"`
}

// asAsked is a JSON value returned as the caller sent it; null if absent.
type asAsked json.RawMessage

// MarshalJSON returns the value as sent.
func (f asAsked) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("null"), nil
	}
	return f, nil
}

// UnmarshalJSON decodes a value from a stored response.
func (f *asAsked) UnmarshalJSON(b []byte) error {
	*f = append((*f)[:0], b...)
	return nil
}

// Schema returns the schema of a filter or null.
func (asAsked) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, AdditionalProperties: true}
}

type exportStarted struct {
	Location string `header:"Location" doc:"Address of the progress"`
	Body     exportState
}

type exportAnswer struct {
	httpx.Tagged
	Body exportState
}

// showExport includes the hour in the tag, since the download link changes over time.
func (a *App) showExport(ctx context.Context, e exports.Export) *exportAnswer {
	now := time.Now()
	e.Show(a.PublicURL+filesPath, httpx.Who(ctx).Org, now)
	return &exportAnswer{
		Tagged: httpx.ETag(1, e.Computed+int(now.Sub(e.CreatedAt.Time)/time.Hour)),
		Body:   exportState{e, asAsked(e.Filter)},
	}
}

func (a *App) startExport(ctx context.Context, in *createExportIn) (*exportStarted, error) {
	if err := httpx.NoNulls(map[string]httpx.Flag{"archived": in.Body.Archived, "bom": in.Body.BOM}); err != nil {
		return nil, err
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*exportStarted, error) {
		e, err := exports.Start(ctx, tx,
			exports.Wanted{
				Format: in.Body.Format, BOM: in.Body.BOM.Value, Filter: json.RawMessage(in.Body.Filter),
				Archived: in.Body.Archived.Value, Fields: in.Body.Fields,
			})
		if err != nil {
			return nil, filterInBody(err)
		}

		auditExport(ctx, tx, &e)
		return &exportStarted{Location: exportsPath + "/" + e.ID.String(), Body: exportState{e, asAsked(e.Filter)}},
			contactexport.Kind.Add(ctx, tx, contactexport.Args{Export: e.ID})
	})
}

// auditExport writes an audit log entry for an export. It has no value of the filter, which may be personal data: the
// export has the filter.
func auditExport(ctx context.Context, tx *postgres.Tx, e *exports.Export) {
	selected := "all"
	if len(e.Filter) > 0 {
		selected = "filtered"
	}
	detail := map[string]any{"format": e.Format, "selection": selected, "archived": e.Archived}
	org.Audit(ctx, tx, org.Entry{
		Action: "contacts.exported", Target: "contact_export", ID: e.ID.String(), Detail: detail,
	})
}

type exportList struct {
	Body httpx.List[exportState]
}

func (a *App) listExports(ctx context.Context, in *httpx.PageInput) (*exportList, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*exportList, error) {
		rows, err := exports.List(ctx, tx, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &exportList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(e exports.Export) exportState {
			return a.showExport(ctx, e).Body
		}, func(e exports.Export) id.ID { return e.ID })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, exports.Count)
		}

		return out, err
	})
}

// ExportID is the path parameter of one export.
type ExportID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the export"`
}

func (a *App) getExport(ctx context.Context, in *ExportID) (*exportAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*exportAnswer, error) {
		e, err := exports.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return a.showExport(ctx, e), nil
	})
}

// filterInBody returns err with the pointers of a filter fault relative to the body.
func filterInBody(err error) error {
	if wrong, ok := errors.AsType[*filter.Error](err); ok {
		return wrong.InBody("#/filter")
	}
	return err
}
