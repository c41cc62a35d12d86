package ops_test

import (
	"net/http"
	"testing"

	"github.com/funnelwork/funnelwork/api/ops"
)

type backlogAnswer struct {
	Oldest float64 `json:"oldest_open_seconds"`
	Lanes  map[string]struct {
		Oldest           float64 `json:"oldest_open_seconds"`
		Paused           bool
		Waiting, Delayed int
		Pushed           int
		Dead             int
	}
}

func TestAnAutoscalerReadsTheAgeOfTheOldestJobThatMayRun(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	b.job("lane = 'default', due = true, wake_at = NULL, run_at = now() - interval '90 s'")
	b.job("lane = 'bulk', due = true, wake_at = NULL, run_at = now() - interval '700 s'")
	b.job("lane = 'webhooks', due = false, wake_at = NULL, run_at = now() + interval '1 hour'")
	b.job("lane = 'critical', wake_at = NULL, state = 'dead'")
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want || got > want+60 {
			t.Errorf("%s: %v s, want about %v", what, got, want)
		}
	}
	var got backlogAnswer
	b.read("/jobs/backlog", &got)
	near("the maximum of all lanes", got.Oldest, 700)
	near("bulk", got.Lanes["bulk"].Oldest, 700)
	near("default", got.Lanes["default"].Oldest, 90)
	if len(got.Lanes) != 5 || got.Lanes["default"].Waiting != 1 || got.Lanes["webhooks"].Delayed != 1 ||
		got.Lanes["webhooks"].Oldest != 0 || got.Lanes["critical"].Dead != 1 || got.Lanes["critical"].Oldest != 0 {
		t.Errorf("%+v", got)
	}

	b.call("POST", "/jobs/pauses", map[string]string{"scope": "lane", "name": "bulk", "reason": "a test"})
	got = backlogAnswer{}
	b.read("/jobs/backlog", &got)
	near("bulk, paused", got.Lanes["bulk"].Oldest, 700)
	near("the maximum without the paused lane", got.Oldest, 90)
	if !got.Lanes["bulk"].Paused || got.Lanes["default"].Paused {
		t.Errorf("%+v", got)
	}
}

func TestTheBacklogNeedsTheListenersPassword(t *testing.T) {
	t.Parallel()
	h := newOps(t, func(o *ops.Options) { o.User, o.Password = "ops", "secret" })
	if w := asked(t, h, "GET", "/jobs/backlog"); w.Code != http.StatusUnauthorized {
		t.Errorf("without the password: %d %s", w.Code, w.Body)
	}
	// An autoscaler calls the listener by the name of its Service.
	with := func(r *http.Request) {
		r.SetBasicAuth("ops", "secret")
		r.Host = "funnelwork-scheduler-ops.funnelwork.svc:9092"
	}
	if w := asked(t, h, "GET", "/jobs/backlog", with); w.Code != http.StatusOK {
		t.Errorf("with the password: %d %s", w.Code, w.Body)
	}
	if w := asked(t, h, "GET", "/jobs/backlog?lane=bulk", with); w.Code != http.StatusBadRequest {
		t.Errorf("with a parameter that does not exist: %d %s", w.Code, w.Body)
	}
}
