package compose_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

func TestLintFindsLinksAndSubjectsThatFiltersDistrust(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		`<a href="https://a.example/x">a.example/x</a>`:                "",
		`<a href="https://a.example/x">https://www.a.example</a>`:      "",
		`<a href="https://shop.a.example/x">a.example</a>`:             "",
		`<a href="https://a.example/x">our looms</a>`:                  "",
		`<a href="mailto:ada@b.example">a.example</a>`:                 "",
		`<a href="{{ unsubscribe_url }}">no more mails</a>`:            "",
		`<a href="https://b.example/a.example">a.example</a>`:          "link_differs",
		`<a href="https://b.example/">HTTPS://A.Example/login</a>`:     "link_differs",
		`<a href="https://nota.example/">a.example</a>`:                "link_differs",
		`<a href="https://192.0.2.7/x">here</a>`:                       "link_numeric",
		`<a href="https://[2001:db8::1]/x">here</a>`:                   "link_numeric",
		`<a href="https://bit.ly/abc">here</a>`:                        "link_shortened",
		`<a href="https://www.TinyURL.com/abc">here</a>`:               "link_shortened",
		`<a href="http://a.example/">here</a>`:                         "link_unencrypted",
		`<a href="http://a.example/">b</a><a href="//c.example">c</a>`: "link_unencrypted",
	} {
		if got := distrusted(t, "Looms", html); got != want {
			t.Errorf("%s: got %q, want %q", html, got, want)
		}
	}
	for subject, want := range map[string]string{
		"New looms": "", "NEW looms!": "", "RE: BMW i3": "", "ÜBER": "", "CRM 2026": "",
		"ACT NOW, FRIENDS": "subject_shouts", "Buy!!": "subject_shouts", "ÄÖÜÄÖÜÄÖÜ": "subject_shouts",
	} {
		if got := distrusted(t, subject, `<p>x</p>`); got != want {
			t.Errorf("%s: got %q, want %q", subject, got, want)
		}
	}
}

// distrusted returns the codes of the findings that are about links and about how a subject is written.
func distrusted(t *testing.T, subject, html string) string {
	t.Helper()
	parsed := parse(t, compose.Source{Subject: subject, HTML: html})
	r, err := parsed.Render(values(), "")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, f := range parsed.Lint(r, compose.Audience{Known: func(string) bool { return true }}) {
		if strings.HasPrefix(f.Code, "link_") || f.Code == "subject_shouts" {
			codes = append(codes, f.Code)
		}
	}
	return strings.Join(codes, " ")
}
