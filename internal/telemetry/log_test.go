package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/telemetry"
)

func TestEveryDurationIsInMilliseconds(t *testing.T) {
	t.Parallel()
	for _, text := range []bool{false, true} {
		var out bytes.Buffer
		log := telemetry.NewLogger(&out, text, slog.LevelInfo)
		log.InfoContext(t.Context(), "ran", "took", 1500*time.Microsecond, "wait_ms", time.Second,
			slog.Group("limits", "run", time.Minute))
		got := out.String()
		if text {
			_, got, _ = strings.Cut(got, "msg=")
		} else {
			_, got, _ = strings.Cut(got, `"msg":`)
		}
		want := map[bool]string{
			false: `"ran","took_ms":1.5,"wait_ms":1000,"limits":{"run_ms":60000}}` + "\n",
			true:  "ran took_ms=1.5 wait_ms=1000 limits.run_ms=60000\n",
		}[text]
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestALineSaysWhatItsContextIsAbout(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, false, slog.LevelInfo).With("role", "api")
	ctx := telemetry.With(t.Context(), slog.String(telemetry.Request, "r1"))
	inner := telemetry.With(ctx, slog.String(telemetry.Org, "o1"), slog.String(telemetry.Request, "r2"))
	log.InfoContext(inner, "served", "status", 200)
	log.InfoContext(ctx, "served")
	log.DebugContext(ctx, "not at this level")
	log.InfoContext(t.Context(), "alone")
	log.InfoContext(inner, "of another org", "org_id", "o2")
	log.With("org_id", "o3").InfoContext(inner, "of a logger's org")

	for line := range strings.Lines(out.String()) {
		if strings.Count(line, `"org_id"`) > 1 || strings.Count(line, `"request_id"`) > 1 {
			t.Errorf("an attribute is there twice: %s", line)
		}
	}
	var got []map[string]any
	for d := json.NewDecoder(&out); d.More(); {
		line := map[string]any{}
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		delete(line, "time")
		got = append(got, line)
	}
	want := []map[string]any{
		{"level": "INFO", "msg": "served", "role": "api", "status": 200.0, "org_id": "o1", "request_id": "r2"},
		{"level": "INFO", "msg": "served", "role": "api", "request_id": "r1"},
		{"level": "INFO", "msg": "alone", "role": "api"},
		{"level": "INFO", "msg": "of another org", "role": "api", "org_id": "o2", "request_id": "r2"},
		{"level": "INFO", "msg": "of a logger's org", "role": "api", "org_id": "o3", "request_id": "r2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestATraceIDIsReadFromAValidHeaderOnly(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]string{
		"00-" + trace + "-00f067aa0ba902b7-01":                   trace,
		"01-" + trace + "-00f067aa0ba902b7-01-later":             trace,
		"00-" + trace + "-00f067aa0ba902b7-01-later":             "",
		"ff-" + trace + "-00f067aa0ba902b7-01":                   "",
		"00-" + strings.ToUpper(trace) + "-00f067aa0ba902b7-01":  "",
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01": "",
		"00-" + trace + "-0000000000000000-01":                   "",
		"00-" + trace[1:] + "-00f067aa0ba902b7-01":               "",
		"00-" + trace[:31] + "g-00f067aa0ba902b7-01":             "",
		"00-" + trace + "\"-00f067aa0ba902b7-01":                 "",
		"":                                                       "",
		trace:                                                    "",
	} {
		if got := telemetry.TraceID(header); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
