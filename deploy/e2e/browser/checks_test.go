package browser

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// faulty serves a page with a fault in its head or body, and no other.
func faulty(t *testing.T, head, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Page</title><link rel=icon href=data:,>` +
			`<meta name=viewport content="width=device-width">` + head + `<body><main id="main"><h1>Page</h1>` + body +
			`</main>`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Each check of a screen finds the fault that it is for, and nothing on a page without one.
func TestEachCheckOfAScreenCanFail(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, tc := range map[string]struct{ head, body, want string }{
		"no fault":           {"", `<p>hello</p><button>Save</button>`, ""},
		"a foreign request":  {"", `<img alt="" src="http://fonts.example/x.png">`, "requests http://fonts.example"},
		"an error":           {"", `<script>console.error("no")</script>`, "logs error"},
		"a warning":          {"", `<script>console.warn("hm")</script>`, "logs warning"},
		"an exception":       {"", `<script>throw new Error("no")</script>`, "Uncaught"},
		"a rejected promise": {"", `<script>Promise.reject(new Error("no"))</script>`, "Uncaught"},
		"a policy": {
			`<meta http-equiv=Content-Security-Policy content="script-src 'none'">`, `<script>1</script>`,
			"Content Security Policy",
		},
		"a width":    {"", `<div style="width:3000px">wide</div>`, "is wider than its window"},
		"a contrast": {"", `<p style="color:#999;background:#fff">pale</p>`, "color-contrast"},
		"a dark contrast": {
			`<style>@media (prefers-color-scheme: dark) {p {color:#222;background:#000}}</style>`, `<p>dark</p>`,
			"color-contrast",
		},
		"a field with no name":  {"", `<input>`, "label"},
		"a button with no name": {"", `<button></button>`, "button-name"},
		"small targets": {
			"<style>button {all:unset;font-size:8px;line-height:8px}</style>",
			`<button>a</button><br><button>b</button>`, "target-size",
		},
		"a wrong role": {"", `<div role="option">x</div>`, "aria-required-parent"},
	} {
		tab := b.session()
		var wrong []string
		for _, theme := range themes {
			at := faulty(t, tc.head, tc.body)
			wrong = append(wrong, b.open(tab, at, screen{"/", "#main"}, look{1280, theme}, allRules)...)
		}
		found := strings.Join(wrong, "\n")
		if (found == "") != (tc.want == "") || !strings.Contains(found, tc.want) {
			t.Errorf("%s: found %q, want %q", name, found, tc.want)
		}
	}
}

// A control that only a mouse reaches is none for the keyboard tests.
func TestAControlThatTabDoesNotReachIsSeen(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := &hand{T: t, tab: b.session()}
	body := `<button>First</button><button tabindex="-1">Second</button><a onclick="1">Third</a>`
	h.open(faulty(t, "", body)+"/", "#main")
	for name, want := range map[string]bool{"First": true, "Second": false, "Third": false} {
		if err := h.reach(name, 8); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
