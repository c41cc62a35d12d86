package chaos_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

// An API that is killed while it waits for the language model provider leaves an unsettled reservation. A worker
// charges it in full within a minute after the call's timeout, which is 14 s.
func TestTheReservationOfAKilledCallIsCharged(t *testing.T) {
	t.Parallel()
	h := open(t)
	asked := make(chan bool, 1)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has gone
		asked <- true
		<-r.Context().Done()
	}))
	t.Cleanup(provider.Close)
	api := h.api("api", "FUNNELWORK_AI_KEY=k", "FUNNELWORK_AI_URL="+provider.URL, "FUNNELWORK_AI_MODEL=m")
	key := h.orgs(api.url, 1, false)[0]
	for _, role := range []string{"worker", "scheduler"} {
		h.process(role, []string{build(t), role}, "FUNNELWORK_OPS_ADDR="+freePort(t))
	}
	cut := make(chan answer, 1)
	go func() { cut <- h.say(http.MethodPost, api.url+"/api/v1/ai/classify-reply", key, "", `{"text":"yes"}`) }()
	select {
	case <-asked:
	case a := <-cut:
		t.Fatalf("%d %s", a.status, a.body)
	}
	begun := time.Now()
	api.kill(syscall.SIGKILL)
	<-cut
	var estimate, used, reserved int
	if err := h.ask(`SELECT (SELECT estimate FROM ai_reservation), used, reserved FROM ai_quota`, nil, &estimate,
		&used, &reserved); err != nil {
		t.Fatal(err)
	}
	if used != 0 || reserved != estimate {
		t.Fatalf("at the kill %d are reserved and %d used; want %d reserved", reserved, used, estimate)
	}
	if estimate == 0 {
		t.Fatal("the estimate is 0")
	}
	h.until(giveUpAfter, "the reservation is charged", func() bool {
		return h.count(`SELECT reserved FROM ai_quota`) == 0
	})
	took := time.Since(begun)
	h.figure("charged after the kill", "74 s", "%.1f s", took.Seconds())
	if charged := h.count(`SELECT used FROM ai_quota`); charged != estimate {
		t.Errorf("%d were charged, want the estimate of %d", charged, estimate)
	}
	if *long && took > 74*time.Second {
		t.Errorf("it took %s", took)
	}
}
