package jobscmd_test

import (
	"testing"

	"github.com/alecthomas/kong"

	"github.com/funnelwork/funnelwork/internal/queue/jobscmd"
)

func TestAReasonMayBeLeftOutButNotEmpty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want jobscmd.Reason
		ok   bool
	}{
		{nil, "", true},
		{[]string{"--reason", " mended "}, "mended", true},
		{[]string{"--reason", ""}, "", false},
		{[]string{"--reason="}, "", false},
		{[]string{"--reason", " \t"}, "", false},
	} {
		var cli struct{ Reason jobscmd.Reason }
		parser, err := kong.New(&cli)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = parser.Parse(c.args); (err == nil) != c.ok || c.ok && cli.Reason != c.want {
			t.Errorf("%q: %q, %v", c.args, cli.Reason, err)
		}
	}
}
