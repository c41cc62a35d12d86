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
