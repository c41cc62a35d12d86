package api_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// ownLoad finds a file that a page loads from its own host.
var ownLoad = regexp.MustCompile(`<(?:script|img|link)\b[^>]*\b(?:src|href)="(/[^/"][^"]*)"`)

// The API's pages and each file that they load.
func TestThePagesLoadNothingFromAnotherHost(t *testing.T) {
	t.Parallel()
	c := acme(t).stranger()
	paths := []string{"/docs", "/docs/webhooks", "/login"}
	for i := 0; i < len(paths); i++ {
		got := c.do("GET", paths[i], nil)
		got.want(t, 200, "")
		if kind := got.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/javascript") {
			continue // a library's error messages have links
		}
		if found := testkit.ForeignLoads(string(got.Body)); found != nil {
			t.Errorf("%s loads %q", paths[i], found)
		}
		for _, file := range ownLoad.FindAllStringSubmatch(string(got.Body), -1) {
			if !slices.Contains(paths, file[1]) {
				paths = append(paths, file[1])
			}
		}
		for part := range strings.SplitSeq(got.Header.Get("Content-Security-Policy"), ";") {
			name, sources, _ := strings.Cut(strings.TrimSpace(part), " ")
			if strings.Contains(sources, "//") || strings.Contains(sources, "*") {
				t.Errorf("%s: the policy has %s %s", paths[i], name, sources)
			}
		}
		if got.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s has no policy", paths[i])
		}
	}
	if len(paths) < 7 {
		t.Errorf("found only %q", paths)
	}
}
