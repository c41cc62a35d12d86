package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// TestAResellersAccountGoesThroughAllItsStates runs the whole product on its sandbox: the reseller requests a link from
// the API, a browser presses its buttons, the sandbox sends webhooks, a worker reads the account, and the API shows
// each of the six states when it is entered and left.
func TestAResellersAccountGoesThroughAllItsStates(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	public, ops := "http://"+ports[0], "http://"+ports[1]
	env := append(roleEnviron(t), "DATABASE_URL="+db.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[1])
	run(t, env, "user", "create", "--email", "ada@example.com", "--password", "correct-horse-battery", "--org",
		"Reseller")
	inBackground(t, env, "up")
	until(t, "it is ready", func() bool { return statusOf(ops+"/readyz") == http.StatusOK })
	var session struct {
		Token string `json:"access_token"`
	}
	_, answer := ask(t, "POST", public+"/api/v1/auth/login", "",
		`{"email":"ada@example.com","password":"correct-horse-battery"}`)
	if err := json.Unmarshal([]byte(answer), &session); err != nil {
		t.Fatal(answer)
	}
	until(t, "the plan is bought", func() bool { // after the prices are published
		status, _ := ask(t, "POST", public+"/billing/change-plan", session.Token,
			`{"plan":"white_label_pro","interval":"month"}`)
		return status == http.StatusOK
	})
	var shown struct {
		Status  string
		CanSell bool   `json:"can_sell"`
		Account string `json:"account_id"`
	}
	read := func() string {
		status, answer := ask(t, "GET", public+"/white-label/connect", session.Token, "")
		if err := json.Unmarshal([]byte(answer), &shown); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		return shown.Status
	}
	becomes := func(state string) {
		t.Helper()
		until(t, "the account is "+state, func() bool { return read() == state }, func() string {
			return fmt.Sprintf("%+v", shown)
		})
		if shown.CanSell != (state == "enabled") {
			t.Errorf("%+v", shown)
		}
	}
	link := func() string {
		t.Helper()
		var out struct{ URL string }
		status, answer := ask(t, "POST", public+"/white-label/connect/onboarding", session.Token, "")
		if status != http.StatusOK {
			t.Fatalf("%d %s, want 200", status, answer)
		}
		if err := json.Unmarshal([]byte(answer), &out); err != nil {
			t.Fatalf("%v in %s", err, answer)
		}
		if !strings.HasPrefix(out.URL, ops) {
			t.Fatalf("the link is %s, want one below %s", out.URL, ops)
		}
		return out.URL
	}
	press := func(form url.Values) {
		t.Helper()
		res, err := http.PostForm(ops+"/sandbox/stripe/do", form)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%v: %d", form, res.StatusCode)
		}
	}
	becomes("not_started")
	for _, c := range []struct{ button, state string }{
		{"onboarding", "onboarding"},
		{"review", "pending_review"},
		{"restricted", "restricted"},
		{"enabled", "enabled"},
		{"warned", "enabled"},
		{"review", "pending_review"},
	} {
		at := link()
		if status := statusOf(at); status != http.StatusOK {
			t.Fatalf("the link leads to %d", status)
		}
		press(url.Values{"do": {"onboard"}, "id": {at[strings.LastIndex(at, "/")+1:]}, "to": {c.button}})
		if status := statusOf(at); status != http.StatusGone {
			t.Errorf("the link opens again: %d", status)
		}
		becomes(c.state)
	}
	first := shown.Account
	press(url.Values{"do": {"disconnect"}, "id": {first}})
	becomes("disconnected")
	at := link()
	becomes("onboarding")
	press(url.Values{"do": {"onboard"}, "id": {at[strings.LastIndex(at, "/")+1:]}, "to": {"enabled"}})
	becomes("enabled")
	if shown.Account == first {
		t.Error("the account that was taken away is back")
	}
	until(t, "each entry is told once", func() bool {
		_, answer := ask(t, "GET", public+"/api/v1/events?limit=200", session.Token, "")
		return strings.Count(answer, `"connect.enabled"`) == 2 && strings.Count(answer, `"connect.restricted"`) == 1
	})
}
