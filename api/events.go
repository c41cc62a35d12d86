package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/postgres/standby"
)

const eventsPath = "/api/v1/events"

func (a *App) mountEvents() {
	const tag = "Events"
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "events.list",
			Method: http.MethodGet, Path: eventsPath, Need: httpx.Viewer, Tag: tag,
			Title: "List the events of the last 30 days",
		}, a.listEvents)
	httpx.Route(a.Server, httpx.Op{
		ID:     "events.stream",
		Method: http.MethodGet, Path: eventsPath + "/stream", Need: httpx.Viewer, Tag: tag,
		Title: "Stream events as they happen", Gives: []string{"text/event-stream"},
	}, a.streamEvents)
	httpx.Route(a.Server, httpx.Op{
		ID:     "events.get",
		Method: http.MethodGet, Path: eventsPath + "/{id}", Need: httpx.Viewer, Tag: tag, Title: "Get an event",
	}, a.getEvent)
	all := keepEventTypes()
	httpx.Route(
		a.Server,
		httpx.Op{
			ID:     "event_types.list",
			Method: http.MethodGet,
			Path:   "/api/v1/event-types",
			Need:   httpx.Viewer,
			Tag:    tag,
			Title:  "List the event types",
		},
		func(ctx context.Context, _ *struct{}) (*eventTypesOut, error) {
			httpx.RequestOf(ctx).Fixed = all.Body.fixed
			return all, nil
		},
	)
}

// shownEvent is an event in the feed, with the same bytes that webhooks receive.
type shownEvent struct{ *events.Stored }

// Schema returns the schema of the envelope. huma cannot derive the type of data from the Go type any.
func (shownEvent) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[events.Envelope](), true, "Event")
	data := r.SchemaFromRef(r.Schema(reflect.TypeFor[events.EnvelopeData](), true, "Data").Ref)
	for _, name := range []string{"object", "previous"} {
		data.Properties[name].Type = huma.TypeObject
		data.Properties[name].AdditionalProperties = true
	}
	data.Properties["previous"].Nullable = true
	return s
}

type listEventsIn struct {
	httpx.Page
	Type string `query:"type" doc:"Event types, separated by commas; all if absent"`
	Sort string `query:"sort" enum:"seq,-seq" default:"seq" doc:"-seq: newest first. Only seq can be polled"`
}

type eventListOut struct {
	Body struct {
		Data       []shownEvent `json:"data" doc:"Events in feed order, oldest first"`
		HasMore    bool         `json:"has_more" doc:"Whether there are more now, though the page may be short"`
		NextCursor string       `json:"next_cursor" doc:"Always present: store it and poll with it for later events"`
	}
}

func (a *App) listEvents(ctx context.Context, in *listEventsIn) (*eventListOut, error) {
	types, err := typesOf("type", in.Type)
	if err != nil {
		return nil, err
	}

	from, err := httpx.After[int64](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	newest := in.Sort == "-seq"
	read := events.FeedPage
	after := int64(0)
	if newest {
		read = events.LatestPage
		after = math.MaxInt64
	}
	if from != nil {
		after = *from
	}

	page := func(tx *postgres.Tx) (*eventListOut, error) {
		found, err := read(ctx, tx, after, types, in.Limit+1)
		if err != nil {
			return nil, err
		}

		out := &eventListOut{}
		rows := found.Events
		seen := after
		out.Body.HasMore = found.More
		if len(rows) > in.Limit {
			rows = rows[:in.Limit]
		}

		out.Body.Data = make([]shownEvent, len(rows))
		for i, e := range rows {
			out.Body.Data[i] = shownEvent{e}
			seen = e.Seq
		}

		if found.More && len(found.Events) <= in.Limit { // it has looked at more than it has
			seen = found.Seen
		}

		out.Body.NextCursor, err = httpx.SealCursor(a.Server, seen, httpx.CursorOf(ctx))

		return out, err
	}
	if newest { // a person looks at what has just happened
		return httpx.ReadFeed(ctx, a.Server, page)
	}

	return httpx.ReadStandby(ctx, a.Server, standby.Feed, page)
}

type eventIn struct {
	ID id.ID `path:"id" format:"uuid" doc:"The event's id"`
}

type eventOut struct {
	httpx.Tagged
	Body shownEvent
}

func (a *App) getEvent(ctx context.Context, in *eventIn) (*eventOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*eventOut, error) {
		e, err := events.Get(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		tag, err := httpx.Digest(shownEvent{e})
		return &eventOut{tag, shownEvent{e}}, err
	})
}

// typesOf parses a query parameter that lists event types.
func typesOf(parameter, list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}

	all := strings.Split(list, ",")
	for _, name := range all {
		if _, ok := events.Lookup(name); !ok {
			return nil, fault.Parameter(parameter, "unknown_event_type", events.Unknown(name))
		}
	}

	slices.Sort(all)
	return slices.Compact(all), nil
}

type eventType struct {
	Type        string         `json:"type" doc:"Name of the event type, as webhooks subscribe to it"`
	Description string         `json:"description" doc:"When the event is emitted"`
	Schema      map[string]any `json:"schema" doc:"JSON Schema 2020-12 of the whole envelope"`
	Sample      shownEvent     `json:"sample" doc:"An event of this type as it is delivered"`
	Live        bool           `json:"live" doc:"false: reserved; subscribable and testable, but not emitted yet"`
}

// eventCatalogue is the encoded list of event types.
type eventCatalogue struct{ fixed *httpx.Fixed }

// Schema returns the schema of the list.
func (eventCatalogue) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[httpx.List[eventType]](), true, "")
}

// AppendJSON appends the list.
func (e eventCatalogue) AppendJSON(to []byte) []byte {
	return append(to, bytes.TrimSuffix(e.fixed.Plain(), []byte{'\n'})...)
}

type eventTypesOut struct {
	httpx.Tagged
	Body eventCatalogue
}

// keepEventTypes returns the cached response with the catalogue.
func keepEventTypes() *eventTypesOut {
	var plain bytes.Buffer
	all := eventTypes()
	tag, err := httpx.Digest(all)
	if err = errors.Join(err, httpx.Marshal(&plain, all)); err != nil {
		panic(fmt.Errorf("encode the event types: %w", err)) // event types and samples are code
	}
	return &eventTypesOut{Tagged: tag, Body: eventCatalogue{httpx.NewFixed(plain.Bytes)}}
}

func eventTypes() httpx.List[eventType] {
	l := httpx.List[eventType]{Data: []eventType{}}
	for _, t := range events.Catalogue() {
		sample, err := t.Example()
		if err != nil {
			panic(fmt.Errorf("sample of %s: %w", t.Name, err)) // the catalogue's test fails first
		}
		l.Data = append(l.Data, eventType{t.Name, t.Description, t.Schema(), shownEvent{sample}, t.Live})
	}
	return l
}
