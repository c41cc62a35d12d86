package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// spoken is a background process with a log that can be read while it runs.
type spoken struct {
	pid  int
	mu   sync.Mutex
	said bytes.Buffer
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// warnings returns the log entries at WARN and above.
func (s *spoken) warnings(t *testing.T) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.String()) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) == nil && (entry["level"] == "WARN" || entry["level"] == "ERROR") {
			all = append(all, entry)
		}
	}
	return all
}

// roleSettings are the settings that roles need beside their servers, and signup, by which tests make orgs.
func roleSettings(t *testing.T) []string {
	t.Helper()
	keyset, err := secret.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"FUNNELWORK_KEYSET=" + keyset, "FUNNELWORK_SIGNUP=on"}
}

// roleEnviron is this process's environment with roleSettings.
func roleEnviron(t *testing.T) []string {
	t.Helper()
	return append(os.Environ(), roleSettings(t)...)
}

// role is launch that waits until /readyz returns 200.
func role(t *testing.T, env []string, name, addr, ops string) *spoken {
	t.Helper()
	s := launch(t, env, name, addr, ops)
	until(t, name+" is ready", func() bool { return statusOf("http://"+ops+"/readyz") == http.StatusOK }, s.String)
	return s
}

// launch starts a role, or up. It ends with the test.
func launch(t *testing.T, env []string, name, addr, ops string) *spoken {
	t.Helper()
	s := &spoken{}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), name)
	cmd.Env = append(slices.Clone(env), "FUNNELWORK_ADDR="+addr, "FUNNELWORK_OPS_ADDR="+ops,
		"FUNNELWORK_LOG_FORMAT=json")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s, s, 20*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v: %s", name, err, s)
		}
	})
	return s
}

// lacks returns what /readyz lists as not configured.
func lacks(t *testing.T, ops string) []string {
	t.Helper()
	var ready struct {
		NotConfigured []string `json:"not_configured"`
	}
	status, answer := ask(t, "GET", "http://"+ops+"/readyz", "", "")
	if err := json.Unmarshal([]byte(answer), &ready); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	return ready.NotConfigured
}

// TestARoleWithoutSettingsGivesNothingAwayAndSaysWhatItLacks runs all roles with only a database and Redis.
func TestARoleWithoutSettingsGivesNothingAwayAndSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+db.URL, "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir())
	logs := map[string]*spoken{}
	for i, name := range []string{"api", "worker", "scheduler"} {
		logs[name] = role(t, env, name, ports[0], ports[i+1])
		if diff := cmp.Diff([]string{"billing", "oauth", "mail", "ai"}, lacks(t, ports[i+1])); diff != "" {
			t.Errorf("%s: not_configured (-want +got):\n%s", name, diff)
		}
		said := 0
		for _, entry := range logs[name].warnings(t) {
			if entry["parts"] == "billing oauth mail ai" {
				said++
			}
		}
		if said != 1 {
			t.Errorf("%s warned %d times of what it lacks: %s", name, said, logs[name])
		}
		if strings.Contains(logs[name].String(), `"sandbox":`) {
			t.Errorf("%s uses a sandbox: %s", name, logs[name])
		}
	}
	public := "http://" + ports[0]
	status, answer := ask(t, "POST", public+"/api/v1/auth/signup", "",
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &session); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/billing/change-plan", `{"plan":"solo_pro","interval":"month"}`},
		{"POST", "/billing/change-plan/preview", `{"plan":"solo_pro","interval":"month"}`},
		{"POST", "/billing/cancel", ""},
		{"POST", "/billing/resume", ""},
		{"POST", "/billing/portal", ""},
		{"POST", "/billing/stripe/webhook", "{}"},
		{"POST", "/billing/stripe/connect-webhook", "{}"},
		{"POST", "/white-label/connect/onboarding", ""},
		{"GET", "/white-label/connect/return?state=x", ""},
		{"GET", "/white-label/connect/refresh?state=x", ""},
		{"POST", "/api/v1/social/x/connect", ""},
		{"POST", "/api/v1/ads/meta_ads/connect", ""},
		{"POST", "/api/v1/ai/draft-email", `{}`},
		{"POST", "/api/v1/ai/classify-reply", `{"text":"no"}`},
		{"POST", "/api/v1/auth/forgot-password", `{"email":"ada@example.com"}`},
	} {
		if status, answer := ask(t, c.method, public+c.path, session.Token,
			c.body); status != http.StatusServiceUnavailable || !strings.Contains(answer, `"code":"not_configured"`) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, answer)
		}
	}
	for _, path := range []string{
		"/billing/subscription", "/billing/my-entitlements", "/billing/plans-with-features", "/white-label/connect",
		"/api/v1/social/accounts", "/api/v1/ads/accounts",
		"/api/v1/ai/usage", "/api/v1/ai/score-model",
	} {
		if status, answer := ask(t, "GET", public+path, session.Token, ""); status != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, status, answer)
		}
	}
	_, subscription := ask(t, "GET", public+"/billing/subscription", session.Token, "")
	if !strings.Contains(subscription, `"plan":"trial"`) || !strings.Contains(subscription, `"trial_ends_at":null`) {
		t.Errorf("the plan of an org without billing: %s", subscription)
	}

	// The admin passes the link on, and it works.
	var invited struct {
		AcceptURL string `json:"accept_url"`
	}
	status, answer = ask(t, "POST", public+"/api/v1/members", session.Token,
		`{"email":"bob@example.com","role":"member"}`)
	if err := json.Unmarshal([]byte(answer), &invited); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	token, ok := strings.CutPrefix(invited.AcceptURL, public+"/accept-invite?token=")
	if !ok {
		t.Fatalf("accept_url is %q", invited.AcceptURL)
	}
	if status, answer := ask(t, "POST", public+"/api/v1/auth/accept-invite", "",
		`{"token":"`+token+`","password":"correct-horse-battery"}`); status != http.StatusOK {
		t.Errorf("the link is answered with %d %s", status, answer)
	}
	var mails, jobs int
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		"SELECT (SELECT count(*) FROM system_mail), (SELECT count(*) FROM job WHERE kind = 'mail.system')").
		Scan(&mails, &jobs); err != nil {
		t.Fatal(err)
	}
	if mails != 0 || jobs != 0 {
		t.Errorf("%d mails and %d of their jobs are kept for nobody to send", mails, jobs)
	}
	if strings.Contains(logs["api"].String(), token) {
		t.Error("the log has an invitation's token")
	}
}

