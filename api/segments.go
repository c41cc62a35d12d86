package api

import (
	"context"
	"net/http"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/contacts/segments"
	"github.com/funnelwork/funnelwork/internal/definitions"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/wire"
)

const segmentsPath = "/api/v1/crm/segments"

func (a *App) mountSegments() {
	const tag, segment = "Segments", segmentsPath + "/{id}"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "segments.create",
			Method: http.MethodPost, Path: segmentsPath, Need: httpx.Member, Tag: tag, Title: "Create a segment",
			Status: http.StatusCreated,
		}, a.createSegment)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "segments.list",
			Method: http.MethodGet, Path: segmentsPath, Need: httpx.Viewer, Tag: tag,
			Title: "List segments, newest first",
		}, a.listSegments)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "segments.get",
			Method: http.MethodGet,
			Path:   segment,
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "Get a segment",
		},
		a.getSegment,
	)
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "segments.update",
			Method: http.MethodPatch,
			Path:   segment,
			Need:   httpx.Member,
			Tag:    tag,
			Title:  "Update a segment",
		},
		a.patchSegment,
	)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "segments.archive",
			Method: http.MethodDelete, Path: segment, Need: httpx.Member, Tag: tag, Title: "Archive a segment",
			Status: http.StatusNoContent,
		}, a.archiveSegment)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "segments.restore",
			Method: http.MethodPost, Path: segment + "/restore", Need: httpx.Member, Tag: tag,
			Title: "Restore an archived segment",
		}, a.restoreSegment)
}

// SegmentID is the path parameter of one segment.
type SegmentID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the segment"`
}

type segmentAnswer struct {
	httpx.Tagged
	Body segments.Segment
}

func showSegment(r *segments.Row) *segmentAnswer {
	return &segmentAnswer{Tagged: httpx.ETag(r.Edit, r.Computed), Body: r.Segment}
}

type createSegmentRequest struct {
	Key    string        `json:"key,omitempty" maxLength:"64"`
	Name   string        `json:"name" doc:"Display name, 1 to 200 characters"`
	Kind   string        `json:"kind,omitempty" enum:"static,dynamic" doc:"dynamic if there is a filter, else static"`
	Filter httpx.RawJSON `json:"filter,omitempty" doc:"Which contacts: a filter on any field but segment"`
	SegmentComputed
}

// Descriptions implements wire.Describer.
func (createSegmentRequest) Descriptions() map[string]string {
	return map[string]string{
		"key": "1 to 64 characters, no comma; derived from the name if absent. Cannot be changed later",
	}
}

// SegmentComputed holds the computed members. A request may contain them; their values are ignored.
type SegmentComputed struct {
	ID           httpx.RawJSON `json:"id" required:"false" readOnly:"true"`
	ContactCount httpx.RawJSON `json:"contact_count" required:"false" readOnly:"true"`
	Status       httpx.RawJSON `json:"status" required:"false" readOnly:"true"`
	CreatedAt    httpx.RawJSON `json:"created_at" required:"false" readOnly:"true"`
	UpdatedAt    httpx.RawJSON `json:"updated_at" required:"false" readOnly:"true"`
	ArchivedAt   httpx.RawJSON `json:"archived_at" required:"false" readOnly:"true"`
}

func (c *SegmentComputed) readOnlyMembers() map[string]httpx.RawJSON {
	return map[string]httpx.RawJSON{
		"id": c.ID, "contact_count": c.ContactCount, "status": c.Status, "created_at": c.CreatedAt,
		"updated_at": c.UpdatedAt, "archived_at": c.ArchivedAt,
	}
}

type segmentCreated struct {
	httpx.Tagged
	Location string `header:"Location" doc:"Address of the segment"`
	Body     segments.Segment
}

func (a *App) createSegment(ctx context.Context, in *struct{ Body createSegmentRequest }) (*segmentCreated, error) {
	if err := httpx.CheckUnchangedJSON(struct{}{}, in.Body.readOnlyMembers()); err != nil {
		return nil, err
	}

	n := segments.New{
		Key: in.Body.Key, Name: in.Body.Name, Kind: segments.Kind(in.Body.Kind),
		Filter: unlessNull(in.Body.Filter),
	}
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*segmentCreated, error) {
		r, err := segments.Create(ctx, tx, n)
		if err != nil {
			return nil, err
		}
		return &segmentCreated{
			Tagged: httpx.ETag(r.Edit, r.Computed), Location: segmentsPath + "/" + r.ID.String(),
			Body: r.Segment,
		}, nil
	})
}

