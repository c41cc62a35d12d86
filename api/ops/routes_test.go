package ops_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTheREADMEListsEveryJSONRoute(t *testing.T) {
	t.Parallel()
	listener := newOps(t, func(o *ops.Options) {
		kit := testkit.DB(t)
		o.DB, o.System, o.DatabaseURL, o.Worker = kit.App, kit.System, kit.URL, &slots{n: 1}
		withOrgs(o)
	})
	var want []string
	for _, pattern := range listener.JSONRoutes() {
		want = append(want, strings.TrimSuffix(pattern, "{$}"))
	}
	if len(want) < 20 {
		t.Fatalf("the listener has only %d routes: %v", len(want), want)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "deploy", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	listed := regexp.MustCompile(`(?m)^    ((?:GET|POST|PUT|DELETE) /\S+)$`)
	for _, m := range listed.FindAllStringSubmatch(string(readme), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deploy/README.md (-routes +list):\n%s", diff)
	}
	page := asked(t, listener, "GET", "/").Body.String()
	for _, pattern := range listener.JSONRoutes() {
		if !strings.Contains(page, "<code>"+pattern+"</code>") {
			t.Errorf("/ does not list %s", pattern)
		}
	}
}
