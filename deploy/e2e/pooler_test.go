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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Every role and command runs behind a pooler that hands a session to another client after each transaction.
func TestEveryRoleWorksBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	direct, admin, err := emptyDatabase(t, testkit.DB(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	everyRoleWorks(t, admin, 60, "DATABASE_URL="+testkit.Pooler(t, direct), "FUNNELWORK_DATABASE_POOLER=true")
}

// Every role and command runs on a server with Postgres's default settings and a login that is not a superuser and
// creates the roles itself.
func TestEveryRoleWorksOnAServerThatWasGiven(t *testing.T) {
	t.Parallel()
	login, admin, err := emptyDatabase(t, testkit.NewPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	var jit string
	if err := testkit.Pgx(t, admin).QueryRow(t.Context(), "SHOW jit").Scan(&jit); err != nil {
		t.Fatal(err)
	}
	if jit != "on" {
		t.Fatalf("the server has jit %s, which is not Postgres's default", jit)
	}
	everyRoleWorks(t, admin, 400, "DATABASE_URL="+login)
}

// everyRoleWorks runs the commands, then the roles as separate processes, until each contact was created, scored and
// delivered to a webhook. admin is a superuser's URL of the same database.
func everyRoleWorks(t *testing.T, admin string, contacts int, settings ...string) {
	t.Helper()
	env := append(roleEnviron(t), "REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=warn")
	env = append(env, settings...)
	for _, args := range [][]string{
		{"migrate"},
		{"migrate"},
		{"keys", "rotate"},
		{"scheduler", "--list"},
		{"user", "create", "--email", "ada@example.com", "--password", "correct-horse-battery", "--org", "Engines"},
	} {
		cmd := exec.CommandContext(t.Context(), build(t), args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	public, working := "", ""
	for _, role := range []string{"api", "worker", "scheduler"} {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		inBackground(t, append(env, "FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[1]), role)
		until(t, role+" is ready", func() bool {
			status, _ := ask(t, "GET", "http://"+ports[1]+"/readyz", "", "")
			return status == 200
		})
		switch role {
		case "api":
			public = "http://" + ports[0]
		case "worker":
			working = "http://" + ports[1]
		}
	}
	var mu sync.Mutex
	told := map[string]bool{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct {
			Data struct{ Object struct{ Email string } }
		}
		_ = json.Unmarshal(body, &e)
		mu.Lock()
		defer mu.Unlock()
		told[e.Data.Object.Email] = true
	}))
	t.Cleanup(receiver.Close)
	var session struct {
		Token string `json:"access_token"`
	}
	_, answer := ask(t, "POST", public+"/api/v1/auth/login", "",
		`{"email":"ada@example.com","password":"correct-horse-battery"}`)
	if err := json.Unmarshal([]byte(answer), &session); err != nil || session.Token == "" {
		t.Fatalf("login: %s", answer)
	}
	if status, body := ask(t, "POST", public+"/api/v1/webhooks", session.Token,
		`{"url":"`+receiver.URL+`/","events":["contact.created"]}`); status != 201 {
		t.Fatalf("webhook: %d %s", status, body)
	}
	var clients sync.WaitGroup
	for c := range 6 { // more concurrent clients than the pooler has sessions, beside the worker's
		clients.Go(func() {
			for i := c; i < contacts; i += 6 {
				if status, body := ask(t, "POST", public+"/api/v1/crm/contacts", session.Token,
					fmt.Sprintf(`{"email":"c%d@example.org","first_name":"Grace","last_name":"Hopper","tag":"x"}`,
						i)); status != 201 {
					t.Errorf("contact %d: %d %s", i, status, body)
				}
			}
		})
	}
	clients.Wait()
	until(t, "every contact was told of", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told) == contacts
	})
	if status, body := ask(t, "GET", public+"/api/v1/crm/contacts?tag=x&limit=200&q=grace", session.Token,
		""); status != 200 || bytes.Count([]byte(body), []byte(`"email":`)) != min(contacts, 200) {
		t.Errorf("list: %d %s", status, body)
	}
	sql := testkit.Pgx(t, admin)
	until(t, "all jobs are done, the scheduler's among them", func() bool {
		var open, ticks int
		if err := sql.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM tick)").
			Scan(&open, &ticks); err != nil {
			t.Fatal(err)
		}
		return open == 0 && ticks > 0
	})
	_, page := ask(t, "GET", working+"/metrics", "", "")
	claims := regexp.MustCompile(`funnelwork_jobs_claims_total\{.*result="failed"\} (\S+)`).
		FindAllStringSubmatch(page, -1)
	if len(claims) == 0 {
		t.Error("the worker does not count its claims")
	}
	for _, m := range claims {
		if m[1] != "0" {
			t.Errorf("claims failed: %s", m[0])
		}
	}
}

// inBackground runs a command of the product until the test ends.
func inBackground(t *testing.T, env []string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, &said, &said, 20*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%v ended with %v: %s", args, err, said.String())
		}
	})
}
