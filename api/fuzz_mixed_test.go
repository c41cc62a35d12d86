package api_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api"
)

var mixed = flag.Int("mixed", 6000, "requests of many clients at once over all routes")

// TestNoMixOfClientsMakesUsFail lets 64 clients of eight orgs call random routes with valid and malformed requests. No
// response may be a 5xx, and the harness validates each against the API document. A client's number is its random seed.
func TestNoMixOfClientsMakesUsFail(t *testing.T) {
	t.Parallel()
	const orgs, clients = 8, 64
	requests := *mixed
	if testing.Short() {
		requests = min(requests, 1500)
	}
	s := start(t, unlimited)
	if _, err := s.sync().Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	routes := slices.DeleteFunc(s.App.Routes(), endsCaller)
	var callers [orgs]*caller
	var ids [orgs]*known
	for i := range callers {
		callers[i] = s.signup()
		if i < 2 {
			s.furnish(callers[i])
		}
		ids[i] = &known{
			any: append(s.harvest(callers[i].Org), "00000000-0000-7000-8000-000000000000"),
			of:  map[string][]string{},
		}
	}
	statuses := make([]map[int]int, clients)
	began := time.Now()
	var asking sync.WaitGroup
	for n := range clients {
		asking.Go(func() {
			seen := map[int]int{}
			statuses[n] = seen
			who := callers[n%orgs]
			r := rand.New(rand.NewPCG(64, uint64(n)))
			for range requests / clients {
				route := routes[r.IntN(len(routes))]
				path, body := s.anyRequest(route, ids[n%orgs], r)
				got, err := who.try(route.Method, path, body)
				if err != nil {
					t.Errorf("%s %s: %v", route.Method, path, err)
					continue
				}
				ids[n%orgs].note(got.Header.Get("Location"))
				if seen[got.Status]++; got.Status >= 500 {
					t.Errorf("%s %s: %d %s\n%s", route.Method, path, got.Status, got.Body, clip(body))
				}
			}
		})
	}
	asking.Wait()
	all := map[int]int{}
	total := 0
	for _, one := range statuses {
		for status, n := range one {
			all[status] += n
			total += n
		}
	}
	var counts []string
	for _, status := range slices.Sorted(maps.Keys(all)) {
		counts = append(counts, fmt.Sprintf("%d: %d", status, all[status]))
	}
	t.Logf("%d requests in %s: %s", total, time.Since(began).Round(time.Second), strings.Join(counts, ", "))
	if good := all[200] + all[201] + all[202] + all[204]; good < total/10 {
		t.Errorf("only %d of %d requests went well", good, total)
	}
}

// endsCaller reports whether a route may end the caller's own login or rights.
func endsCaller(r api.Route) bool {
	switch {
	case strings.HasPrefix(r.Path, "/api/v1/auth/") && (r.Role != "" || r.Path == "/api/v1/auth/signup"):
		return true // signup hashes a password, which would dominate the run
	case strings.HasPrefix(r.Path, "/api/v1/members/"):
		return r.Method != "GET"
	}
	return false
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// anyRequest returns a request to the route, malformed one time in three.
func (s *service) anyRequest(route api.Route, ids *known, r *rand.Rand) (path string, body any) {
	spoiled := r.IntN(3) == 0
	path = route.Path
	for {
		at := placeholder.FindStringIndex(path)
		if at == nil {
			break
		}
		path = path[:at[0]] + ids.pick(path[:at[0]], r) + path[at[1]:]
	}
	if spoiled && r.IntN(2) == 0 {
		path += "?" + s.spoiledQuery(route, r)
	}
	if spoiled {
		return path, s.spoiledBody(route, r.IntN(10), r)
	}
	return path, s.example(route, r.IntN(1_000_000))
}

// known are the ids of an org's rows. It is safe for concurrent use.
type known struct {
	any []string
	mu  sync.Mutex
	of  map[string][]string // newest ids of each list, by path with trailing slash
}

// note stores the id at the end of a Location.
func (k *known) note(location string) {
	cut := strings.LastIndexByte(location, '/') + 1
	if cut == 0 || cut == len(location) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := location[:cut]
	k.of[of] = append(k.of[of], location[cut:])
	k.of[of] = k.of[of][max(0, len(k.of[of])-50):]
}

// pick returns mostly an id of the list, otherwise any id.
func (k *known) pick(list string, r *rand.Rand) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if newest := k.of[list]; len(newest) > 0 && r.IntN(8) > 0 {
		return newest[r.IntN(len(newest))]
	}
	return k.any[r.IntN(len(k.any))]
}