// TestASandboxHasToBeAskedForByNameAndSaysThatItIsOne enables two of four sandboxes, with blanks in the setting, for
// every role.
func TestASandboxHasToBeAskedForByNameAndSaysThatItIsOne(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_SANDBOXES=stripe, mail")
	for i, name := range []string{"api", "worker", "scheduler"} {
		s := role(t, env, name, ports[0], ports[i+1])
		if diff := cmp.Diff([]string{"oauth", "ai"}, lacks(t, ports[i+1])); diff != "" {
			t.Errorf("%s: not_configured (-want +got):\n%s", name, diff)
		}
		var sandboxes []string
		for _, entry := range s.warnings(t) {
			if one, ok := entry["sandbox"].(string); ok && strings.Contains(entry["msg"].(string), "sandbox") {
				sandboxes = append(sandboxes, one)
			}
		}
		if diff := cmp.Diff([]string{"stripe", "mail"}, sandboxes); diff != "" {
			t.Errorf("%s: sandboxes in its log (-want +got):\n%s", name, diff)
		}
		for path, want := range map[string]int{
			"/sandbox/stripe/": 200, "/sandbox/mailbox/": 200,
			"/sandbox/oauth/": 404,
		} {
			status, page := ask(t, "GET", "http://"+ports[i+1]+path, "", "")
			if status != want || want == 200 && !strings.Contains(page, "This is a sandbox") {
				t.Errorf("%s%s: %d %s", name, path, status, page)
			}
		}
	}
	public := "http://" + ports[0]
	_, answer := ask(t, "POST", public+"/api/v1/auth/signup", "",
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &session); err != nil {
		t.Fatal(answer)
	}
	for path, want := range map[string]int{"/billing/change-plan": 200, "/api/v1/social/x/connect": 503} {
		body := ""
		if want == 200 {
			body = `{"plan":"solo_pro","interval":"month"}`
		}
		if status, answer := ask(t, "POST", public+path, session.Token, body); status != want {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := ask(t, "POST", public+"/api/v1/members", session.Token,
		`{"email":"bob@example.com","role":"member"}`); status != 201 || strings.Contains(answer, "accept_url") {
		t.Errorf("an invitation that is mailed: %d %s", status, answer)
	}
}

// TestNothingIsUnavailableOnceUpIsReady makes, right after the ready line, one request for each part with a sandbox.
func TestNothingIsUnavailableOnceUpIsReady(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir())
	run(t, env, "user", "create", "--email", "ada@example.com", "--password", "correct-horse-battery", "--org",
		"Engines")
	s := launch(t, env, "up", ports[0], ports[1])
	until(t, "up says that it is ready", func() bool { return strings.Contains(s.String(), "ready: ") }, s.String)
	public := "http://" + ports[0]
	if status := statusOf("http://" + ports[1] + "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz after the ready line: %d", status)
	}
	_, answer := ask(t, "POST", public+"/api/v1/auth/login", "",
		`{"email":"ada@example.com","password":"correct-horse-battery"}`)
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(answer), &session); err != nil || session.Token == "" {
		t.Fatal(answer)
	}
	if status, answer := ask(t, "POST", public+"/billing/change-plan", session.Token,
		`{"plan":"white_label_pro","interval":"month"}`); status != http.StatusOK {
		t.Errorf("the first change of plan: %d %s", status, answer)
	}
	calls := [][2]string{
		{"/billing/change-plan/preview", `{"plan":"white_label_pro","interval":"year"}`},
		{"/billing/portal", ""},
		{"/white-label/connect/onboarding", ""},
		{"/api/v1/ai/classify-reply", `{"text":"Please call me."}`},
		{"/api/v1/auth/forgot-password", `{"email":"ada@example.com"}`},
		{"/api/v1/members", `{"email":"bob@example.com","role":"member"}`},
	}
	for _, platform := range []string{
		"facebook", "instagram", "linkedin", "linkedin_page", "x", "tiktok", "youtube",
		"pinterest", "gmail", "outlook",
	} {
		calls = append(calls, [2]string{"/api/v1/social/" + platform + "/connect", ""})
	}
	for _, platform := range []string{"meta", "linkedin", "tiktok", "google", "pinterest", "x"} {
		calls = append(calls, [2]string{"/api/v1/ads/" + platform + "_ads/connect", ""})
	}
	for _, c := range calls {
		if status, answer := ask(t, "POST", public+c[0], session.Token, c[1]); status < 200 || status > 299 {
			t.Errorf("%s: %d %s", c[0], status, answer)
		}
	}
}
