package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const fieldsPath = "/api/v1/crm/fields"

func (a *App) mountFields() {
	route(a.Server,
		op{Method: http.MethodGet, Path: fieldsPath, Need: viewer, Tag: "Custom fields", Title: "List custom fields"},
		a.listFields)
	route(a.Server,
		op{
			Method: http.MethodPost, Path: fieldsPath, Need: admin, Tag: "Custom fields",
			Title: "Define a custom field", Status: http.StatusCreated,
		}, a.defineField)
	route(a.Server,
		op{
			Method: http.MethodGet, Path: fieldsPath + "/{key}", Need: viewer, Tag: "Custom fields",
			Title: "Get a custom field",
		}, a.getField)
	route(a.Server,
		op{
			Method: http.MethodPatch, Path: fieldsPath + "/{key}", Need: admin, Tag: "Custom fields",
			Title: "Change a custom field's label",
		}, a.patchField)
	route(a.Server,
		op{
			Method: http.MethodDelete, Path: fieldsPath + "/{key}", Need: admin, Tag: "Custom fields",
			Title: "Archive a custom field and remove its values from all contacts", Status: http.StatusNoContent,
		},
		a.archiveField)
}

// FieldKey is the path parameter of one custom field.
type FieldKey struct {
	Key string `path:"key"`
}

type fieldAnswer struct {
	Tagged
	Body contacts.CustomField
}

func showField(f *contacts.CustomField) *fieldAnswer {
	return &fieldAnswer{Tagged: etag(f.Edit, 0), Body: *f}
}

type fieldList struct {
	Body list[contacts.CustomField]
}

func (a *App) listFields(ctx context.Context, in *pageIn) (*fieldList, error) {
	from, err := after[string](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}
	begin := ""
	if from != nil {
		begin = *from
	}
	return read(ctx, a.Server, func(tx *postgres.Tx) (*fieldList, error) {
		rows, err := contacts.Fields(ctx, tx, begin, in.Limit+1)
		if err != nil {
			return nil, err
		}
		out := &fieldList{}
		out.Body, err = listOf(ctx, a.Server, in.Page, rows, func(f contacts.CustomField) contacts.CustomField {
			return f
		}, func(f contacts.CustomField) string { return f.Key })
		if err == nil {
			err = in.add(ctx, tx, &out.Body.Total, contacts.CountFields)
		}
		return out, err
	})
}

type fieldCreated struct {
	Tagged
	Location string `header:"Location" doc:"Address of the custom field"`
	Body     contacts.CustomField
}

func (a *App) defineField(ctx context.Context, in *struct {
	Body struct {
		Key   string `json:"key" doc:"1 to 64 printable characters, no slash, not . or .."`
		Label string `json:"label,omitempty" doc:"Display name; default: the key"`
		Type  string `json:"type" enum:"string,number,boolean,date"`

		CreatedAt optional[string] `json:"created_at" required:"false" readOnly:"true"`
		UpdatedAt optional[string] `json:"updated_at" required:"false" readOnly:"true"`
	}
},
) (*fieldCreated, error) {
	b := &in.Body
	if err := kept(nil, map[string]optional[string]{"created_at": b.CreatedAt, "updated_at": b.UpdatedAt}); err != nil {
		return nil, err
	}
	return write(ctx, a.Server, func(tx *postgres.Tx) (*fieldCreated, error) {
		f, err := contacts.Define(ctx, tx, b.Key, b.Label, contacts.Type(b.Type))
		if err != nil {
			return nil, err
		}
		return &fieldCreated{Tagged: etag(f.Edit, 0), Location: fieldsPath + "/" + url.PathEscape(f.Key), Body: f}, nil
	})
}

func (a *App) getField(ctx context.Context, in *FieldKey) (*fieldAnswer, error) {
	return read(ctx, a.Server, func(tx *postgres.Tx) (*fieldAnswer, error) {
		f, err := contacts.GetField(ctx, tx, in.Key)
		if err != nil {
			return nil, err
		}
		return showField(&f), nil
	})
}

func (a *App) patchField(ctx context.Context, in *struct {
	FieldKey
	IfMatch
	Body struct {
		Label     optional[string] `json:"label" required:"false"`
		Key       optional[string] `json:"key" required:"false" readOnly:"true"`
		Type      optional[string] `json:"type" required:"false" readOnly:"true"`
		CreatedAt optional[string] `json:"created_at" required:"false" readOnly:"true"`
		UpdatedAt optional[string] `json:"updated_at" required:"false" readOnly:"true"`
	}
},
) (*fieldAnswer, error) {
	b := &in.Body
	allow := func(f *contacts.CustomField) error {
		if err := in.check(int64(f.Edit)); err != nil {
			return err
		}
		return kept(f,
			map[string]optional[string]{
				"key": b.Key, "type": b.Type, "created_at": b.CreatedAt,
				"updated_at": b.UpdatedAt,
			})
	}
	return write(ctx, a.Server, func(tx *postgres.Tx) (*fieldAnswer, error) {
		f, err := contacts.Relabel(ctx, tx, in.Key, allow, b.Label.Field)
		if err != nil {
			return nil, err
		}
		return showField(&f), nil
	})
}

func (a *App) archiveField(ctx context.Context, in *struct {
	FieldKey
	IfMatch
},
) (*noContact, error) {
	return write(ctx, a.Server, func(tx *postgres.Tx) (*noContact, error) {
		return &noContact{}, contacts.Undefine(ctx, tx, in.Key, in.check)
	})
}
