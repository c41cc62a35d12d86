package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// nested returns a mail whose text lies within the given number of multiparts.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	b.WriteString("\ninnermost\n")
	return b.String()
}

func TestPartsBeyondTheLimitsAreIgnoredAndTheMailSaysSo(t *testing.T) {
	t.Parallel()
	parts := func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\ninnermost\n", n) + "--b--\n"
	}
	for name, c := range map[string]struct {
		mail string
		read int
		cut  bool
	}{
		"12 levels":  {nested(12), 1, false},
		"13 levels":  {nested(13), 0, true},
		"199 parts":  {parts(199), 199, false}, // the mail itself is one, too
		"200 parts":  {parts(200), 199, true},
		"5000 parts": {parts(5000), 199, true},
		"25 MiB": {
			"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/zip\n\n" +
				strings.Repeat(strings.Repeat("x", 1023)+"\n", parse.MaxBytes>>10) + "--b\n\ninnermost\n--b--\n",
			0, true,
		},
		"500 fields": {strings.Repeat("A: b\n", 500) + "\ninnermost", 1, false},
	} {
		m := parse.Parse([]byte(c.mail))
		if n := strings.Count(m.Text, "innermost"); n != c.read || m.Cut != c.cut {
			t.Errorf("%s: %d texts are read, cut %t; want %d, %t", name, n, m.Cut, c.read, c.cut)
		}
	}
}

func TestALineThatContinuesADroppedFieldIsDroppedWithIt(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("v", 60<<10), strings.Repeat("X: 1\r\n", 499)
	for name, c := range map[string]struct{ header, field, want string }{
		"a line that is no field":     {"Subject: Hi\r\nno field\r\n dropped\r\n", "Subject", "Hi"},
		"a name with a space":         {"Subject: Hi\r\nX Y: 1\r\n\tdropped\r\nTo: a@b\r\n", "Subject", "Hi"},
		"the field after 500 others":  {many + "Subject: Hi\r\nY: 2\r\n z\r\n", "Subject", "Hi"},
		"a line that makes it large":  {"X: " + long + "\r\n " + long + "\r\n end\r\n", "X", long},
		"a field that is not dropped": {"Subject: Hi\r\n there\r\n", "Subject", "Hi there"},
	} {
		if got := parse.Parse([]byte(c.header + "\r\nText")).Header.Get(c.field); got != c.want {
			t.Errorf("%s: %d bytes %.40q, want %.40q", name, len(got), got, c.want)
		}
	}
}
