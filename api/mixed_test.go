package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Reads of many requests and orgs share round trips. Each must return the same result as alone.
func TestReadsOfManyClientsAtOnceAreWhatTheyAreAlone(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	type read struct {
		as   *caller
		path string
		want any
	}
	var reads []read
	for i := range 5 {
		c := s.signup()
		created := c.do("POST", "/api/v1/crm/contacts", map[string]any{
			"email": fmt.Sprintf("p%d@example.com", i), "first_name": "P", "last_name": fmt.Sprint(i),
			"tag": []string{"a", "b"}[:i%3], "attributes": map[string]any{"plan": i, "since": "2026-01-02"},
		})
		if created.Status != http.StatusCreated {
			t.Fatalf("%d %s", created.Status, created.Body)
		}
		paths := []string{
			created.Header.Get("Location"), created.Header.Get("Location") + "/score", "/billing/my-entitlements",
			"/billing/subscription",
			"/api/v1/org", "/api/v1/auth/me", "/api/v1/crm/contacts?limit=5", "/api/v1/crm/fields", "/white-label",
			"/api/v1/ai/usage",
			"/api/v1/ai/score-model",
		}
		for _, path := range paths {
			reads = append(reads, read{as: c, path: path})
		}
	}
	get := func(r read) (any, error) {
		got, err := r.as.try("GET", r.path, nil)
		if err != nil {
			return nil, err
		}
		if got.Status != http.StatusOK {
			return nil, fmt.Errorf("%d %s", got.Status, got.Body)
		}
		var v any
		return v, json.Unmarshal(got.Body, &v)
	}
	for i := range reads {
		var err error
		if reads[i].want, err = get(reads[i]); err != nil {
			t.Fatalf("%s: %v", reads[i].path, err)
		}
	}
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	var clients sync.WaitGroup
	for n := range 40 {
		clients.Go(func() {
			for i := range rounds {
				r := reads[(n*7+i*3)%len(reads)]
				got, err := get(r)
				if err != nil {
					t.Errorf("%s: %v", r.path, err)
					continue
				}
				if diff := cmp.Diff(r.want, got); diff != "" {
					t.Errorf("%s: alone, among others:\n%s", r.path, diff)
				}
			}
		})
	}
	clients.Wait()
}
