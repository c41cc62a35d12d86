package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// A panel with a renamed metric is empty, and an alert with one never fires. Most metrics with labels appear only after
// their first event, so the service is exercised first.
func TestDashboardAndAlertsSpeakOfMetricsThatARunningServiceHas(t *testing.T) {
	t.Parallel()
	names := watched(t)
	database, redis := testkit.DB(t).URL, testkit.Redis(t)
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(collector.Close)
	var said bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), "up", "--seed-email", "ada@example.com",
		"--seed-password", "correct-horse-battery")
	cmd.Env = append(roleEnviron(t), "DATABASE_URL="+database, "REDIS_URL="+redis, "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_ADDR="+ports[0],
		"FUNNELWORK_OPS_ADDR="+ports[1], "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=warn",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("up ended with %v: %s", err, said.String())
		}
	})
	public, ops := "http://"+ports[0], "http://"+ports[1]
	until(t, "up is ready", func() bool {
		status, _ := ask(t, "GET", ops+"/readyz", "", "")
		return status == 200
	})
	exercise(t, public)

	missing := names
	until(t, "every watched metric is at "+ops+"/metrics", func() bool {
		_, page := ask(t, "GET", ops+"/metrics", "", "")
		had := regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)`).FindAllStringSubmatch(page, -1)
		missing = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.ContainsFunc(had, func(m []string) bool {
				return name == m[1] || m[2] == "histogram" && (name == m[1]+"_count" || name == m[1]+"_sum")
			})
		})
		return len(missing) == 0
	}, func() string { return fmt.Sprintf("missing: %s\n%s", strings.Join(missing, " "), said.String()) })
}

// exercise makes the service do a little of everything that is monitored.
func exercise(t *testing.T, public string) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	must := func(want int, method, path, token, body string) map[string]any {
		t.Helper()
		status, answer := ask(t, method, public+path, token, body)
		if status != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, answer)
		}
		var v map[string]any
		_ = json.Unmarshal([]byte(answer), &v)
		return v
	}
	const login = "/api/v1/auth/login"
	must(401, "POST", login, "", `{"email":"ada@example.com","password":"wrong"}`)
	session := must(200, "POST", login, "", `{"email":"ada@example.com","password":"correct-horse-battery"}`)
	session = must(200, "POST", "/api/v1/auth/refresh", "", `{"refresh_token":"`+session["refresh_token"].(string)+`"}`)
	token := session["access_token"].(string)
	must(201, "POST", "/api/v1/webhooks", token, `{"url":"`+receiver.URL+`/","events":["*"]}`)
	must(201, "POST", "/api/v1/crm/contacts", token,
		`{"email":"grace@example.org","first_name":"Grace","last_name":"Hopper"}`)
	must(404, "GET", "/api/v1/crm/contacts/none", token, "")
	until(t, "wrong passwords are throttled", func() bool {
		status, _ := ask(t, "POST", public+login, "", `{"email":"nobody@example.com","password":"wrong"}`)
		return status == 429
	})
}

func ask(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(answer)
}

// until polls, for at most patience.
func until(t *testing.T, what string, holds func() bool, more ...func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, m := range more {
				what += "\n" + m()
			}
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
