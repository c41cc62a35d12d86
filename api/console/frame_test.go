package console

import (
	"bytes"
	"strings"
	"testing"
)

func TestThePolicyOfTheFramePermitsItsScriptAndNoRequest(t *testing.T) {
	t.Parallel()
	f := newFrame(framePage)
	_, rest, _ := bytes.Cut(framePage, []byte("<script>"))
	script, _, _ := bytes.Cut(rest, []byte("</script>"))
	if !strings.HasSuffix(f.policy, "script-src "+hashOf(string(script))) {
		t.Errorf("the policy %s does not permit the script", f.policy)
	}
	for _, directive := range strings.Split(f.policy, "; ") {
		name, value, _ := strings.Cut(directive, " ")
		for source := range strings.FieldsSeq(value) {
			if strings.Contains(source, "http") || source == "*" || source == "'self'" && name != "frame-ancestors" {
				t.Errorf("%s permits requests to %s", name, source)
			}
		}
	}
	for _, needed := range []string{
		"default-src 'none'", "base-uri 'none'", "form-action 'none'", "sandbox allow-scripts ",
	} {
		if !strings.Contains(f.policy, needed) {
			t.Errorf("the policy %s lacks %s", f.policy, needed)
		}
	}
	if strings.Contains(f.policy, "allow-same-origin") || strings.Contains(f.policy, "allow-top-navigation") {
		t.Errorf("the policy %s lets a mail out of its frame", f.policy)
	}
}

// The script has one closing tag, so that what is hashed is what the browser runs.
func TestTheFrameHasOneScript(t *testing.T) {
	t.Parallel()
	if n := bytes.Count(framePage, []byte("<script")); n != 1 {
		t.Errorf("the page has %d scripts", n)
	}
	for _, attribute := range []string{" src=", " href=", " onload=", " onerror="} {
		if bytes.Contains(framePage, []byte(attribute)) {
			t.Errorf("the page has an attribute%s", attribute)
		}
	}
}