// unlessNull returns the value as sent, or nil if it was null.
func unlessNull(sent httpx.RawJSON) []byte {
	if string(sent) == "null" {
		return nil
	}
	return sent
}

type segmentQuery struct {
	httpx.Page
	httpx.Counted
	Kind     string `query:"kind" enum:"static,dynamic" doc:"Only segments of this kind"`
	Archived bool   `query:"archived" doc:"List archived segments instead of live ones"`
}

type segmentList struct {
	Body httpx.List[segments.Segment]
}

func (a *App) listSegments(ctx context.Context, in *segmentQuery) (*segmentList, error) {
	before, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	f := segments.Filter{Archived: in.Archived, Kind: segments.Kind(in.Kind)}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*segmentList, error) {
		rows, err := segments.List(ctx, tx, f, orZero(before), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(ctx, a.Server, in.Page, rows, func(r segments.Row) segments.Segment {
			return r.Segment
		}, func(r segments.Row) id.ID { return r.ID })
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, func(ctx context.Context, tx *postgres.Tx) (int64, error) {
				return segments.Count(ctx, tx, f)
			})
		}

		return &segmentList{l}, err
	})
}

func (a *App) getSegment(ctx context.Context, in *struct {
	SegmentID
	IncludeArchived bool `query:"include_archived" doc:"Also find an archived segment"`
},
) (*segmentAnswer, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*segmentAnswer, error) {
		r, err := segments.Get(ctx, tx, in.ID, in.IncludeArchived)
		if err != nil {
			return nil, err
		}
		return showSegment(&r), nil
	})
}

type updateSegmentRequest struct {
	Name   httpx.Optional[string] `json:"name" required:"false" doc:"Display name, 1 to 200 characters; not null"`
	Filter httpx.RawJSON          `json:"filter" required:"false" doc:"status is building until it is applied"`
	Key    httpx.RawJSON          `json:"key" required:"false" readOnly:"true"`
	Kind   httpx.RawJSON          `json:"kind" required:"false" readOnly:"true"`
	SegmentComputed
}

func (a *App) patchSegment(ctx context.Context, in *struct {
	SegmentID
	httpx.IfMatch
	Body updateSegmentRequest
},
) (*segmentAnswer, error) {
	b := &in.Body
	p := segments.Patch{
		Name: b.Name.Field,
		Filter: wire.Field[[]byte]{
			Set: b.Filter != nil, Null: unlessNull(b.Filter) == nil,
			Value: unlessNull(b.Filter),
		},
	}
	allow := func(r *segments.Row) error {
		if err := in.Check(int64(r.Edit)); err != nil {
			return err
		}
		sent := b.readOnlyMembers()
		sent["key"] = b.Key
		sent["kind"] = b.Kind
		return httpx.CheckUnchangedJSON(r.Segment, sent)
	}

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*segmentAnswer, error) {
		r, err := segments.Update(ctx, tx, in.ID, allow, p)
		if err != nil {
			return nil, err
		}
		return showSegment(&r), nil
	})
}

func (a *App) archiveSegment(ctx context.Context, in *struct {
	SegmentID
	httpx.IfMatch
},
) (*struct{}, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*struct{}, error) {
		return &struct{}{}, segments.Archive(ctx, tx, in.ID, func(r *segments.Row) error {
			if err := in.Check(int64(r.Edit)); err != nil {
				return err
			}
			return definitions.CheckUnused(ctx, tx,
				definitions.Name{Kind: definitions.Segment, Name: r.Key, ID: r.ID.String()})
		})
	})
}

func (a *App) restoreSegment(ctx context.Context, in *SegmentID) (*segmentAnswer, error) {
	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*segmentAnswer, error) {
		r, err := segments.Restore(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showSegment(&r), nil
	})
}
