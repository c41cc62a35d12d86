package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// replica is an API process that can be started again at its address.
type replica struct {
	url, ops string
	env      []string
	cmd      *exec.Cmd
	said     *bytes.Buffer
	ready    atomic.Bool          // as last seen by the load balancer
	kept     *fasthttp.HostClient // keeps its connections, without retries
	fresh    *http.Client         // makes a connection for each request
}

func (r *replica) start(t *testing.T) {
	t.Helper()
	r.said = &bytes.Buffer{}
	r.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), build(t), "api")
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr, r.cmd.WaitDelay = r.env, r.said, r.said, 20*time.Second
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "an API is ready", func() bool { return statusOf(r.ops+"/readyz") == http.StatusOK })
}

// ask sends one request, over a used or a new connection.
func (r *replica) ask(ctx context.Context, fresh bool, method, token, body string) (int, error) {
	const path = "/api/v1/crm/contacts"
	if !fresh {
		req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(res)
		req.SetRequestURI(r.url + path)
		req.Header.SetMethod(method)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
		err := r.kept.Do(req, res)
		return res.StatusCode(), err
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := r.fresh.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// Two processes are replaced one after the other under load. The load balancer in front polls /readyz four times a
// second and does not retry.
func TestARollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.RealRedis(t).URL,
		"FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_LOG_LEVEL=error", "FUNNELWORK_RATE_LIMIT=off")
	replicas := make([]*replica, 2)
	for i := range replicas {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		r := &replica{
			url: "http://" + ports[0], ops: "http://" + ports[1],
			env: slices.Concat(env, []string{"FUNNELWORK_ADDR=" + ports[0], "FUNNELWORK_OPS_ADDR=" + ports[1]}),
			kept: &fasthttp.HostClient{
				Addr: ports[0], MaxIdemponentCallAttempts: 1,
				RetryIfErr: func(*fasthttp.Request, int, error) (bool, bool) {
					return false, false
				}, ReadTimeout: time.Minute,
			},
			fresh: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute},
		}
		r.start(t)
		r.ready.Store(true)
		replicas[i] = r
		t.Cleanup(func() {
			_ = r.cmd.Process.Signal(syscall.SIGTERM)
			_ = r.cmd.Wait()
		})
	}
	status, session := ask(t, "POST", replicas[0].url+"/api/v1/auth/signup", "",
		`{"org_name":"Roll","email":"ada@example.com","password":"correct-horse-battery"}`)
	token := regexp.MustCompile(`"access_token":"([^"]+)"`).FindStringSubmatch(session)
	if status != 201 || token == nil {
		t.Fatalf("signup: %d %s", status, session)
	}

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, r := range replicas {
		running.Go(func() { r.watch(ctx) })
	}
	var sent, failed atomic.Int64
	running.Go(func() {
		pace := time.NewTicker(time.Second / 50)
		defer pace.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			running.Go(func() {
				sent.Add(1)
				method, body, want := http.MethodGet, "", http.StatusOK
				if n%3 == 0 {
					method, want = http.MethodPost, http.StatusCreated
					body = fmt.Sprintf(`{"email":"c%d@example.com","first_name":"A","last_name":"B"}`, n)
				}
				r := replicas[n%2]
				if !r.ready.Load() {
					r = replicas[1-n%2]
				}
				if got, err := r.ask(t.Context(), n%4 < 2, method, token[1], body); err != nil || got != want {
					failed.Add(1)
					t.Errorf("request %d, %s to %s: %d %v", n, method, r.url, got, err)
				}
			})
		}
	})
	for _, r := range replicas {
		r.replace(t)
		until(t, "the load balancer has seen it", r.ready.Load)
	}
	stop()
	running.Wait()
	t.Logf("%d requests, %d failed", sent.Load(), failed.Load())
	if sent.Load() < 100 {
		t.Errorf("only %d requests were sent", sent.Load())
	}
}

// watch is a load balancer's health check.
func (r *replica) watch(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		ready := statusOf(r.ops+"/readyz") == http.StatusOK
		if r.ready.Swap(ready) && !ready {
			r.kept.CloseIdleConnections() // the client does not notice that the server closes an idle connection
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// replace ends the process as an orchestrator does, polls it meanwhile, and starts it again.
func (r *replica) replace(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, "the process that ends is not ready", func() bool {
		return statusOf(r.ops+"/readyz") == http.StatusServiceUnavailable
	})
	res, err := http.Get(r.url + "/openapi.json")
	if err != nil {
		t.Fatalf("a process that drains refuses a connection: %v", err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("while it drains it answers %d, and closes: %v", res.StatusCode, res.Close)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, r.said)
	}
	r.start(t)
}

// An API that is killed before its requests have ended would fail them.
func TestComposeLetsAnAPIDrain(t *testing.T) {
	t.Parallel()
	c := readYAML[struct {
		Services map[string]struct {
			Grace string `yaml:"stop_grace_period"`
		}
	}](t, "deploy/compose.yaml")
	const delay, requests = 5 * time.Second, 25 * time.Second // the default, and the API's stopTime
	if grace, err := time.ParseDuration(c.Services["api"].Grace); err != nil || grace <= delay+requests {
		t.Errorf("an api has %q to end, and may need more than %s", c.Services["api"].Grace, delay+requests)
	}
}
