package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/asynqx"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// The master with the webhooks lane is killed. Deliveries continue within ten seconds after its replica was promoted,
// and every process logs the outage once.
func TestDeliveriesGoOnAfterAFailoverOfTheCluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.RedisReplicatedCluster(t)
	s, roles := serveRoles(t, cluster.URL)
	s.create(t, 20)
	s.arrive(t)
	for n := range *failovers {
		if n > 0 {
			cluster.Replace()
		}
		s.failover(t, cluster)
		for role, said := range roles {
			for _, message := range []string{"redis is away", "redis answers again"} {
				until(t, role+" logs: "+message, func() bool { return len(said.lines(t, message)) > n }, said.String)
			}
		}
	}
	s.onceEach(t)
	for role, said := range roles {
		for _, message := range []string{"redis is away", "redis answers again"} {
			if n := len(said.lines(t, message)); n != *failovers {
				t.Errorf("%s logs %q %d times, want once for each of %d failovers\n%s", role, message, n, *failovers,
					said)
			}
		}
		if more := said.lines(t, ""); len(more) > 2**failovers {
			t.Errorf("%s says more of the outage: %s", role, strings.Join(more, "\n"))
		}
	}
}

// failover kills the master with the webhooks lane while contacts are created, and waits until each was delivered.
func (s *service) failover(t *testing.T, cluster *testkit.RedisShards) {
	t.Helper()
	promoted := cluster.Kill(asynqx.Key("webhooks", asynqx.Pending))
	killed := time.Now()
	posting, stop := sync.WaitGroup{}, make(chan struct{})
	posting.Go(func() {
		for {
			s.create(t, 1)
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	})
	until(t, "a replica has the master's place", promoted)
	begin, before := time.Now(), s.toldOf()
	t.Logf("promoted %v after the kill", begin.Sub(killed).Round(time.Millisecond))
	until(t, "a delivery arrives", func() bool { return s.toldOf() > before })
	took := time.Since(begin)
	t.Logf("the first delivery arrived %v after the promotion", took.Round(time.Millisecond))
	if took > 30*time.Second { // 10 s on a machine that is not busy
		t.Errorf("deliveries went on %v after the promotion", took)
	}
	close(stop)
	posting.Wait()
	s.arrive(t)
}

// serveRoles runs the three roles as separate processes behind a transaction pooler, with one webhook for all new
// contacts.
func serveRoles(t *testing.T, redis string) (*service, map[string]*journal) {
	t.Helper()
	s := &service{told: map[string]int{}}
	receiver := httptest.NewServer(s)
	t.Cleanup(receiver.Close)
	env := append(roleEnviron(t), "DATABASE_URL="+testkit.Pooler(t, testkit.DB(t).URL),
		"FUNNELWORK_DATABASE_POOLER=true", "REDIS_URL="+redis, "FUNNELWORK_HOME="+t.TempDir(),
		"FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=info", "FUNNELWORK_LOG_FORMAT=json")
	roles := map[string]*journal{}
	for _, role := range []string{"api", "worker", "scheduler"} {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		roles[role] = &journal{}
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), build(t), role)
		cmd.Env = slices.Concat(env, []string{"FUNNELWORK_ADDR=" + ports[0], "FUNNELWORK_OPS_ADDR=" + ports[1]})
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = roles[role], roles[role], 20*time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s ended with %v: %s", role, err, roles[role])
			}
		})
		until(t, role+" is ready", func() bool {
			return statusOf("http://"+ports[1]+"/readyz") == http.StatusOK
		}, roles[role].String)
		if role == "api" {
			s.public, s.ops = "http://"+ports[0], "http://"+ports[1]
		}
	}
	s.token = s.login(t, "/api/v1/auth/signup", 201,
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	if status, body := ask(t, "POST", s.public+"/api/v1/webhooks", s.token,
		`{"url":"`+receiver.URL+`/","events":["contact.created"]}`); status != 201 {
		t.Fatalf("webhook: %d %s", status, body)
	}
	return s, roles
}

func (s *service) toldOf() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.told)
}

// journal is the log of a process.
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

// ofRedis matches log messages about an outage of Redis.
var ofRedis = regexp.MustCompile(`(?i)redis|asynq|relay|feeder|limiter|throttle|bucket|push|dial tcp|CLUSTERDOWN`)

// lines returns the lines with a message; with "" those about Redis.
func (j *journal) lines(t *testing.T, message string) (found []string) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var one struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if one.Msg == message || message == "" && ofRedis.MatchString(line) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
