package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTheServiceRunsOnARedisCluster(t *testing.T) {
	t.Parallel()
	s := serve(t, testkit.RedisCluster(t))
	s.create(t, 150)
	s.arrive(t)
	s.limits(t)
	s.dashboard(t)
}

func TestTheServiceOutlivesAFailoverOfRedis(t *testing.T) {
	t.Parallel()
	redis := testkit.RedisSentinel(t)
	s := serve(t, redis.URL)
	s.create(t, 50)
	s.arrive(t)
	s.limits(t)
	var posting sync.WaitGroup
	stop := make(chan struct{})
	posting.Go(func() { // a batch's events are delivered with and without Redis
		for {
			s.create(t, 5)
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	begin := time.Now()
	redis.Fail()
	t.Logf("the replica was promoted %s after the master was killed", time.Since(begin).Round(time.Millisecond))
	close(stop)
	posting.Wait()
	s.arrive(t)
	t.Logf("all %d contacts were told of %s after the master was killed", s.created, time.Since(begin).
		Round(time.Millisecond))
	s.create(t, 50)
	s.arrive(t)
	s.limits(t)
	s.dashboard(t)
}

// service is a running `up` with one webhook for all new contacts.
type service struct {
	public, ops, token string
	created            int
	mu                 sync.Mutex
	told               map[string]int
}

func serve(t *testing.T, redis string) *service {
	t.Helper()
	s := &service{told: map[string]int{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e struct {
			Data struct{ Object struct{ Email string } }
		}
		_ = json.Unmarshal(body, &e)
		s.mu.Lock()
		s.told[e.Data.Object.Email]++
		s.mu.Unlock()
	}))
	t.Cleanup(receiver.Close)
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	inBackground(t,
		append(os.Environ(), "DATABASE_URL="+testkit.DB(t).URL, "REDIS_URL="+redis, "FUNNELWORK_HOME="+t.TempDir(),
			"FUNNELWORK_ADDR="+ports[0],
			"FUNNELWORK_OPS_ADDR="+ports[1], "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true", "FUNNELWORK_LOG_LEVEL=warn"),
		"up", "--seed-email", "ada@example.com", "--seed-password", "correct-horse-battery")
	s.public, s.ops = "http://"+ports[0], "http://"+ports[1]
	until(t, "up is ready", func() bool {
		status, _ := ask(t, "GET", s.ops+"/readyz", "", "")
		return status == 200
	})
	s.token = s.login(t, "/api/v1/auth/login", 200, `{"email":"ada@example.com","password":"correct-horse-battery"}`)
	if status, body := ask(t, "POST", s.public+"/api/v1/webhooks", s.token,
		`{"url":"`+receiver.URL+`/","events":["contact.created"]}`); status != 201 {
		t.Fatalf("webhook: %d %s", status, body)
	}
	return s
}

func (s *service) login(t *testing.T, path string, want int, body string) string {
	t.Helper()
	var session struct {
		Token string `json:"access_token"`
	}
	status, answer := ask(t, "POST", s.public+path, "", body)
	if err := json.Unmarshal([]byte(answer), &session); err != nil || status != want {
		t.Fatalf("%s: %d %s", path, status, answer)
	}
	return session.Token
}

// create adds contacts in one request.
func (s *service) create(t *testing.T, n int) {
	var rows []string
	for range n {
		s.created++
		rows = append(rows,
			fmt.Sprintf(`{"email":"c%d@example.org","first_name":"Grace","last_name":"Hopper"}`, s.created))
	}
	if status, body := ask(t, "POST", s.public+"/api/v1/crm/contacts/batch", s.token,
		`{"contacts":[`+strings.Join(rows, ",")+`]}`); status != 200 {
		t.Errorf("batch: %d %s", status, body)
	}
}

// arrive waits until every contact was delivered.
func (s *service) arrive(t *testing.T) {
	t.Helper()
	told := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.told)
	}
	until(t, "every contact was told of", func() bool { return told() == s.created }, func() string {
		return fmt.Sprintf("%d of %d", told(), s.created)
	})
}

// limits floods with a new org: exactly its 200 requests are admitted, and Redis decides.
func (s *service) limits(t *testing.T) {
	t.Helper()
	for try := 1; ; try++ {
		token := s.login(t, "/api/v1/auth/signup", 201,
			fmt.Sprintf(`{"org_name":"Flood","email":"flood%d@example.com","password":"correct-horse-battery"}`,
				time.Now().UnixNano()))
		before := decidedAlone(t, []string{s.ops})
		got := flood(t, []string{s.public, s.public}, token)
		alone := decidedAlone(t, []string{s.ops}) - before
		if alone > 0 && try < 5 {
			t.Logf("%v requests were decided without redis, on a busy machine: once more", alone)
			<-time.After(time.Second)
			continue
		}
		if got[200] != 200 || got[429] != 800 {
			t.Errorf("statuses %v, want 200 times 200 and 800 times 429", got)
		}
		if alone > 0 {
			t.Errorf("%v requests were decided without redis", alone)
		}
		return
	}
}

// dashboard makes all requests of the job dashboard's pages.
func (s *service) dashboard(t *testing.T) {
	t.Helper()
	var paths []string
	for _, lane := range []string{"critical", "default", "webhooks", "bulk"} {
		for _, list := range []string{
			"", "/active_tasks", "/pending_tasks", "/scheduled_tasks", "/retry_tasks",
			"/archived_tasks", "/completed_tasks",
		} {
			paths = append(paths, "/queues/"+lane+list)
		}
	}
	for _, path := range append(paths, "/queues", "/queue_stats", "/servers", "/scheduler_entries", "/redis_info") {
		if status, body := ask(t, "GET", s.ops+"/queues/api"+path, "", ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, list := ask(t, "GET", s.ops+"/queues/api/queues", "", "")
	if n := strings.Count(list, `"queue":`); n < 4 {
		t.Errorf("%d queues are listed: %s", n, list)
	}
}
