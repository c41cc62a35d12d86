package chaos_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// traffic is clients that create contacts and change each once, each under an idempotency key with retries until the
// API confirms it. A confirmed contact, and the scoring job of its change, must not be lost.
type traffic struct {
	h       *house
	keys    []string // of orgs
	total   int
	may     atomic.Int64 // contacts that may have been created by now; sets the pace
	done    atomic.Int64
	over    atomic.Bool // no contact after those of may is created any more
	clients sync.WaitGroup
	pick    func(n int) string // returns the API for the nth request
	run     id.ID              // makes the addresses of this traffic unique

	mu       sync.Mutex
	statuses map[int]int
	wrong    []string // responses that no client should get
	took     []sample
}

// sample is one successful response.
type sample struct{ at, took time.Duration }

// drive starts n clients.
func (h *house) drive(apis, keys []string, total, n int) *traffic {
	inTurn := func(n int) string { return apis[n%len(apis)] }
	return h.driveBy(inTurn, keys, total, n)
}

// driveBy is drive with a choice of the API for each request.
func (h *house) driveBy(pick func(int) string, keys []string, total, n int) *traffic {
	f := &traffic{h: h, keys: keys, total: total, statuses: map[int]int{}, run: id.New(), pick: pick}
	begin := time.Now()
	var next atomic.Int64
	for range n {
		f.clients.Go(func() {
			for h.t.Context().Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(total) {
					return
				}
				for i >= f.may.Load() && h.t.Context().Err() == nil {
					if f.over.Load() {
						return
					}
					<-time.After(5 * time.Millisecond)
				}
				f.create(int(i), begin)
				f.done.Add(1)
			}
		})
	}
	return f
}

// end waits until the contacts of may are created. There are no more.
func (f *traffic) end() {
	f.over.Store(true)
	f.clients.Wait()
	f.total = int(f.may.Load())
}

// create retries until contact i exists and is a customer.
func (f *traffic) create(i int, begin time.Time) {
	made, took := f.confirm(i, 201, "POST", "/api/v1/crm/contacts", fmt.Sprintf("%s-%d", f.run, i),
		fmt.Sprintf(`{"email":"c%d@%s.example.org","first_name":"Grace","last_name":"Hopper"}`, i, f.run))
	var c struct{ ID string }
	if err := json.Unmarshal(made, &c); err != nil {
		f.mu.Lock()
		f.wrong = append(f.wrong, err.Error())
		f.mu.Unlock()
		return
	}
	f.mu.Lock()
	f.took = append(f.took, sample{time.Since(begin), took})
	f.mu.Unlock()
	f.confirm(i, 200, "PATCH", "/api/v1/crm/contacts/"+c.ID, fmt.Sprintf("%s-%d-stage", f.run, i),
		`{"stage":"customer"}`)
}

// confirm sends a request under an idempotency key until the API answers with the status. It returns the body of that
// answer and the time that it took.
func (f *traffic) confirm(i, status int, method, path, key, body string) ([]byte, time.Duration) {
	for try := 0; f.h.t.Context().Err() == nil; try++ {
		a := f.h.say(method, f.pick(i+try)+path, f.keys[i%len(f.keys)], key, body)
		f.mu.Lock()
		f.statuses[a.status]++
		switch {
		case a.status == status:
		case a.status == 503 && a.header.Get("Retry-After") == "":
			f.wrong = append(f.wrong, "503 without Retry-After")
		// no response, unavailable, or an earlier try is still running
		case a.status == 0, a.status == 503, a.status == 409 && try > 0:
		default:
			f.wrong = append(f.wrong, fmt.Sprintf("%d: %s", a.status, a.body))
		}
		f.mu.Unlock()
		if a.status == status {
			return a.body, a.took
		}
		<-time.After(time.Duration(20+rand.IntN(80)) * time.Millisecond)
	}
	return nil, 0
}

// let lifts the pace and waits until all clients are done.
func (f *traffic) let() {
	f.may.Store(int64(f.total))
	f.clients.Wait()
}

func (f *traffic) status(code int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statuses[code]
}

// p99 returns the p99 of the successful responses to requests of a period, and their number.
func (f *traffic) p99(from, to time.Duration) (time.Duration, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var took []time.Duration
	for _, s := range f.took {
		if s.at >= from && s.at < to {
			took = append(took, s.took)
		}
	}
	return quantile(took, 0.99), len(took)
}

// quantile sorts v. It returns 0 if v is empty.
func quantile(v []time.Duration, q float64) time.Duration {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

// settled waits until no job is open and checks all contacts: each exists once, its change was scored by one job with
// its effects once, and was delivered at least once under one key.
func (f *traffic) settled() {
	const limit = 2 * time.Minute
	h := f.h
	h.t.Helper()
	h.until(limit, "all jobs done", func() bool { return h.open() == 0 })
	if n := h.dead(); n > 0 {
		h.t.Errorf("%d jobs are dead", n)
	}
	n := h.count("SELECT count(*) FROM contact")
	h.figure("contacts, of those answered with 201", fmt.Sprint(f.total), "%d", n)
	if n != f.total {
		h.t.Errorf("%d contacts, want %d", n, f.total)
	}
	h.once("lead.score", f.total)
	if n := h.count("SELECT count(DISTINCT args) FROM effect WHERE kind = 'lead.score'"); n != f.total {
		h.t.Errorf("%d contacts were scored, want %d", n, f.total)
	}
	h.once("webhook.deliver", f.total)
	spent := h.count("SELECT count(*) FROM effect WHERE attempt > 1")
	h.figure("jobs that spent an attempt on a fault not theirs", "0", "%d", spent)
	if spent > 0 {
		var said string
		_ = h.sql.QueryRow(h.t.Context(),
			"SELECT coalesce(string_agg(DISTINCT kind || ': ' || coalesce(failed, '?'), E'\n'), '') FROM effect "+
				"WHERE attempt > 1").Scan(&said)
		h.t.Errorf("%d jobs have spent an attempt on a fault that is not theirs:\n%s", spent, said)
	}
	keys, calls := h.receiver.called()
	h.figure("calls out: keys (at least once each)", fmt.Sprint(f.total), "%d keys in %d calls", keys, calls)
	type facts struct{ Keys, Contacts, Mixed int }
	if diff := cmp.Diff(facts{Keys: f.total, Contacts: f.total},
		facts{keys, len(h.receiver.about), len(h.receiver.mixed)}); diff != "" {
		h.t.Errorf("at the receiver (-want +got):\n%s", diff)
	}
	if n := h.count("SELECT count(*) FROM webhook_delivery WHERE status = 'delivered'"); n != f.total {
		h.t.Errorf("%d deliveries are on record, want %d", n, f.total)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wrong) > 0 {
		h.t.Errorf("%d wrong answers, such as: %v", len(f.wrong), f.wrong[:min(3, len(f.wrong))])
	}
}
