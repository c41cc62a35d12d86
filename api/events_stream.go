package api

import (
	"bytes"
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/tail"
	"github.com/funnelwork/funnelwork/internal/fault"
)

const (
	maxStreams   = 5 // per user, over all processes
	commentEvery = 15 * time.Second
	streamChunk  = 64 << 10 // bytes of events after which a chunk is sent
	streamRetry  = time.Second
)

// The parts of the stream that are no events.
const (
	streamComment = ": keep-alive\n\n"
	streamReset   = "event: reset\ndata: {}\n\n"
)

type streamEventsIn struct {
	Type string `query:"type" doc:"Event types, separated by commas; all if absent"`
	Last string `header:"Last-Event-ID"`
}

// Descriptions implements wire.Describer.
func (streamEventsIn) Descriptions() map[string]string {
	return map[string]string{
		"Last-Event-ID": "The id of the last event that was read, or a next_cursor of GET /api/v1/events with the " +
			"same type: the stream begins after it. If absent, it begins with the next event",
	}
}

type streamEventsOut struct {
	Kind      string `header:"Content-Type" hidden:"true"`
	Cache     string `header:"Cache-Control" hidden:"true"`
	Buffering string `header:"X-Accel-Buffering" hidden:"true"`
	Body      func(huma.Context)
}

// streamEvents begins a stream of server-sent events: the feed as GET /api/v1/events lists it, as it grows.
func (a *App) streamEvents(ctx context.Context, in *streamEventsIn) (*streamEventsOut, error) {
	types, err := typesOf("type", in.Type)
	if err != nil {
		return nil, err
	}

	last, err := httpx.LastEventID[int64](ctx, a.Server, in.Last, eventsPath)
	if err != nil {
		return nil, err
	}

	from := tail.Position{Known: last != nil}
	if last != nil {
		from.After = *last
	}

	w := httpx.Who(ctx)
	release, ok := a.Streams.Acquire(ctx, streamHolder(w), maxStreams)
	if !ok {
		return nil, &fault.Fault{
			Code: fault.RateLimited, Detail: "A user may have 5 streams open. Close one, or wait for one to end.",
			RetryAfter: streamRetry, More: map[string]any{"policy": "streams"},
		}
	}

	reader, gap, err := a.tails.Follow(ctx, w.Org, from, types)
	if err != nil {
		release()
		return nil, err
	}

	a.Log.DebugContext(ctx, "stream of events began", "feeds", a.tails.Feeds())
	st := &eventStream{App: a, reader: reader, gap: gap, bound: httpx.CursorAt(ctx, eventsPath)}
	httpx.StartStream(ctx, &httpx.Stream{Run: st.run, Close: func() {
		reader.Close()
		release()
	}})

	return &streamEventsOut{
		Kind: "text/event-stream", Cache: "no-store, no-transform", Buffering: "no", Body: func(huma.Context) {},
	}, nil
}

// streamHolder returns the subject whose streams are counted: a user, in whatever org, or an API key.
func streamHolder(w auth.Who) string {
	_, ident := w.Actor()
	return "stream " + ident
}

// eventStream is one open stream.
type eventStream struct {
	*App
	reader *tail.Reader
	gap    bool   // the reader's position is older than the feed
	bound  string // the list to which the ids are bound as cursors
}

// run writes events until ctx ends or the client does not read them.
func (s *eventStream) run(ctx context.Context, w *httpx.StreamWriter) {
	if s.gap {
		if _, err := w.Write([]byte(streamReset)); err != nil {
			return
		}
	}

	comment := time.NewTicker(s.comments)
	defer comment.Stop()

	for ctx.Err() == nil {
		page, more, err := s.reader.Next(ctx)
		var retry <-chan time.Time
		switch {
		case err != nil: // the database is unavailable: the stream waits for it
			retry = time.After(streamRetry)
		case len(page) > 0:
			if err := s.writeEvents(w, page); err != nil {
				return
			}
			more = closedChannel
		}

		select {
		case <-ctx.Done():
		case <-comment.C:
			if _, err := w.Write([]byte(streamComment)); err != nil {
				return
			}
		case <-more:
		case <-retry:
		}
	}
}

// writeEvents sends events in chunks.
func (s *eventStream) writeEvents(w *httpx.StreamWriter, page []*events.Stored) error {
	var b bytes.Buffer
	for i, e := range page {
		cursor, err := httpx.SealCursor(s.Server, e.Seq, s.bound)
		if err != nil {
			return err
		}

		b.WriteString("id: " + cursor + "\nevent: " + e.Type + "\ndata: ")
		b.Write(e.Bytes())
		b.WriteString("\n\n")
		if b.Len() < streamChunk && i < len(page)-1 {
			continue
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}

		b.Reset()
	}

	return nil
}

// closedChannel is always ready.
var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
