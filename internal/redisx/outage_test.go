package redisx_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// The master with a key's slot is lost. Commands for it, and a watch, succeed again soon after the promotion.
func TestAClientFollowsAFailoverOfTheCluster(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testkit.RedisShards, string) func() bool{
		"killed": (*testkit.RedisShards).Kill, "hung": (*testkit.RedisShards).Hang,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := testkit.RedisReplicatedCluster(t)
			set := map[string]func() bool{}
			for kind, use := range map[string]redisx.Profile{"worker": redisx.Worker, "request": redisx.Request} {
				client, err := redisx.Open(cluster.URL, use)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				set[kind] = func() bool {
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					return client.Set(ctx, "{webhooks}", kind, 0).Err() == nil
				}
				within(t, "the cluster answers", set[kind])
			}
			promoted := lose(cluster, "{webhooks}")
			within(t, "a replica has the master's place", promoted)
			begin := time.Now()
			for kind, works := range set {
				within(t, kind+": a command for the slot succeeds", works)
				took := time.Since(begin)
				t.Logf("%s: a command for the slot succeeds %v after the promotion", kind, took.Round(time.Millisecond))
				if took > time.Minute { // 10 s on a machine that is not busy
					t.Errorf("%s: a command for the slot succeeds %v after the promotion, want at most a minute", kind,
						took)
				}
			}
		})
	}
}

func TestAnOutageIsLoggedOnceWhenItBeginsAndOnceWhenItEnds(t *testing.T) {
	t.Parallel()
	server := testkit.RealRedis(t)
	client, err := redisx.Open(server.URL, redisx.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	var said journal
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- redisx.Watch(ctx, client, slog.New(slog.NewTextHandler(&said, nil))) }()
	server.Stop()
	within(t, "the outage is logged", func() bool { return strings.Contains(said.String(), `"redis is away"`) })
	<-time.After(2500 * time.Millisecond) // further failed pings
	server.Start()
	within(t, "its end is logged", func() bool { return strings.Contains(said.String(), `"redis answers again"`) })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(said.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2:\n%s", n, said.String())
	}
}

type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}
