package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// attackTime is how long the attack lasts. The ordinary load before it and the rest after it last a fifth of it.
var attackTime = flag.Duration("attack.time", 6*time.Second, "how long all listeners are attacked")

// attacked is an installation with its roles apart, and what an attacker knows of it.
type attacked struct {
	*testing.T
	roles   map[string]*spoken
	api     string   // address of the public port
	ops     []string // addresses of the operations ports
	inbound string   // address of the listener for incoming mail
	token   string   // an org's access token
	failed  atomic.Int64
	served  atomic.Int64
}

// All listeners are attacked at once: by fuzz, floods of connections, requests that never end, and the silent and
// endless servers of customers. Each role is back to its memory afterwards, and ordinary requests are answered
// meanwhile.
func TestAnAttackOnAllListenersLeavesEachRoleItsMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to know what a process takes")
	}
	a := newAttacked(t)
	a.nameServersOfCustomers()
	rest := *attackTime / 5

	stop := a.startOrdinaryClients()
	defer stop()
	a.wait(rest)
	before := a.memory()

	peak := map[string]int{}
	attack, end := context.WithTimeout(t.Context(), *attackTime)
	var attackers sync.WaitGroup
	for _, run := range a.attackers() {
		attackers.Go(func() { run(attack) })
	}
	for attack.Err() == nil {
		a.wait(500 * time.Millisecond)
		for name, now := range a.memory() {
			peak[name] = max(peak[name], now)
		}
	}
	attackers.Wait()
	end()

	a.wait(rest)
	stop()
	after := a.memory()
	for name := range a.roles {
		t.Logf("%-9s %4d MiB before, %4d at its peak, %4d after %v of rest: %.2f", name, before[name]>>10,
			peak[name]>>10, after[name]>>10, rest, float64(after[name])/float64(before[name]))
		if *attackTime >= 10*time.Minute && 2*after[name] > 3*before[name] {
			t.Errorf("%s keeps more than 1.5 times its memory", name)
		}
	}
	t.Logf("%d ordinary requests, %d of them failed", a.served.Load(), a.failed.Load())
	if a.failed.Load() > 0 || a.served.Load() == 0 {
		t.Errorf("%d of %d ordinary requests failed", a.failed.Load(), a.served.Load())
	}
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	ports, err := freePorts(5)
	if err != nil {
		t.Fatal(err)
	}
	a := &attacked{T: t, roles: map[string]*spoken{}, api: ports[0], ops: ports[1:4], inbound: ports[4]}
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.RealRedis(t).URL,
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_SANDBOXES=stripe,oauth,ai,mail", "FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_MAIL_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=error",
		"FUNNELWORK_DRAIN_DELAY=0s")
	inbound := append(slices.Clone(env),
		"FUNNELWORK_INBOUND_ADDR="+a.inbound, "FUNNELWORK_INBOUND_DOMAIN=in.example.com")
	a.roles["api"] = role(t, inbound, "api", ports[0], ports[1])
	a.roles["worker"] = role(t, env, "worker", ports[0], ports[2])
	a.roles["scheduler"] = role(t, env, "scheduler", ports[0], ports[3])

	var session struct {
		Token string `json:"access_token"`
	}
	status, answer := ask(t, "POST", "http://"+a.api+"/api/v1/auth/signup", "",
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	if err := json.Unmarshal([]byte(answer), &session); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	status, answer = ask(t, "POST", "http://"+a.api+"/api/v1/api-keys", session.Token, `{"name":"load","role":"admin"}`)
	var key struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal([]byte(answer), &key); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	a.token = key.Key
	return a
}

// memory returns what each role takes, in KiB.
func (a *attacked) memory() map[string]int {
	a.Helper()
	now := map[string]int{}
	for name, r := range a.roles {
		now[name] = memory(a.T, r.pid, "VmRSS")
	}
	return now
}

// wait returns after d, or when the test ends.
func (a *attacked) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-a.Context().Done():
	}
}

// startOrdinaryClients starts ordinary clients. stop ends them and waits for them.
func (a *attacked) startOrdinaryClients() (stop func()) {
	ctx, cancel := context.WithCancel(a.Context())
	var clients sync.WaitGroup
	clients.Go(func() { a.serveOrdinaryClients(ctx) })
	return sync.OnceFunc(func() {
		cancel()
		clients.Wait()
	})
}

// serveOrdinaryClients makes the requests of a few ordinary clients until ctx ends, and counts those that failed. What
// the service refuses under load, with 429 or 503, is an answer.
func (a *attacked) serveOrdinaryClients(ctx context.Context) {
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() {
			client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := 0; ctx.Err() == nil; i++ {
				method, path, body := http.MethodGet, "/api/v1/crm/contacts?limit=50", ""
				if i%2 == 0 {
					method, path = http.MethodPost, "/api/v1/crm/contacts"
					body = fmt.Sprintf(`{"email":"c%d-%d@example.com","first_name":"Ada","last_name":"Lovelace"}`, n, i)
				}
				r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, "http://"+a.api+path,
					strings.NewReader(body))
				if err != nil {
					a.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+a.token)
				r.Header.Set("Content-Type", "application/json")
				a.served.Add(1)
				res, err := client.Do(r)
				if err != nil {
					a.failed.Add(1)
					a.Logf("%s %s: %v", method, path, err)
					continue
				}
				_ = res.Body.Close()
				if res.StatusCode == http.StatusInternalServerError || res.StatusCode == http.StatusBadGateway {
					a.failed.Add(1)
					a.Logf("%s %s: %d", method, path, res.StatusCode)
				}
				select {
				case <-time.After(20 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	clients.Wait()
}
