package testkit

import (
	"context"
	"sync"
	"syscall"
	"testing"

	"github.com/funnelwork/funnelwork/internal/local"
)

// findRedis looks for a redis-server once in each test binary, as local.FindRedis does.
var findRedis = sync.OnceValues(func() (local.RedisServer, error) {
	return local.FindRedis(context.Background(), local.RedisOptions{Log: fetchLog()})
})

// Redis returns the URL of an empty private Redis: a redis-server if one is installed or can be fetched, else an
// in-process one.
func Redis(t testing.TB) string {
	t.Helper()
	return startRedis(t).URL
}

// RedisServer is a redis-server that the test may stop and hang.
type RedisServer struct {
	URL   string
	t     testing.TB
	redis *local.Redis
}

// RealRedis starts a private redis-server. Without one the test is skipped, or fails if CI=true.
func RealRedis(t testing.TB) *RedisServer {
	t.Helper()
	if _, err := findRedis(); err != nil {
		unavailable(t, err)
	}
	r := startRedis(t)
	return &RedisServer{URL: r.URL, t: t, redis: r}
}

// Stop ends the server. Connections are refused until Start.
func (r *RedisServer) Stop() { r.must(r.redis.Halt(context.WithoutCancel(r.t.Context()))) }

// Start starts a stopped server again, with the same URL and contents.
func (r *RedisServer) Start() { r.must(r.redis.Start(r.t.Context())) }

// Hang stops the server's process with SIGSTOP: connections stay open without replies until Continue.
func (r *RedisServer) Hang() { r.must(r.redis.Signal(syscall.SIGSTOP)) }

// Continue ends Hang.
func (r *RedisServer) Continue() { r.must(r.redis.Signal(syscall.SIGCONT)) }

func (r *RedisServer) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("testkit: redis: %v", err)
	}
}

func startRedis(t testing.TB) *local.Redis {
	t.Helper()
	server, err := findRedis()
	r, err := local.StartRedis(t.Context(), local.RedisOptions{Server: server, NoDownload: err != nil, Log: Log(t)})
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("testkit: %v", err)
		}
	})
	return r
}
