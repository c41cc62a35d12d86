package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/stripememory"
)

// TestWithAStripeKeyTrialsEndAndClientOrgsAboveThePlansNumberArePaidForWithinAMinute runs every role against a Stripe
// server that is reached by key and address and sends webhooks.
func TestWithAStripeKeyTrialsEndAndClientOrgsAboveThePlansNumberArePaidForWithinAMinute(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	public := "http://" + ports[0]
	box := stripe.New(stripe.Options{Store: stripememory.New(), Log: testkit.Log(t)})
	t.Cleanup(box.Close)
	secret, err := box.Ensure(t.Context(), public+"/billing/stripe/webhook", false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(box)
	t.Cleanup(server.Close)
	env := append(roleEnviron(t), "DATABASE_URL="+db.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_PLANS="+onePlace(t))
	paid := append(slices.Clone(env), "STRIPE_SECRET_KEY=sk_test_e2e", "FUNNELWORK_STRIPE_URL="+server.URL,
		"STRIPE_WEBHOOK_SECRET="+secret)
	for _, args := range [][]string{
		{"user", "create", "--email", "ada@example.com", "--password", "correct-horse-battery", "--org", "Paid"},
		{"billing", "sync"},
	} {
		run(t, paid, args...)
	}
	run(t, env, "user", "create", "--email", "bob@example.com", "--password", "correct-horse-battery", "--org",
		"Sandbox")
	for i, role := range []string{"api", "worker", "scheduler"} {
		inBackground(t, append(slices.Clone(paid), "FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[i+1]),
			role)
	}
	for _, port := range ports[1:] {
		until(t, "every role is ready", func() bool { return statusOf("http://"+port+"/readyz") == http.StatusOK })
	}
	sql := testkit.Pgx(t, db.URL)
	for name, want := range map[string]bool{"Paid": true, "Sandbox": false} {
		var ends bool
		if err := sql.QueryRow(t.Context(),
			`SELECT coalesce(s.trial_ends_at BETWEEN now() + interval '13 days 23 hours'
				AND now() + interval '14 days', false)
			FROM subscription s JOIN org o ON o.id = s.org_id WHERE o.name = $1`, name).Scan(&ends); err != nil ||
			ends != want {
			t.Errorf("the trial of %s ends in 14 days: %v, %v; want %v", name, ends, err, want)
		}
	}

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	told := make(chan error, 1)
	go func() { told <- box.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-told; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the sandbox: %v", err)
		}
	})
	token := ""
	must := func(want int, method, path, body string) string {
		t.Helper()
		status, answer := ask(t, method, public+path, token, body)
		if status != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, answer)
		}
		return answer
	}
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(must(200, "POST", "/api/v1/auth/login",
		`{"email":"ada@example.com","password":"correct-horse-battery"}`)), &session); err != nil {
		t.Fatal(err)
	}
	token = session.Token
	must(200, "POST", "/billing/change-plan", `{"plan":"agency_scale","interval":"month"}`)
	var org string
	if err := sql.QueryRow(t.Context(), `SELECT id FROM org WHERE name = 'Paid'`).Scan(&org); err != nil {
		t.Fatal(err)
	}
	run(t, paid, "billing", "override", org, "webhooks", "7", "--until", "2099-01-01T00:00:00Z", "--actor", "grace",
		"--reason", "a trial of more")
	run(t, paid, "billing", "addon", org, "members", "5", "--actor", "grace")
	if said := run(t, paid, "billing", "rights", org); !strings.Contains(said, "plan agency_scale, active") ||
		!strings.Contains(said, "2099-01-01") {
		t.Errorf("rights: %s", said)
	}
	for what, path := range map[string]string{
		`"webhooks":{"type":"limit","value":7,"used":0,"source":"override"}`: "/billing/my-entitlements",
		`"members":{"type":"limit","value":205,"used":1,"source":"addon"}`:   "/billing/my-entitlements",
		`"by":"grace"`: "/api/v1/audit-log",
	} {
		if answer := must(200, "GET", path, ""); !strings.Contains(answer, what) {
			t.Errorf("%s: no %s in %s", path, what, answer)
		}
	}
	for n := range 3 {
		must(201, "POST", "/api/v1/orgs/clients", fmt.Sprintf(`{"name":"Shop %d"}`, n))
	}
	within := func(want int64) {
		t.Helper()
		began := time.Now()
		for paidFor(t, server.URL) != want {
			if time.Since(began) > time.Minute {
				t.Fatalf("Stripe charges for %d client orgs after a minute, want %d", paidFor(t, server.URL), want)
			}
			<-time.After(100 * time.Millisecond)
		}
		t.Logf("Stripe charges for %d after %s", want, time.Since(began).Round(100*time.Millisecond))
	}
	within(2) // three, of which the plan includes one
	if _, err := sql.Exec(t.Context(),
		`UPDATE client_org SET detached_at = now() WHERE id IN (SELECT id FROM client_org LIMIT 2)`); err != nil {
		t.Fatal(err)
	}
	within(0)
	until(t, "what Stripe told by webhook is worked", func() bool {
		var came, open int
		if err := sql.QueryRow(t.Context(),
			`SELECT count(*) FILTER (WHERE source = 'webhook'), count(*) FILTER (WHERE worked_at IS NULL)
				FROM stripe_event`).Scan(&came, &open); err != nil {
			t.Fatal(err)
		}
		return came > 5 && open == 0
	})
}

// onePlace returns a catalogue with an agency_scale that includes one client org.
func onePlace(t *testing.T) string {
	t.Helper()
	shipped, err := os.ReadFile(filepath.Join(repository(t), "internal", "billing", "plans", "catalogue.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "plans.yaml")
	if err := os.WriteFile(file,
		[]byte(strings.Replace(string(shipped), "max_client_orgs: 50", "max_client_orgs: 1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// paidFor returns the number of client orgs above the plan's number that Stripe charges for.
func paidFor(t *testing.T, url string) (n int64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/subscriptions", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk_test_e2e")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var list struct {
		Data []struct {
			Items struct {
				Data []struct {
					Quantity int64
					Price    struct {
						Key string `json:"lookup_key"`
					}
				}
			}
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, sub := range list.Data {
		for _, item := range sub.Items.Data {
			if strings.Contains(item.Price.Key, "_overage_") {
				n += item.Quantity
			}
		}
	}
	return n
}

// run runs a command that must succeed, and returns its output.
func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), build(t), args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}
