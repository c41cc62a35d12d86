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
