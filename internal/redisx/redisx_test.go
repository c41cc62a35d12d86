package redisx_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestOneURLNamesEveryKindOfRedis(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url   string
		kind  string
		hosts []string
		db    int
	}{
		{"redis://cache", "single", []string{"cache:6379"}, 0},
		{"redis://u:p%40@cache:7000/3", "single", []string{"cache:7000"}, 3},
		{"rediss://cache", "single", []string{"cache:6379"}, 0},
		{"unix:///run/redis.sock?db=2", "single", []string{"/run/redis.sock"}, 2},
		{"redis://a:1,b:2", "cluster", []string{"a:1", "b:2"}, 0},
		{"redis+cluster://a", "cluster", []string{"a:6379"}, 0},
		{"rediss+cluster://u:p@a,b:2", "cluster", []string{"a:6379", "b:2"}, 0},
		{"redis+sentinel://:p@s1,s2:5/mymaster/4?sentinel_password=x", "failover", nil, 4},
	} {
		t.Run(tc.url, func(t *testing.T) {
			t.Parallel()
			c, err := redisx.Open(tc.url, redisx.Request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			var kind string
			var hosts []string
			var db int
			switch c := c.(type) {
			case *redis.Client:
				o := c.Options()
				kind, hosts, db = "single", []string{o.Addr}, o.DB
				if o.Addr == "FailoverClient" {
					kind, hosts = "failover", nil
				}
				if strings.HasPrefix(tc.url, "rediss") != (o.TLSConfig != nil) {
					t.Errorf("TLS is wrong: %v", o.TLSConfig)
				}
				// -1 becomes 0
				if o.MaxRetries != 0 || o.DialTimeout != 50*time.Millisecond || !o.ContextTimeoutEnabled {
					t.Errorf("%d retries, dial timeout %v, context's timeout %v; want 0, 50ms, true", o.MaxRetries,
						o.DialTimeout, o.ContextTimeoutEnabled)
				}
			case *redis.ClusterClient:
				kind, hosts = "cluster", c.Options().Addrs
			}
			if kind != tc.kind || db != tc.db {
				t.Errorf("kind %s, db %d", kind, db)
			}
			if diff := cmp.Diff(tc.hosts, hosts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABadURLIsRefusedWithoutRepeatingItsPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "cache:6379", "http://:hunter2@cache", "redis+moon://:hunter2@cache",
		"redis+sentinel://:hunter2@cache", "redis://:hunter2@ca che", "redis://:hunter2@cache/one",
		"redis://:hunter2@cache?what=1",
	} {
		_, err := redisx.Open(url, redisx.Worker)
		if err == nil {
			t.Errorf("%q was taken", url)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

func TestARequestDoesNotWaitForARedisThatIsAway(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	for name, tc := range map[string]struct {
		url   string
		limit time.Duration
	}{
		"refused": {"redis://127.0.0.1:1", time.Second},
		"silent":  {"redis://" + silent.Addr().String(), time.Second},
	} {
		c, err := redisx.Open(tc.url, redisx.Request)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Hour
		for try := 0; took > tc.limit && try < 10; try++ { // the machine may be busy
			begin := time.Now()
			if err := c.Incr(t.Context(), "k").Err(); err == nil {
				t.Errorf("%s: no error", name)
			}
			took = min(took, time.Since(begin))
		}
		if took > tc.limit {
			t.Errorf("%s: an error after %v, want one within %v", name, took, tc.limit)
		}
		_ = c.Close()
	}
}

func TestAHungRedisEndsWithTheContextOfAWorkerToo(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	c, err := redisx.Open(server.URL, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Hang()
	defer server.Continue()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err = c.Get(ctx, "k").Err()
	if took := time.Since(begin); err == nil || took > 20*time.Second {
		t.Errorf("%v after %v, want an error soon", err, took)
	}
}
