// Package telemetry makes the process's logger, which knows from the context what a line is about.
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
)

// The names under which a context's subjects stand in every line.
const (
	Request = "request_id"
	Org     = "org_id"
	Job     = "job_id"
)

// NewLogger writes JSON, one object a line, or text where people read along. Lines logged with a context bear
// the attributes that With gave it.
func NewLogger(w io.Writer, text bool, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if text {
		return slog.New(handler{slog.NewTextHandler(w, o)})
	}
	return slog.New(handler{slog.NewJSONHandler(w, o)})
}

type key struct{}

// With adds an attribute to every line that is logged with the context. A name given before is replaced.
func With(ctx context.Context, name, value string) context.Context {
	old, _ := ctx.Value(key{}).([]slog.Attr)
	attrs := slices.DeleteFunc(slices.Clone(old), func(a slog.Attr) bool { return a.Key == name })
	return context.WithValue(ctx, key{}, append(attrs, slog.String(name, value)))
}

// Value is what With gave the context under name, or "".
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
