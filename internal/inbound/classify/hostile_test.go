package classify_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

func TestHostileTextsCostLittle(t *testing.T) { //nolint:paralleltest // measures time
	if testing.Short() {
		t.Skip("under the race detector neither time nor memory is that of the code")
	}
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
		"25 MiB of a text": "From: a@b.example\n\n" + strings.Repeat("I am away until 3 may, delivery failed 550 5.1 ",
			(25<<20)/47),
		"25 MiB of HTML": "From: mailer-daemon@b.example\nContent-Type: text/html\n\n" +
			strings.Repeat("<p>550 5.1.1 <a@b.example> message-id: &lt;a@b&gt;", (25<<20)/50),
		"25 MiB in parts": "From: mailer-daemon@b.example\nContent-Type: multipart/report; boundary=b\n\n" +
			strings.Repeat("--b\nContent-Type: message/delivery-status\n\nStatus: 5.1.1\n\nFinal-Recipient: x;y@z\n",
				(25<<20)/81),
		"a file of 25 MiB": "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" +
			"Content-Type: application/zip; name=a.zip\nContent-Transfer-Encoding: base64\n\n" +
			strings.Repeat("UEsDBAAA", (25<<20)/8) + "\n--b--\n",
		"words in the way": "From: a@b.example\nX: y\n\n" + many("in for if i am ich bin je suis "),
	} {
		raw := []byte(mail)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		got := classify.Of(parse.Parse(raw))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		// Everything that was allocated, whether or not it was in use at the same time.
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%-22s %6d KiB, %s: %d ms, %d MiB", name, len(raw)>>10, got.Class, took.Milliseconds(), used)
		if took > 5*time.Second || used > 64 {
			t.Errorf("%s: %v, %d MiB", name, took, used)
		}
	}
}
