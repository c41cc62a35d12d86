package testkit

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// nodeSecret is the password of every node: all tests run with a password.
const nodeSecret = "node-password"

// node is a redis-server of a cluster or a failover group, on a loopback port.
type node struct {
	addr string
	cli  *redis.Client
	kill func() // kills with SIGKILL
}

// startNode starts redis-server with the given configuration lines. Without one the test is skipped, or fails if
// CI=true.
func startNode(t testing.TB, sentinel bool, lines ...string) *node {
	t.Helper()
	program, err := findRedis()
	if err != nil {
		unavailable(t, err)
	}
	port, dir := nodePort(t), t.TempDir()
	conf := filepath.Join(dir, "node.conf")
	lines = append([]string{
		"port " + strconv.Itoa(port), "bind 127.0.0.1", "dir " + dir, `save ""`,
		"requirepass " + nodeSecret,
	}, lines...)
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"env", "LD_LIBRARY_PATH=" + program.Libraries, program.Path, conf}
	if sentinel {
		args = append(args, "--sentinel")
	}
	n := &node{
		addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		kill: daemon(t, nil, args...),
	}
	n.cli = redis.NewClient(&redis.Options{Addr: n.addr, Password: nodeSecret, Protocol: 2})
	t.Cleanup(func() { _ = n.cli.Close() })
	eventually(t, "node "+n.addr+" answers", func() bool { return n.cli.Ping(t.Context()).Err() == nil })
	return n
}

// daemon runs a program until the test or its binary ends, or kill is called. All of these end it with SIGKILL.
func daemon(t testing.TB, as *syscall.Credential, argv ...string) (kill func()) {
	t.Helper()
	const watchdog = `"$@" </dev/null & read -r word; kill -KILL $!; wait $!`
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh",
		append([]string{"-c", watchdog, "sh"}, argv...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	kill = sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	return kill
}

// nodePort returns a free port such that the port 10,000 above it, for a cluster's node-to-node traffic, is free too.
func nodePort(t testing.TB) int {
	t.Helper()
	for range 200 {
		port := 10100 + rand.IntN(4800) //nolint:gosec // no secret
		free := true
		for _, p := range []int{port, port + 10000} {
			address := net.JoinHostPort("127.0.0.1", strconv.Itoa(p))
			ln, err := net.Listen("tcp", address) //nolint:noctx // returns at once
			if free = free && err == nil; err == nil {
				_ = ln.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("testkit: no free port")
	return 0
}

// RedisFailover is a master, its replica, and three sentinels that monitor them.
type RedisFailover struct {
	URL             string
	t               testing.TB
	master, replica *node
	sentinels       []*node
}

// RedisSentinel starts a RedisFailover.
func RedisSentinel(t testing.TB) *RedisFailover {
	t.Helper()
	f := &RedisFailover{t: t, master: startNode(t, false, "masterauth "+nodeSecret)}
	host, port, _ := net.SplitHostPort(f.master.addr)
	f.follow()
	var addrs []string
	for range 3 {
		s := startNode(t, true, "sentinel monitor main "+host+" "+port+" 2", "sentinel auth-pass main "+nodeSecret,
			"sentinel sentinel-pass "+nodeSecret,
			"sentinel down-after-milliseconds main 1000", "sentinel failover-timeout main 5000")
		f.sentinels = append(f.sentinels, s)
		addrs = append(addrs, s.addr)
	}
	eventually(t, "the sentinels know all", func() bool {
		m, err := f.state()
		return err == nil && m["num-slaves"] == "1" && m["num-other-sentinels"] == "2"
	})
	f.URL = "redis+sentinel://:" + nodeSecret + "@" + strings.Join(addrs, ",") + "/main?sentinel_password=" + nodeSecret
	return f
}

func (f *RedisFailover) state() (map[string]string, error) {
	client := redis.NewSentinelClient(f.sentinels[0].cli.Options())
	defer func() { _ = client.Close() }()
	return client.Master(f.t.Context(), "main").Result()
}

// follow starts a replica of the master.
func (f *RedisFailover) follow() {
	f.t.Helper()
	host, port, _ := net.SplitHostPort(f.master.addr)
	f.replica = startNode(f.t, false, "masterauth "+nodeSecret, "replicaof "+host+" "+port)
	eventually(f.t, "the replica follows", func() bool {
		return strings.Contains(f.replica.cli.Info(f.t.Context(), "replication").Val(), "master_link_status:up")
	})
}

// Replace gives the promoted master a replica, so that it may fail, too.
func (f *RedisFailover) Replace() {
	f.t.Helper()
	f.follow()
	for _, s := range f.sentinels {
		client := redis.NewSentinelClient(s.cli.Options())
		defer func() { _ = client.Close() }()
		eventually(f.t, "each sentinel knows the replica", func() bool {
			all, err := client.Replicas(f.t.Context(), "main").Result()
			return err == nil && slices.ContainsFunc(all, func(m map[string]string) bool {
				return net.JoinHostPort(m["ip"], m["port"]) == f.replica.addr && m["flags"] == "slave" &&
					m["master-link-status"] == "ok"
			})
		})
	}
}

// Fail kills the master and returns when the replica has been promoted.
func (f *RedisFailover) Fail() {
	f.t.Helper()
	f.master.kill()
	eventually(f.t, "the replica is the master", func() bool {
		m, err := f.state()
		return err == nil && net.JoinHostPort(m["ip"], m["port"]) != f.master.addr
	})
	f.master = f.replica
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("testkit: not within five minutes: %s", what)
		}
	}
}
