package chaos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a platform process. It is started again after each kill.
type process struct {
	h    *house
	name string
	argv []string
	env  []string
	url  string // of an API
	ops  string // its ops listener
	mu   sync.Mutex
	cmd  *exec.Cmd
	log  *os.File

	starts int
}

// began is what a process of this binary logs when it begins its work.
const began = "the process begins its work"

func (h *house) process(name string, argv []string, env ...string) *process {
	h.t.Helper()
	log, err := os.Create(filepath.Join(h.t.TempDir(), name+".log"))
	if err != nil {
		h.t.Fatal(err)
	}
	p := &process{h: h, name: name, argv: argv, log: log, env: append([]string{
		"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + h.database, "REDIS_URL=" + h.redis.URL,
		"FUNNELWORK_KEYSET=" + h.keyset, "FUNNELWORK_SIGNUP=on",
		"FUNNELWORK_HOME=" + h.t.TempDir(), "FUNNELWORK_LOG_LEVEL=warn", "FUNNELWORK_LOG_FORMAT=json",
	}, env...)}
	h.t.Cleanup(func() {
		p.kill(syscall.SIGKILL)
		if h.t.Failed() {
			tail, _ := os.ReadFile(log.Name())
			h.t.Logf("%s said:\n%s", name, tail[max(0, len(tail)-3000):])
		}
		_ = log.Close()
	})
	p.start()
	return p
}

func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd = exec.CommandContext(context.WithoutCancel(p.h.t.Context()), p.argv[0], p.argv[1:]...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, p.log, p.log
	p.starts++
	if err := p.cmd.Start(); err != nil {
		p.h.t.Errorf("%s: %v", p.name, err)
		p.cmd = nil
	}
}

// kill ends the process by a signal and waits for its end.
func (p *process) kill(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(signal)
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// revive starts the process again if it has ended by itself, as an orchestrator does: a process that starts while
// Postgres is away ends.
func (p *process) revive() {
	p.mu.Lock()
	ended := p.cmd != nil && isZombie(p.cmd.Process.Pid)
	p.mu.Unlock()
	if ended {
		p.kill(syscall.SIGKILL)
		p.start()
	}
}

// isZombie reports whether a child has ended and was not waited for.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

// terminate asks the process to end, as an orchestrator does, and waits until it has. Its exit status must be 0.
func (p *process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if err == nil {
		err = p.cmd.Wait()
	}
	if err != nil {
		p.h.t.Errorf("%s: %v", p.name, err)
	}
	p.cmd = nil
}

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.h.t.Fatalf("%s: %v", p.name, err)
	}
}

// said reports whether the process has logged text.
func (p *process) said(text string) bool {
	b, err := os.ReadFile(p.log.Name())
	return err == nil && bytes.Contains(b, []byte(text))
}

// running reports whether a process of this binary has begun its work since its last start.
func (p *process) running() bool {
	b, err := os.ReadFile(p.log.Name())
	return err == nil && bytes.Count(b, []byte(began)) == p.starts
}

// cpu returns the CPU time that the process has used.
func (p *process) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.h.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:])) // from the third field on
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			p.h.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ, which is 100 on every Linux
}

// self starts this test binary in a role.
func (h *house) self(name, role string, env ...string) *process {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	return h.process(name, []string{exe, "-test.run=^$"}, append(env, part+"="+role)...)
}

func (h *house) worker(name string, slots int) *process {
	h.t.Helper()
	return h.self(name, "worker", "SLOTS="+strconv.Itoa(slots))
}

func (h *house) scheduler(name string, every time.Duration) *process {
	h.t.Helper()
	return h.self(name, "scheduler", "EVERY="+every.String())
}

// api starts the product's own API and waits until it is ready.
func (h *house) api(name string, env ...string) *process {
	h.t.Helper()
	addr, ops := freePort(h.t), freePort(h.t)
	p := h.process(name, []string{build(h.t), "api"},
		append(env, "FUNNELWORK_ADDR="+addr, "FUNNELWORK_OPS_ADDR="+ops, "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true")...)
	p.url, p.ops = "http://"+addr, "http://"+ops
	h.until(giveUpAfter, name+" is ready", func() bool {
		res, err := http.Get(p.ops + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

var claimed sync.Map

// freePort returns a free loopback address below the kernel's range of ports for outgoing connections, in a range that
// other packages' tests leave alone.
func freePort(t *testing.T) string {
	t.Helper()
	for port := 30000 + os.Getpid()%1000; port < 32768; port++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if _, taken := claimed.LoadOrStore(addr, true); taken {
			continue
		}
		if ln, err := net.Listen("tcp", addr); err == nil {
			_ = ln.Close()
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}

// answer is an API's response; status 0 if there was none.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func (h *house) say(method, url, token, key, body string) answer {
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		h.t.Error(err)
		return answer{}
	}
	for name, v := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer " + token,
		"Idempotency-Key": key,
	} {
		if v != "" && v != "Bearer " {
			req.Header.Set(name, v)
		}
	}
	begin := time.Now()
	res, err := client.Do(req)
	if err != nil {
		return answer{}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}
	}
	return answer{res.StatusCode, res.Header, b, time.Since(begin)}
}

// post is say for requests that must succeed with one status.
func (h *house) post(status int, url, token, body string) map[string]any {
	h.t.Helper()
	a := h.say("POST", url, token, "", body)
	if a.status != status {
		h.t.Fatalf("POST %s: %d, want %d: %s", url, a.status, status, a.body)
	}
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		h.t.Fatal(err)
	}
	return v
}

// orgs signs n orgs up and returns an API key of each. If hooked is set, each org sends its new contacts to the
// receiver. The API must have no rate limits.
func (h *house) orgs(api string, n int, hooked bool) (keys []string) {
	h.t.Helper()
	for i := range n {
		session := h.post(201, api+"/api/v1/auth/signup", "",
			fmt.Sprintf(`{"org_name":"Org %d","email":"owner%d@example.com","password":"correct-horse-battery"}`, i, i))
		token := session["access_token"].(string)
		key := h.post(201, api+"/api/v1/api-keys", token, `{"name":"chaos","role":"member"}`)
		keys = append(keys, key["key"].(string))
		if hooked {
			h.post(201, api+"/api/v1/webhooks", token, `{"url":"`+h.receiver.URL+`/","events":["contact.created"]}`)
		}
	}
	return keys
}
