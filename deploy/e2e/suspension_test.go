package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// inboxOf counts deliveries by the contact's address.
type inboxOf struct {
	mu   sync.Mutex
	came map[string]int
}

func (i *inboxOf) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var e struct {
		Data struct{ Object struct{ Email string } }
	}
	_ = json.Unmarshal(body, &e)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.came[e.Data.Object.Email]++
}

// of returns how many contacts of a host have arrived, and how often the most frequent one has.
func (i *inboxOf) of(host string) (n, most int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for email, times := range i.came {
		if strings.HasSuffix(email, "@"+host) {
			n, most = n+1, max(most, times)
		}
	}
	return n, most
}

// An operator suspends an org at one process. Every process refuses its calls and starts none of its jobs, those that
// are killed and started again included, while another org is served. After the resumption, by the command line, each
// delivery that waited arrives once.
func TestASuspensionHoldsInEveryProcessAndLosesNothing(t *testing.T) {
	t.Parallel()
	inbox := &inboxOf{came: map[string]int{}}
	receiver := httptest.NewServer(inbox)
	t.Cleanup(receiver.Close)
	ports, err := freePorts(6)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_LOG_LEVEL=warn")
	run := func(name, addr, ops string) (kill func()) {
		t.Helper()
		kill = startProgram(t, exec.CommandContext(context.WithoutCancel(t.Context()), build(t), name),
			append(env, "FUNNELWORK_ADDR="+addr, "FUNNELWORK_OPS_ADDR="+ops))
		until(t, name+" is ready", func() bool { return statusOf("http://"+ops+"/readyz") == http.StatusOK })
		return kill
	}
	killFirst := run("api", ports[0], ports[1])
	run("api", ports[2], ports[3])
	killWorker := run("worker", ports[4], ports[5])
	first, second, ops := "http://"+ports[0], "http://"+ports[2], "http://"+ports[3]

	enter := func(host string) (org, token string) {
		t.Helper()
		status, answer := ask(t, "POST", first+"/api/v1/auth/signup", "",
			`{"org_name":"Engines","email":"ada@`+host+`","password":"correct-horse-battery"}`)
		var session struct {
			Token string `json:"access_token"`
			Org   struct{ ID string }
		}
		if err := json.Unmarshal([]byte(answer), &session); err != nil || status != 201 {
			t.Fatalf("%d %s", status, answer)
		}
		if status, answer := ask(t, "POST", first+"/api/v1/webhooks", session.Token,
			`{"url":"`+receiver.URL+`/","events":["contact.created"]}`); status != 201 {
			t.Fatalf("webhook: %d %s", status, answer)
		}
		return session.Org.ID, session.Token
	}
	create := func(token, name string) {
		t.Helper()
		if status, answer := ask(t, "POST", second+"/api/v1/crm/contacts", token,
			`{"email":"`+name+`","first_name":"A","last_name":"B"}`); status != 201 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	arrived := func(host string, n int) {
		t.Helper()
		until(t, "the deliveries of "+host+" arrive", func() bool {
			got, _ := inbox.of(host)
			return got >= n
		})
	}
	org, token := enter("shop.example")
	_, other := enter("mill.example")
	create(token, "0@shop.example")
	arrived("shop.example", 1)
	until(t, "the delivery is recorded", func() bool { // a worker that is killed before delivers it again
		_, answer := ask(t, "GET", ops+"/orgs/"+org, "", "")
		return strings.Contains(answer, `"jobs":{"open":0,`)
	})

	killWorker()
	for _, n := range []string{"1", "2", "3"} {
		create(token, n+"@shop.example")
	}
	if status, answer := ask(t, "POST", ops+"/orgs/"+org+"/suspend", "", `{"reason":"unpaid"}`); status != 200 {
		t.Fatalf("suspend: %d %s", status, answer)
	}
	refused := func(api string) {
		t.Helper()
		until(t, "the org is refused", func() bool {
			status, answer := ask(t, "GET", api+"/api/v1/crm/contacts", token, "")
			return status == 403 && strings.Contains(answer, `"code":"org_suspended"`)
		})
		if status, _ := ask(t, "POST", api+"/api/v1/crm/contacts", token, `{}`); status != 403 {
			t.Errorf("a write is %d", status)
		}
	}
	refused(first)
	refused(second)
	killFirst()
	run("api", ports[0], ports[1])
	killWorker = run("worker", ports[4], ports[5])
	refused(first)
	create(other, "0@mill.example")
	arrived("mill.example", 1)
	killWorker()
	run("worker", ports[4], ports[5])
	create(other, "1@mill.example")
	arrived("mill.example", 2)
	if n, _ := inbox.of("shop.example"); n != 1 {
		t.Errorf("%d deliveries of the suspended org", n)
	}

	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), build(t), append([]string{"orgs"}, args...)...)
		cmd.Env = slices.Concat(env, []string{"FUNNELWORK_ACTOR=grace"})
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("orgs %v: %v", args, err)
		}
		return string(out)
	}
	if listed := command("list", "--status", "suspended", "--json"); !strings.Contains(listed, org) ||
		strings.Count(listed, "\n") != 1 {
		t.Errorf("listed are %s", listed)
	}
	if shown := command("resume", org, "--reason", "paid"); !strings.Contains(shown, `"status": "active"`) {
		t.Errorf("resumed: %s", shown)
	}
	arrived("shop.example", 4)
	for _, api := range []string{first, second} {
		until(t, "the org is served", func() bool {
			status, _ := ask(t, "GET", api+"/api/v1/crm/contacts", token, "")
			return status == 200
		})
	}
	create(token, "4@shop.example")
	arrived("shop.example", 5)
	if _, most := inbox.of("shop.example"); most != 1 {
		t.Errorf("a delivery arrived %d times", most)
	}
	_, log := ask(t, "GET", first+"/api/v1/audit-log", token, "")
	for _, want := range []string{"organization.suspended", "organization.resumed", `"grace"`, "unpaid"} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log lacks %s: %s", want, log)
		}
	}
	if shown := command("usage", org); !strings.Contains(shown, `"contacts"`) {
		t.Errorf("usage: %s", shown)
	}
}
