// Package telemetry provides the process's logger, which adds attributes from the context to each line.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// NewLogger returns a logger that writes one JSON object per line, or plain text for reading in a terminal. Each line
// gets the attributes that With added to its context. A time.Duration is written in milliseconds, and its name ends in
// _ms.
func NewLogger(w io.Writer, text bool, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: asMilliseconds}
	if text {
		return slog.New(handler{Handler: slog.NewTextHandler(w, o)})
	}
	return slog.New(handler{Handler: slog.NewJSONHandler(w, o)})
}

// asMilliseconds replaces a duration: {"took": 1.5s} becomes {"took_ms": 1500}. The number has at most three decimals.
func asMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(strings.TrimSuffix(a.Key, "_ms")+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}

// handler adds the attributes of a line's context.
type handler struct {
	slog.Handler
	own []string // names of the logger's attributes
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	attrs := attrsOf(ctx)
	if len(attrs) == 0 {
		return h.Handler.Handle(ctx, r)
	}

	has := func(name string) bool {
		if slices.Contains(h.own, name) {
			return true
		}

		found := false
		r.Attrs(func(a slog.Attr) bool {
			found = a.Key == name
			return !found
		})
		return found
	}

	var added []slog.Attr
	for _, a := range attrs {
		if !has(a.Key) {
			added = append(added, a)
		}
	}

	r = r.Clone()
	r.AddAttrs(added...)

	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := slices.Clone(h.own)
	for _, a := range attrs {
		own = append(own, a.Key)
	}
	return handler{h.Handler.WithAttrs(attrs), own}
}

// WithGroup implements slog.Handler. The attributes of the context are in the group as well.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name), nil} }
