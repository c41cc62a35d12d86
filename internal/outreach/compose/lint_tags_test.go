package compose_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

func TestMergeTagsOfOtherProductsAreFound(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{
		"*|FNAME|*", "*|MC:SUBJECT|*", "%%first_name%%", "%%First Name%%", "{!Contact.FirstName}", "{$name}",
		"{$name|default('friend')}", "[[firstname]]", "[[data:firstname:\"\"]]", "~Contact.FirstName~",
		"<<First Name>>",
		"«First_Name»", "${first_name}", "##firstname##", "#{first_name}", "%FIRSTNAME%", "%recipient.name%",
		"-FIRST_NAME-", "{first_name}", "{FirstName}", "{company}", "{unsubscribe_link}", "[First Name]", "[COMPANY]",
		"[firstname,fallback=friend]", "[unsubscribe]",
	} {
		if tag == "[[data:firstname:\"\"]]" {
			continue // quotes end the text of this test's HTML
		}
		for member, s := range map[string]compose.Source{
			"/subject": {Subject: "Hi " + tag, Text: "x"},
			"/text":    {Subject: "Hi", Text: "Hi " + tag + ", hello"},
			"/html": {Subject: "Hi", HTML: "<p>Hi " + strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(tag) +
				", hello</p>"},
		} {
			if got := foreign(t, s); got != member {
				t.Errorf("%s in %s: found in %q", tag, member, got)
			}
		}
	}
	for _, text := range []string{
		"Hi {{ contact.first_name }}", "Hi {{contact.first_name | default: 'you'}}", "Save 20% now, 30% in May",
		"100%NATURAL", "a - b - c", "[see below]", "[1]", "{a} or {b}", "C# and F#", "5 << 6 >> 2", "~ about ~",
		"« Bonjour Madame »", "$100 {per month}", "#{1}", "e-mail [at] example", "%20A%20B",
	} {
		if got := foreign(t, compose.Source{Subject: "Hi", Text: text}); got != "" {
			t.Errorf("%q: found in %q", text, got)
		}
	}
}

// foreign returns the pointers of the findings of foreign merge tags.
func foreign(t *testing.T, s compose.Source) string {
	t.Helper()
	parsed := parse(t, s)
	r, err := parsed.Render(values(), "")
	if err != nil {
		t.Fatal(err)
	}
	var at []string
	for _, f := range parsed.Lint(r, compose.Audience{Known: func(string) bool { return true }}) {
		if f.Code == "foreign_merge_tag" {
			at = append(at, f.Pointer)
		}
	}
	return strings.Join(at, " ")
}

func TestLinksOfProgramsStayAndThoseThatCannotStayAreSaid(t *testing.T) {
	t.Parallel()
	for href, want := range map[string]string{
		"sms:+491701234567?body=Hi": "", "webcal://cal.example/a.ics": "", "whatsapp://send?phone=49170": "",
		"geo:52.5,13.4": "", "tel:+49301234": "", "https://a.example/": "", "mailto:a@b.example": "", "#top": "",
		"javascript:alert(1)": "link_removed", "data:text/html,x": "link_removed", "file:///etc/passwd": "link_removed",
		"foo:bar": "link_removed",
	} {
		parsed := parse(t, compose.Source{Subject: "Hi", HTML: `<p><a href="` + href + `">here</a></p>`})
		r, err := parsed.Render(values(), "")
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Contains(r.HTML, `href="`+href+`"`); kept != (want == "") {
			t.Errorf("%s: kept %v in %s", href, kept, r.HTML)
		}
		got := ""
		for _, f := range parsed.Lint(r, compose.Audience{Known: func(string) bool { return true }}) {
			if f.Code == "link_removed" {
				got = f.Code
			}
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", href, got, want)
		}
	}
}
