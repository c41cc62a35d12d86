package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const fieldsPath = "/api/v1/crm/fields"

func (a *App) mountFields() {
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "custom_fields.list",
			Method: http.MethodGet,
			Path:   fieldsPath,
			Need:   httpx.Viewer,
			Tag:    "Custom fields",
			Title:  "List custom fields",
		},
		a.listFields,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "filter_fields.list",
			Method: http.MethodGet, Path: "/api/v1/crm/filter-fields", Need: httpx.Viewer, Tag: "Custom fields",
			Title: "List the fields and operators that a filter over contacts may use",
		}, a.listFilterFields)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "custom_fields.create",
			Method: http.MethodPost, Path: fieldsPath, Need: httpx.Admin, Tag: "Custom fields",
			Title: "Define a custom field", Status: http.StatusCreated,
		}, a.defineField)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "custom_fields.get",
			Method: http.MethodGet, Path: fieldsPath + "/{key}", Need: httpx.Viewer, Tag: "Custom fields",
			Title: "Get a custom field",
		}, a.getField)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "custom_fields.update",
			Method: http.MethodPatch, Path: fieldsPath + "/{key}", Need: httpx.Admin, Tag: "Custom fields",
			Title: "Change a custom field's label",
		}, a.patchField)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "custom_fields.archive",
			Method: http.MethodDelete, Path: fieldsPath + "/{key}", Need: httpx.Admin, Tag: "Custom fields",
			Title: "Archive a custom field and remove its values from all contacts", Status: http.StatusNoContent,
		},
		a.archiveField)
}

// FieldKey is the path parameter of one custom field.
type FieldKey struct {
	Key string `path:"key" doc:"Key of the custom field"`
}

type fieldAnswer struct {
	httpx.Tagged
	Body contacts.CustomField
}

func showField(f *contacts.CustomField) *fieldAnswer {
	return &fieldAnswer{Tagged: httpx.ETag(f.Edit, 0), Body: *f}
}

type fieldList struct {
	Body httpx.List[contacts.CustomField]
}

func (a *App) listFields(ctx context.Context, in *httpx.PageInput) (*fieldList, error) {
	from, err := httpx.After[string](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	begin := ""
	if from != nil {
		begin = *from
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*fieldList, error) {
		rows, err := contacts.Fields(ctx, tx, begin, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &fieldList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(f contacts.CustomField) contacts.CustomField {
			return f
		}, func(f contacts.CustomField) string { return f.Key })
		if err == nil {
			err = in.Add(ctx, tx, &out.Body.Total, contacts.CountFields)
		}

		return out, err
	})
}

type fieldCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the custom field"`
	Body     contacts.CustomField
}

func (a *App) defineField(ctx context.Context, in *struct {
	Body struct {
		Key   string `json:"key" doc:"1 to 64 printable characters, no slash, not . or .."`
		Label string `json:"label,omitempty" doc:"Display name; default: the key"`
		Type  string `json:"type" enum:"string,number,boolean,date" doc:"Of the values; cannot be changed"`

		CreatedAt httpx.Optional[string] `json:"created_at" required:"false" readOnly:"true"`
		UpdatedAt httpx.Optional[string] `json:"updated_at" required:"false" readOnly:"true"`
	} `nameHint:"CreateCustomFieldRequest"`
},
) (*fieldCreated, error) {
	b := &in.Body
	if err := httpx.CheckUnchanged(
		nil,
		map[string]httpx.Optional[string]{"created_at": b.CreatedAt, "updated_at": b.UpdatedAt},
	); err != nil {
		return nil, err
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*fieldCreated, error) {
		f, err := contacts.Define(ctx, tx, b.Key, b.Label, contacts.Type(b.Type))
		if err != nil {
			return nil, err
		}
		return &fieldCreated{
			Tagged:   httpx.ETag(f.Edit, 0),
			Location: fieldsPath + "/" + url.PathEscape(f.Key),
			Body:     f,
		}, nil
	})
}

func (a *App) getField(ctx context.Context, in *FieldKey) (*fieldAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*fieldAnswer, error) {
		f, err := contacts.GetField(ctx, tx, in.Key)
		if err != nil {
			return nil, err
		}
		return showField(&f), nil
	})
}

func (a *App) patchField(ctx context.Context, in *struct {
	FieldKey
	httpx.IfMatch
	Body struct {
		Label     httpx.Optional[string] `json:"label" required:"false" doc:"Display name, 1 to 200 characters"`
		Key       httpx.Optional[string] `json:"key" required:"false" readOnly:"true"`
		Type      httpx.Optional[string] `json:"type" required:"false" readOnly:"true"`
		CreatedAt httpx.Optional[string] `json:"created_at" required:"false" readOnly:"true"`
		UpdatedAt httpx.Optional[string] `json:"updated_at" required:"false" readOnly:"true"`
	} `nameHint:"UpdateCustomFieldRequest"`
},
) (*fieldAnswer, error) {
	b := &in.Body
	allow := func(f *contacts.CustomField) error {
		if err := in.Check(int64(f.Edit)); err != nil {
			return err
		}
		return httpx.CheckUnchanged(f,
			map[string]httpx.Optional[string]{
				"key": b.Key, "type": b.Type, "created_at": b.CreatedAt,
				"updated_at": b.UpdatedAt,
			})
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*fieldAnswer, error) {
		f, err := contacts.Relabel(ctx, tx, in.Key, allow, b.Label.Field)
		if err != nil {
			return nil, err
		}
		return showField(&f), nil
	})
}

func (a *App) archiveField(ctx context.Context, in *struct {
	FieldKey
	httpx.IfMatch
},
) (*noContact, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*noContact, error) {
		if err := contacts.Undefine(ctx, tx, in.Key, in.Check); err != nil {
			return nil, err
		}
		return &noContact{}, definitions.CheckUnused(ctx, tx,
			definitions.Name{Kind: definitions.Field, Name: in.Key})
	})
}

type filterFieldListOut struct {
	Body struct {
		Data []contacts.FilterField `json:"data" nullable:"false" doc:"Fields of each contact, then custom fields"`
	}
}

func (a *App) listFilterFields(ctx context.Context, _ *struct{}) (*filterFieldListOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (out *filterFieldListOut, err error) {
		out = &filterFieldListOut{}
		out.Body.Data, err = contacts.FilterFields(ctx, tx)
		return out, err
	})
}
