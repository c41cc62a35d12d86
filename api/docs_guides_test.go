package api_test

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guidePaths returns the path of each guide's page and its Markdown source.
func guidePaths(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("pages", "docs", "guides", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d guides: %v", len(files), err)
	}
	paths := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name == "index" {
			name = ""
		}
		paths["/docs/guides/"+name] = string(source)
	}
	return paths
}

// TestEveryGuideIsAPage compares each page with its source: the title, every heading and every line of code.
func TestEveryGuideIsAPage(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited).stranger()
	paths := guidePaths(t)
	for _, must := range []string{
		"", "import", "segments", "billing", "accounts", "white-label", "scoring", "queue",
	} {
		if _, ok := paths["/docs/guides/"+must]; !ok {
			t.Errorf("there is no guide %q", must)
		}
	}
	for path, source := range paths {
		got := s.do("GET", path, nil).want(t, 200, "")
		page := html.UnescapeString(string(got.Body))
		code := false
		for line := range strings.Lines(source) {
			line = strings.TrimRight(line, "\n")
			switch {
			case strings.HasPrefix(line, "```"):
				code = !code
			case code && !strings.Contains(page, line):
				t.Errorf("%s lacks the code %q", path, line)
			case !code && strings.HasPrefix(line, "#"):
				level, heading, _ := strings.Cut(line, " ")
				if tag := "h" + string(rune('0'+len(level))) + ">"; !strings.Contains(page, ">"+heading+"</"+tag) {
					t.Errorf("%s lacks the heading %q", path, line)
				}
			}
		}
		for _, wrong := range []string{"<!-- raw HTML", "style=", "<script"} {
			if strings.Contains(page, wrong) {
				t.Errorf("%s contains %q", path, wrong)
			}
		}
		if policy := got.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy,
			"default-src 'none'; style-src 'sha256-") || got.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, got.Header)
		}
		text := s.do("GET", path, nil, "Accept", "text/markdown").want(t, 200, "")
		if string(text.Body) != source || text.Header.Get("Content-Type") != "text/markdown; charset=utf-8" ||
			!strings.Contains(strings.Join(text.Header.Values("Vary"), ", "), "Accept,") {
			t.Errorf("%s as Markdown: %v %.80s", path, text.Header, text.Body)
		}
		s.do("HEAD", path, nil).want(t, 200, "")
		s.do("POST", path, "{}").want(t, 405, "method_not_allowed")
		s.do("GET", path+"?x=1", nil).want(t, 200, "")
	}
	s.do("GET", "/docs/guides", nil).want(t, 200, "")
	for _, path := range []string{"/docs/guides/index", "/docs/guides/import.md", "/docs/guides/other"} {
		s.do("GET", path, nil).want(t, 404, "not_found")
	}
}

// TestTheGuidesAreLinked from the reference, from the page on webhooks and from each other.
func TestTheGuidesAreLinked(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited).stranger()
	for _, path := range []string{"/docs", "/docs/webhooks", "/docs/guides/import"} {
		page := s.do("GET", path, nil).want(t, 200, "").Body
		if !bytes.Contains(page, []byte(`href="/docs/guides/"`)) {
			t.Errorf("%s has no link to the guides", path)
		}
	}
	index := s.do("GET", "/docs/guides/", nil).want(t, 200, "").Body
	for path := range guidePaths(t) {
		if path != "/docs/guides/" && !bytes.Contains(index, []byte(`href="`+path+`"`)) {
			t.Errorf("the overview has no link to %s", path)
		}
	}
}

// TestAGuideAtACustomDomainDoesNotNameThePlatform: the parts for operators, which do, are left out there.
func TestAGuideAtACustomDomainDoesNotNameThePlatform(t *testing.T) {
	t.Parallel()
	c := acme(t)
	s := c.stranger()
	for path, source := range guidePaths(t) {
		s.do("GET", path, nil, "Host", "other.test").want(t, 421, "misdirected_request")
		if path == "/docs/guides/queue" || path == "/docs/guides/parts" {
			s.do("GET", path, nil, "Host", acmeHost).want(t, 404, "not_found")
			s.do("GET", path, nil, "Host", acmeHost, "Accept", "text/markdown").want(t, 404, "not_found")
			continue
		}
		text := s.do("GET", path, nil, "Host", acmeHost, "Accept", "text/markdown").want(t, 200, "")
		if named(text.Body) || bytes.Contains(text.Body, []byte("For operators")) {
			t.Errorf("%s as Markdown names the platform: %s", path, text.Body)
		}
		got := s.do("GET", path, nil, "Host", acmeHost).want(t, 200, "")
		if named(got.Body) || !bytes.Contains(got.Body, []byte("Acme")) ||
			bytes.Contains(got.Body, []byte("For operators")) {
			t.Errorf("%s names the platform, or not the brand: %s", path, got.Body)
		}
		own := s.do("GET", path, nil).want(t, 200, "")
		if want := strings.Contains(source, "\n## For operators\n"); want !=
			bytes.Contains(own.Body, []byte("For operators</h2>")) {
			t.Errorf("%s on the platform's own host: %v", path, !want)
		}
	}
}
