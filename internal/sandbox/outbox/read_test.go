package outbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheSubjectOfAMailIsDecoded(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Subject: Your plan\r\n\r\nHello":                            "Your plan",
		"Subject: =?UTF-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\n":               "Grüße",
		"Subject: =?UTF-8?B?R3LDvMOf?=\r\n =?UTF-8?B?ZQ==?=\r\n\r\n": "Grüße",
		"Subject: =?nonsense?q?x?=\r\n\r\n":                          "=?nonsense?q?x?=",
		"To: a@b.example\r\n\r\n":                                    "",
		"not a mail":                                                 "",
	} {
		if got := subjectOf([]byte(raw)); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func TestTheLinksOfAMailAreListedOnce(t *testing.T) {
	t.Parallel()
	got := linksOf(`<p><a href="https://a.example/?x=1&amp;y=2">A</a> <a href="https://b.example">B</a>` +
		`<area href="https://b.example"><a>none</a><a href="">empty</a><a href='mailto:a@b.example'`)
	if diff := cmp.Diff([]string{"https://a.example/?x=1&y=2", "https://b.example"}, got); diff != "" {
		t.Error(diff)
	}
}
