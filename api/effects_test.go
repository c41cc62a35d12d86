package api_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// effects counts the events and jobs of an org and of the platform, by type and kind.
func (s *service) effects(org id.ID) map[string]int {
	s.Helper()
	rows, err := testkit.Pgx(s, s.DB.URL).Query(s.Context(), `SELECT what, count(*) FROM (
		SELECT type AS what FROM event WHERE org_id = $1 UNION ALL SELECT kind FROM job
		WHERE org_id IN ($1, $2)) both_of_them GROUP BY what`, org, id.ID{})
	if err != nil {
		s.Fatal(err)
	}
	counts := map[string]int{}
	var what string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&what, &n}, func() error {
		counts[what] = n
		return nil
	}); err != nil {
		s.Fatal(err)
	}
	return counts
}

// TestRoutesWriteWhatTheySay sends each writing route a successful request, in an otherwise idle org, and fails for
// events and jobs which the route does not declare.
func TestRoutesWriteWhatTheySay(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	made, seen := map[string]string{}, map[string]bool{}
	tail := regexp.MustCompile(`/[^/]*$`)
	tried := 0
	for _, r := range s.App.Routes() {
		if r.Method == "GET" || strings.HasPrefix(r.Path, "/api/v1/auth/") || strings.Contains(r.Path, "/test/") {
			continue
		}
		c, path := s.signup(), r.Path
		if parent, _, ok := strings.Cut(r.Path, "/{"); ok { // create the route's parent
			for _, p := range s.App.Routes() {
				if p.Method == "POST" && p.Path == parent {
					made[parent] = c.do("POST", parent, s.example(p, 3)).Header.Get("Location")
				}
			}
			if made[parent] == "" {
				continue
			}
			path = strings.Replace(r.Path, regexp.MustCompile(`^.*?\}`).FindString(r.Path), made[parent], 1)
			if strings.HasSuffix(path, "/restore") {
				c.do("DELETE", tail.ReplaceAllString(path, ""), nil)
			}
		}
		before := s.effects(c.Org)
		got := c.do(r.Method, path, s.example(r, 4))
		if got.Status >= 300 {
			continue
		}
		tried++
		for what, n := range s.effects(c.Org) {
			if n == before[what] {
				continue
			}
			seen[what] = true
			if !slices.Contains(r.Writes, what) {
				t.Errorf("%s %s writes %s and does not say so", r.Method, r.Path, what)
			}
		}
	}
	t.Logf("%d routes wrote %v", tried, slices.Sorted(maps.Keys(seen)))
	if tried < 8 {
		t.Errorf("only %d routes were tried", tried)
	}
	for _, what := range []string{"contact.created", "lead.score"} {
		if !seen[what] {
			t.Errorf("no route wrote %s", what)
		}
	}
}
