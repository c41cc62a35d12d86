package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/telemetry"
)

func TestALineSaysWhatItsContextIsAbout(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, false, slog.LevelInfo).With("role", "api")
	ctx := telemetry.With(t.Context(), telemetry.Request, "r1")
	inner := telemetry.With(telemetry.With(ctx, telemetry.Org, "o1"), telemetry.Request, "r2")
	log.InfoContext(inner, "served", "status", 200)
	log.InfoContext(ctx, "served")
	log.DebugContext(ctx, "not at this level")
	log.InfoContext(t.Context(), "alone")

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
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v := telemetry.Value(inner, telemetry.Org); v != "o1" {
		t.Errorf("org = %q", v)
	}
}
