package classify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

func TestHostileTextsCostLittle(t *testing.T) { //nolint:paralleltest // measures time
	many := func(s string) string { return strings.Repeat(s, (1<<20)/len(s)) }
	for name, mail := range map[string]string{
		"a long subject":       "From: a@b.example\nSubject: " + strings.Repeat("re: ", 15_000) + "\n\nx",
		"a long text":          "From: a@b.example\n\n" + many("I am away until the 3rd of may, "),
		"a text of dates":      "From: a@b.example\n\n" + many("until 3 may 2030 1/2/2030 "),
		"a notice of a daemon": "From: mailer-daemon@b.example\n\n" + many("delivery failed 550 mailbox "),
		"a notice of addresses": "From: mailer-daemon@b.example\nSubject: failure notice\n\n" +
			many("a@b.example 5.1.1 "),
		"a notice of one line": "From: mailer-daemon@b.example\nSubject: failure notice\n\n" + many("a.b-c"),
		"Message-IDs": "From: mailer-daemon@b.example\nSubject: failure notice\n\n" +
			many("message-id: <a\n"),
		"words in the way": "From: a@b.example\nX: y\n\n" + many("in for if i am ich bin je suis "),
	} {
		start := time.Now()
		got := classify.Of(parse.Parse([]byte(mail)))
		took := time.Since(start)
		t.Logf("%-22s %s: %d ms", name, got.Class, took.Milliseconds())
		if took > 5*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}
