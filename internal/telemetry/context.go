package telemetry

import (
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
)

// The attribute names of a context's subjects.
const (
	Request = "request_id"
	Trace   = "trace_id"
	Org     = "org_id"
	Job     = "job_id"
	Kind    = "kind" // of the job
)

type key struct{}

// With adds attributes to every line that is logged with the context. An attribute replaces an earlier one of the same
// name. An attribute that a line or its logger has itself takes precedence.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	all := make([]slog.Attr, 0, 4)
	for _, old := range attrsOf(ctx) {
		if !slices.ContainsFunc(attrs, func(a slog.Attr) bool { return a.Key == old.Key }) {
			all = append(all, old)
		}
	}
	return context.WithValue(ctx, key{}, append(all, attrs...))
}

func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(key{}).([]slog.Attr)
	return attrs
}

// TraceID returns the trace id of a W3C traceparent header, or "" if the header is invalid.
func TraceID(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || parts[0] == "00" && len(parts) != 4 {
		return ""
	}

	for i, size := range []int{2, 32, 16, 2} {
		if len(parts[i]) != size || !isLowerHex(parts[i]) {
			return ""
		}
	}

	if parts[0] == "ff" || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}

	return parts[1]
}

func isLowerHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && s == strings.ToLower(s)
}
