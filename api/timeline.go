package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/contacts/merge"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

func (a *App) mountTimeline() {
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "contacts.list_timeline",
			Method: http.MethodGet, Path: contactsPath + "/{id}/timeline", Need: httpx.Viewer, Tag: "Contacts",
			Title: "List the events of a contact, newest first",
		}, a.listTimeline)
}

// timelineEntry is a timeline entry. Its changes may hold any value, including null, which huma cannot derive from the
// Go type any.
type timelineEntry struct{ events.TimelineEntry }

// Schema returns the schema of events.TimelineEntry.
func (timelineEntry) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[events.TimelineEntry](), true, "TimelineEntry")
	r.SchemaFromRef(s.Ref).Properties["object"].AdditionalProperties = true
	change := r.SchemaFromRef(r.Schema(reflect.TypeFor[events.TimelineChange](), true, "TimelineChange").Ref)
	for _, name := range []string{"from", "to"} {
		change.Properties[name].OneOf = []*huma.Schema{
			{Type: huma.TypeString, Nullable: true},
			{Type: huma.TypeNumber},
			{Type: huma.TypeBoolean},
			{Type: huma.TypeArray, Items: &huma.Schema{}},
			{Type: huma.TypeObject, AdditionalProperties: true},
		}
	}

	return s
}

type timelineList struct {
	Body httpx.List[timelineEntry]
}

// listTimeline finds an archived contact under the same conditions as GET of the contact. It includes the entries of
// contacts merged into it.
func (a *App) listTimeline(ctx context.Context, in *struct {
	ContactID
	httpx.Page
	Types           string `query:"types" doc:"Event types, separated by commas; all if absent"`
	IncludeArchived bool   `query:"include_archived" doc:"Also find an archived contact"`
},
) (*timelineList, error) {
	types, err := typesOf("types", in.Types)
	if err != nil {
		return nil, err
	}

	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*timelineList, error) {
		if _, err := contacts.Get(ctx, tx, in.ID, in.IncludeArchived); err != nil {
			return nil, err
		}

		within, err := merge.Within(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}

		rows, err := events.Timeline(ctx, tx, append([]id.ID{in.ID}, within...), types, before, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &timelineList{}
		out.Body, err = httpx.NewList(ctx, a.Server, in.Page, rows, func(e events.TimelineEntry) timelineEntry {
			return timelineEntry{e}
		}, func(e events.TimelineEntry) id.ID { return e.ID })

		return out, err
	})
}
