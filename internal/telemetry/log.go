// Package telemetry provides the process's logger, which adds attributes from the context to each line.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// The attribute names of a context's subjects.
const (
	Request = "request_id"
	Org     = "org_id"
	Job     = "job_id"
)

// NewLogger returns a logger that writes one JSON object per line, or plain text for reading in a terminal. Each line
// gets the attributes that With added to its context. A time.Duration is written in milliseconds, and its name ends in
// _ms.
func NewLogger(w io.Writer, text bool, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: milliseconds}
	if text {
		return slog.New(handler{slog.NewTextHandler(w, o)})
	}
	return slog.New(handler{slog.NewJSONHandler(w, o)})
}

// milliseconds replaces a duration: {"took": 1.5s} becomes {"took_ms": 1500}. The number has at most three decimals.
func milliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(strings.TrimSuffix(a.Key, "_ms")+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}

type key struct{}

// With adds an attribute to every line that is logged with the context. It replaces an attribute of the same name.
func With(ctx context.Context, name, value string) context.Context {
	old, _ := ctx.Value(key{}).([]slog.Attr)
	attrs := slices.DeleteFunc(slices.Clone(old), func(a slog.Attr) bool { return a.Key == name })
	return context.WithValue(ctx, key{}, append(attrs, slog.String(name, value)))
}

// Value returns the attribute that With gave the context under name, or "".
func Value(ctx context.Context, name string) string {
	attrs, _ := ctx.Value(key{}).([]slog.Attr)
	for _, a := range attrs {
		if a.Key == name {
			return a.Value.String()
		}
	}
	return ""
}

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(key{}).([]slog.Attr); ok {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
