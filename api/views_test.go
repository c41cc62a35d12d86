package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/org"
)

type viewed struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// views returns the caller's views.
func (c *caller) views() []viewed {
	c.Helper()
	var l struct {
		Data []viewed `json:"data"`
	}
	c.do(http.MethodGet, "/api/v1/views?limit=200", nil).want(c, 200, "").into(c, &l)
	return l.Data
}

func TestViewsAreKeptPerUserAndOrg(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada, stranger := s.signup(), s.signup()
	bob := ada.as(auth.Viewer)
	for key, value := range map[string]string{
		"theme": `"dark"`, "contacts.saved:1": `{"filter":{"all":[]},"columns":["email",null,1.50]}`, "keys": `false`,
		"nothing": `null`,
	} {
		ada.do(http.MethodPut, "/api/v1/views/"+key, value).want(t, 200, "")
	}
	bob.do(http.MethodPut, "/api/v1/views/theme", `"light"`).want(t, 200, "")
	ada.do(http.MethodPut, "/api/v1/views/theme", `["system"]`).want(t, 200, "")
	want := []viewed{
		{
			"contacts.saved:1",
			map[string]any{"filter": map[string]any{"all": []any{}}, "columns": []any{"email", nil, 1.5}},
		},
		{"keys", false},
		{"nothing", nil},
		{"theme", []any{"system"}},
	}
	if diff := cmp.Diff(want, ada.views()); diff != "" {
		t.Errorf("views (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]viewed{{"theme", "light"}}, bob.views()); diff != "" {
		t.Errorf("another user's views (-want +got):\n%s", diff)
	}
	ada.do(http.MethodDelete, "/api/v1/views/keys", nil).want(t, 204, "")
	ada.do(http.MethodDelete, "/api/v1/views/keys", nil).want(t, 204, "")
	if n := len(ada.views()); n != 3 {
		t.Errorf("%d views after one was removed, want 3", n)
	}
	if n := len(stranger.views()); n != 0 {
		t.Errorf("another org sees %d views", n)
	}
	ada.key(auth.Owner).do(http.MethodGet, "/api/v1/views", nil).want(t, 403, "forbidden")
}

func TestAViewIsBoundedAndCheckedAsAnyJSON(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	full := `"` + strings.Repeat("x", 64<<10-2) + `"`
	ada.do(http.MethodPut, "/api/v1/views/a", full).want(t, 200, "")
	ada.do(http.MethodPut, "/api/v1/views/a", full+" ").want(t, 413, "body_too_large")
	ada.do(http.MethodPut, "/api/v1/views/a", `{"a":1,"a":2}`).want(t, 400, "duplicate_key")
	ada.do(http.MethodPut, "/api/v1/views/a", `{"a":`).want(t, 400, "malformed_json")
	ada.do(http.MethodPut, "/api/v1/views/a", `"\u0000"`).want(t, 422, "validation_failed")
	ada.do(http.MethodPut, "/api/v1/views/a", nil).want(t, 400, "malformed_json")
	ada.do(http.MethodPut, "/api/v1/views/a%20b", `1`).want(t, 400, "invalid_parameter")
	ada.do(http.MethodPut, "/api/v1/views/"+strings.Repeat("k", 101), `1`).want(t, 400, "invalid_parameter")
}

func TestAUserHasABoundedNumberOfViews(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	for n := range org.MaxViews - 3 {
		ada.do(http.MethodPut, fmt.Sprintf("/api/v1/views/k%d", n), `1`).want(t, 200, "")
	}
	var (
		added sync.WaitGroup
		mu    sync.Mutex
		made  = map[int]int{}
	)
	for n := range 12 {
		added.Go(func() {
			got := ada.do(http.MethodPut, fmt.Sprintf("/api/v1/views/more%d", n), `1`)
			mu.Lock()
			defer mu.Unlock()
			made[got.Status]++
		})
	}
	added.Wait()
	if diff := cmp.Diff(map[int]int{200: 3, 409: 9}, made); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	ada.do(http.MethodPut, "/api/v1/views/k0", `2`).want(t, 200, "") // one in place of another
	if n := len(ada.views()); n != org.MaxViews {
		t.Errorf("%d views, want %d", n, org.MaxViews)
	}
}
