package e2e_test

import (
	"strings"
	"testing"
)

// TestAGuideThatIsWrongFails runs small guides without a service, to see that the test of the guides finds each kind of
// mistake.
func TestAGuideThatIsWrongFails(t *testing.T) {
	t.Parallel()
	const right = "# A guide\n\n```sh\nn=4\n```\n\n```sh\n" +
		`echo '{"n": 4, "at": "2026-01-02T03:04:05Z", "list": [{"a": 1}, {"a": 2}]}'` + "\n" +
		"echo \"n is $n\"\n```\n\n"
	const shown = right + "```console\nn is 4\n```\n\n"
	for name, c := range map[string]struct{ guide, want string }{
		"right, a part":          {right + "```json\n{\"list\": [{\"a\": 2}]}\n```\n", ""},
		"right, another time":    {right + "```json\n{\"n\": 4, \"at\": \"2020-01-01T00:00:00Z\"}\n```\n", ""},
		"right, a line":          {right + "```console\nn is…\n```\n", ""},
		"another value":          {right + "```json\n{\"n\": 5}\n```\n", "/n is 4, and shown as 5"},
		"a member is missing":    {right + "```json\n{\"m\": 5}\n```\n", "/m is missing"},
		"no such element":        {right + "```json\n{\"list\": [{\"a\": 2}, {\"a\": 1}]}\n```\n", "no element 1"},
		"another line":           {right + "```console\nn is 5\n```\n", `no line "n is 5"`},
		"shown JSON is none":     {right + "```json\n{\n```\n", "shows no JSON"},
		"a command fails":        {right + "```sh\nfalse\ntrue\n```\n", "status 1 false"},
		"a command in a pipe":    {right + "```sh\nx=$(false | cat)\n```\n", "failed with status"},
		"a syntax error":         {right + "```sh\nif true\n```\n", "syntax error"},
		"an unknown kind":        {right + "```python\nprint(1)\n```\n", `unknown kind "python"`},
		"no kind":                {right + "```\necho\n```\n", `unknown kind ""`},
		"no fence":               {right + "    echo 1\n", "without a fence"},
		"an answer without call": {"# A guide\n\n```json\n{}\n```\n", "nothing above this block"},
		"nothing runs":           {"# A guide\n\n```sh check\ntrue\n```\n", "0 blocks were run"},
		"nothing is compared":    {right, "0 compared"},
		"an unknown flag":        {right + "```sh check\nfunnelwork jobs list --colour red\n```\n", "has no --colour"},
		"an unknown command":     {right + "```sh check\nfunnelwork jobs paint\n```\n", "funnelwork jobs paint"},
		"an unknown setting":     {shown + "Set `FUNNELWORK_COLOUR`.\n", "no setting FUNNELWORK_COLOUR"},
		"an unknown operation":   {shown + "Call `POST /api/v1/x/{id}`.\n", "no operation POST"},
		"a refused call":         {right + "```json\n{\"status\": 404}\n```\n", "no call was refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newShell(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			r := &guideRun{shell: s, program: build(t), replace: strings.NewReplacer(), patience: 1}
			err = r.run(c.guide)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
