package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/funnelwork/funnelwork/internal/framing/framingtest"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// logged is the output of a process.
type logged struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// Whatever Caddy makes of a badly framed request, the API behind it receives no request without a response by Caddy.
func TestCaddyAndTheAPICountTheSameRequests(t *testing.T) {
	t.Parallel()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("caddy is not installed (Debian: caddy)")
		}
		t.Skip("SKIPPED: caddy is not installed (Debian: caddy), so framing was not tried through it")
	}
	ports, err := freePorts(4)
	if err != nil {
		t.Fatal(err)
	}
	var log logged
	api := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), "api")
	api.Env = append(roleEnviron(t), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+testkit.Redis(t),
		"FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_RATE_LIMIT=off",
		"FUNNELWORK_ADDR="+ports[0], "FUNNELWORK_OPS_ADDR="+ports[1], "FUNNELWORK_LOG_LEVEL=info",
		"FUNNELWORK_LOG_FORMAT=json", "FUNNELWORK_DRAIN_DELAY=0s")
	api.Stdout, api.Stderr = &log, &log
	if err := api.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.Process.Signal(syscall.SIGTERM)
		_ = api.Wait()
	})
	until(t, "the API is ready", func() bool { return statusOf("http://"+ports[1]+"/readyz") == http.StatusOK })
	startCaddy(t, caddy, ports[2], ports[3], "FUNNELWORK_UPSTREAM="+ports[0], "FUNNELWORK_HOST=http://localhost")
	until(t, "a page through Caddy", func() bool {
		n, err := answered(t.Context(), ports[3],
			strings.Replace(request("first"), "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
		return err == nil && n == 1
	})

	answers := map[string]int{}
	var mu sync.Mutex
	var asking errgroup.Group
	asking.SetLimit(32)
	number := 0
	texts := map[string]func(id string) string{"a good one": func(id string) string {
		return request("good"+id) + request("hidden"+id)
	}}
	for _, requests := range framingtest.Refused("", "") {
		for name := range requests {
			texts[name] = func(id string) string {
				return refusedText(name,
					"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
						"application/json\r\nX-Request-Id: post"+id+"\r\n", request("hidden"+id))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		number++
		id := fmt.Sprintf("-%d-", number)
		text := texts[name](id)
		asking.Go(func() error {
			n, err := answered(t.Context(), ports[3], text)
			mu.Lock()
			answers[name+"\x00"+id] = n
			mu.Unlock()
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		t.Fatal(err)
	}
	seen := log.String()
	forwarded := 0
	for key, n := range answers {
		name, id, _ := strings.Cut(key, "\x00")
		count := 0
		for _, marker := range []string{"post", "good", "hidden"} {
			count += strings.Count(seen, `"request_id":"`+marker+id+`"`)
		}
		if count > n {
			t.Errorf("%s: the API saw %d requests, and Caddy answered %d", name, count, n)
		}
		forwarded += count
	}
	if forwarded < 2 {
		t.Errorf("the API saw only %d requests", forwarded)
	}
}

func request(id string) string {
	return "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: " + id + "\r\n\r\n"
}

func refusedText(name, post, hidden string) string {
	for _, requests := range framingtest.Refused(post, hidden) {
		if text, ok := requests[name]; ok {
			return text
		}
	}
	return ""
}

// answered counts the responses to text until the server closes the connection or sends no more.
func answered(ctx context.Context, addr, text string) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	go func() { _, _ = io.WriteString(conn, text) }()
	r := bufio.NewReader(conn)
	for n := 0; ; n++ {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return n, nil // the end of the connection, in one of its forms
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil {
			if late, ok := errors.AsType[net.Error](err); ok {
				return n, late
			}
		}
	}
}
