package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

var standbyLosses = flag.Int("standby.losses", 1, "how often the standby hangs, and how often it is killed")

// audience is clients that write contacts and read everything that may come from the standby.
type audience struct {
	*testing.T
	*service
	mu      sync.Mutex
	answers map[int]int
	wrong   []string
	created atomic.Int64
	ended   atomic.Bool // the writers have ended
	clients sync.WaitGroup
}

// TestNoRequestFailsThoughTheStandbyHangsAndDies reads from a streaming standby, which hangs and is killed under load:
// no request is answered with an error, a reader of the feed sees each event once, and no export lacks a contact.
func TestNoRequestFailsThoughTheStandbyHangsAndDies(t *testing.T) {
	t.Parallel()
	primary := testkit.RealPostgres(t)
	second := primary.Standby()
	ports, err := freePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	env := append(roleEnviron(t), "DATABASE_URL="+primary.URL, "FUNNELWORK_READ_DATABASE_URL="+second.URL,
		"REDIS_URL="+testkit.Redis(t), "FUNNELWORK_HOME="+t.TempDir(), "FUNNELWORK_RATE_LIMIT=off")
	role(t, env, "api", ports[0], ports[1])
	role(t, env, "worker", ports[0], ports[2])
	a := &audience{
		T: t, answers: map[int]int{},
		service: &service{public: "http://" + ports[0], ops: "http://" + ports[1]},
	}
	a.token = a.login(t, "/api/v1/auth/signup", 201,
		`{"org_name":"Engines","email":"ada@example.com","password":"correct-horse-battery"}`)
	stop := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(stop)
		a.clients.Wait()
	})
	defer end()
	for n := range 2 {
		a.clients.Go(func() { a.write(n, stop) })
	}
	for range 3 {
		a.clients.Go(a.follow)
	}
	a.clients.Go(func() { a.export(stop) })

	a.grows("reads from the standby", true)
	for range *standbyLosses {
		for _, c := range []struct {
			name       string
			lose, back func()
		}{
			{"the standby hangs", second.Hang, second.Continue},
			{"the standby is dead", second.Kill, second.Start},
		} {
			c.lose()
			a.grows(c.name+": reads from the primary", false)
			c.back()
			a.grows("the standby is back: reads from it", true)
		}
	}
	end()
	t.Logf("%d contacts, answers %v", a.created.Load(), a.answers)
	for i, wrong := range a.wrong {
		if i < 10 {
			t.Error(wrong)
		}
	}
	if n := len(a.wrong); n > 0 {
		t.Errorf("%d wrong answers", n)
	}
}

// grows waits until some dozens of reads of the feed were made on the standby, or on the primary.
func (a *audience) grows(what string, onStandby bool) {
	a.Helper()
	before := a.reads(onStandby)
	until(a.T, what, func() bool { return a.reads(onStandby) >= before+30 }, func() string {
		_, page := ask(a.T, "GET", a.ops+"/metrics", "", "")
		return strings.Join(regexp.MustCompile(`(?m)^funnelwork_standby_.*$`).FindAllString(page, -1), "\n")
	})
}

// reads returns how many reads of the feed were made on the standby, or on the primary.
func (a *audience) reads(onStandby bool) (n int) {
	a.Helper()
	_, page := ask(a.T, "GET", a.ops+"/metrics", "", "")
	for _, m := range regexp.MustCompile(`(?m)^funnelwork_standby_reads_total\{reason="(.*)",use="feed"\} (\S+)`).
		FindAllStringSubmatch(page, -1) {
		if (m[1] == "") == onStandby {
			count, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				a.Error(err)
			}
			n += int(count)
		}
	}
	return n
}

// say sends a request that must succeed.
func (a *audience) say(method, path, body string) string {
	status, answer := ask(a.T, method, a.public+path, a.token, body)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers[status]++; status/100 != 2 {
		a.wrong = append(a.wrong, fmt.Sprintf("%s %s: %d %s", method, path, status, answer))
	}
	return answer
}

func (a *audience) fault(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

func (a *audience) write(writer int, stop <-chan struct{}) {
	for n := 0; ; n++ {
		a.say("POST", "/api/v1/crm/contacts",
			fmt.Sprintf(`{"email":"c%d-%d@example.org","first_name":"Grace","last_name":"Hopper"}`, writer, n))
		a.created.Add(1)
		select {
		case <-stop:
			return
		case <-time.After(40 * time.Millisecond):
		}
	}
}

// follow reads the feed until it has seen every contact that was created.
func (a *audience) follow() {
	seen, cursor := map[string]bool{}, ""
	for last := time.Now().Add(patience); time.Now().Before(last); <-time.After(30 * time.Millisecond) {
		created := a.created.Load()
		var page struct {
			Data []struct {
				Data struct{ Object struct{ Email string } }
			}
			NextCursor string `json:"next_cursor"`
		}
		answer := a.say("GET", "/api/v1/events?type=contact.created&limit=20&cursor="+url.QueryEscape(cursor), "")
		if err := json.Unmarshal([]byte(answer), &page); err != nil {
			a.fault("events: %v", err)
		}
		for _, e := range page.Data {
			email := e.Data.Object.Email
			if seen[email] {
				a.fault("%s is twice in the feed", email)
			}
			seen[email] = true
		}
		if len(page.Data) > 0 {
			last = time.Now().Add(patience)
		}
		cursor = page.NextCursor
		if a.ended.Load() && int64(len(seen)) >= created {
			return
		}
	}
	a.fault("a reader of the feed has seen %d of %d contacts", len(seen), a.created.Load())
}

// export makes one export after the other and compares each with the contacts that existed when it was asked for.
func (a *audience) export(stop <-chan struct{}) {
	defer a.ended.Store(true) // at most an export later than the writers
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		created := a.created.Load()
		var e struct {
			ID, Status  string
			DownloadURL string `json:"download_url"`
		}
		read := func(answer string) {
			if err := json.Unmarshal([]byte(answer), &e); err != nil {
				a.fault("export: %v: %s", err, answer)
			}
		}
		read(a.say("POST", "/api/v1/crm/contacts/exports", `{"format":"ndjson","fields":["email"]}`))
		for last := time.Now().Add(patience); e.Status != "completed"; <-time.After(50 * time.Millisecond) {
			if time.Now().After(last) || e.ID == "" {
				a.fault("an export does not complete: %+v", e)
				return
			}
			read(a.say("GET", "/api/v1/crm/contacts/exports/"+e.ID, ""))
		}
		at, err := url.Parse(e.DownloadURL)
		if err != nil {
			a.fault("export: %v", err)
			return
		}
		emails := map[string]bool{}
		file := a.say("GET", at.Path, "")
		for line := range strings.Lines(file) {
			emails[line] = true
		}
		if n := strings.Count(file, "\n"); int64(n) < created || len(emails) != n {
			a.fault("an export has %d lines, %d different ones, of at least %d", n, len(emails), created)
		}
	}
}
