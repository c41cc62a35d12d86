package ops_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

func TestEveryLineUnderAnOpsRequestHasItsID(t *testing.T) {
	t.Parallel()
	const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	var log bytes.Buffer
	b := newBoard(t, func(o *ops.Options) { o.Log = telemetry.NewLogger(&log, false, slog.LevelInfo) })
	if _, err := b.sql.Exec(t.Context(), "ALTER TABLE job RENAME TO job_gone"); err != nil {
		t.Fatal(err)
	}
	w := asked(t, b.listener, "GET", "/jobs/", header("X-Request-Id", "operator"),
		header("traceparent", "00-"+traceID+"-00f067aa0ba902b7-01"))
	if w.Code != 500 {
		t.Errorf("status %d, want 500", w.Code)
	}
	if got := w.Header().Get("X-Request-Id"); got != "operator" {
		t.Errorf("request id %q, want operator", got)
	}
	type line struct {
		Level   string `json:"level"`
		Msg     string `json:"msg"`
		Request string `json:"request_id"`
		Trace   string `json:"trace_id"`
	}
	var got line
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatalf("not one line of JSON: %v\n%s", err, log.String())
	}
	if diff := cmp.Diff(line{"ERROR", "operator action failed", "operator", traceID}, got); diff != "" {
		t.Errorf("line (-want +got):\n%s\n%s", diff, log.String())
	}
}
