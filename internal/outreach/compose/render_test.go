package compose_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

var update = flag.Bool("update", false, "write the golden files anew")

func values() *compose.Values {
	return &compose.Values{
		Contact: map[string]any{
			"first_name": "Ana", "last_name": "", "email": "ana@example.com",
			"attributes": map[string]any{"plan": "pro & more", "site": "https://example.com/?a=1&b=2"},
		},
		Company: map[string]any{"name": "Acme <Ltd>"}, Sender: "Bo", Org: "Funnel & Co",
		UnsubscribeURL: "https://mail.example.com/t/u/abc", PreferencesURL: "https://mail.example.com/t/u/abc?p=1",
	}
}

func parse(t *testing.T, s compose.Source) *compose.Template {
	t.Helper()
	parsed, err := compose.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

const styled = `<html lang="en"><head><title>old</title><style>
@import url(https://evil.example/x.css);
/* the look */ p, .lead { color: #333; margin: 0 0 1em }
p.lead { color: red !important; font-size: 18px }
#top > td { padding: 4px; background: url(javascript:x) }
a:hover { color: blue }
@media (max-width: 600px) { .lead { font-size: 22px } }
@font-face { font-family: x; src: url(https://x.example/x.woff) }
</style></head><body bgcolor="#fafafa" style="margin:0" onload="x()">
<table><tr id="top"><td>Hi {{ contact.first_name }} of {{ company.name }},</td></tr></table>
<p class="lead" style="color: green; font-size: 12px">Your plan is <b>{{ contact.attributes.plan }}</b>.</p>
<p style="behavior:url(x.htc);width:expression(alert(1));position:fixed">See
<a href="{{ contact.attributes.site }}">this page</a> or <a href="javascript:alert(1)">that</a>.</p>
<script>alert(1)</script><form action="/x"><input name="a"></form><img src="https://example.com/a.png" alt="A chart">
<ul><li>one</li><li>two <ol><li>deep</li></ol></li></ul><hr><blockquote>quoted<br>twice</blockquote>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></body></html>`

// sources are the mails of the golden files.
var sources = map[string]compose.Source{
	"html": {Subject: "Hi {{ contact.first_name }}, {{ company.name }}", HTML: styled},
	"text": {
		Subject: "Plan {{ contact.attributes.plan }}",
		Text:    "Hi {{ contact.first_name }},\n\nsee https://example.com/a?b=1&c=2.\nBye <b>\n\n{{ sender.name }}",
	},
	"both": {Subject: "s", HTML: "<p>Hi {{ contact.last_name | default: 'there' }}", Text: "Hello {{ org.name }}\n"},
	"blocks": {Subject: "Blocks", Blocks: []compose.Block{
		{Type: "text", HTML: "<h1>Hi {{ contact.first_name }}</h1>", Align: "center", Background: "#eeeeee"},
		{Type: "text", Text: "One <b>\ntwo {{ contact.nick | default: \"a\n\nb\" }}\n\nthree"},
		{
			Type: "image", Src: "https://example.com/i.png?a=1&b=2", Alt: "Picture of {{ org.name }}",
			Width: 300, URL: "https://example.com/",
		},
		{Type: "columns", Columns: []compose.Column{
			{Width: 40, Blocks: []compose.Block{{Type: "text", Text: "Left"}}},
			{Width: 60, Blocks: []compose.Block{{
				Type: "button", Text: "Go {{ contact.first_name }}",
				URL: "https://example.com/?p={{ contact.attributes.plan }}&x=1",
			}}},
		}},
		{Type: "divider"},
		{Type: "footer", HTML: `{{ org.name }} · <a href="{{ unsubscribe_url }}">Unsubscribe</a>`},
	}},
}

const signature = `<p>Bo Smith<br><a href="https://acme.example">acme.example</a></p><script>x</script>`

func TestRenderingsAreAsReviewed(t *testing.T) {
	for name, source := range sources {
		parsed := parse(t, source)
		r, err := parsed.Render(values(), signature)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		links, _ := json.MarshalIndent(r.Links, "", " ")
		got := "subject: " + r.Subject + "\n\n== html\n" + r.HTML + "\n== text\n" + r.Text +
			"\n== links\n" + string(links) + "\n"
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
			t.Errorf("%s differs from %s (review, then -update): %v\n%s", name, golden, err, diff)
		}
		for range 5 {
			again, err := parse(t, source).Render(values(), signature)
			if err != nil || again.HTML != r.HTML || again.Text != r.Text || again.Subject != r.Subject {
				t.Fatalf("%s renders differently the second time: %v", name, err)
			}
		}
	}
}

func TestAMissingValueNamesItsFieldAndPlace(t *testing.T) {
	for want, source := range map[string]compose.Source{
		"/subject contact.nick":   {Subject: "{{ contact.nick }}", Text: "x"},
		"/html contact.nick":      {Subject: "s", HTML: "\n{{ contact.nick }}"},
		"/text contact.nick":      {Subject: "s", Text: "{{ contact.nick | upcase }}"},
		"/text contact.last_name": {Subject: "s", Text: "{{ contact.last_name }}"},
		"/blocks/1/url contact.nick": {Blocks: []compose.Block{
			{Type: "text", Text: "a\nb"},
			{Type: "button", Text: "x", URL: "https://example.com/?a&b={{ contact.nick }}"},
		}},
		"/blocks/0/columns/1/blocks/0/text contact.attributes.size": {Blocks: []compose.Block{{
			Type: "columns", Columns: []compose.Column{
				{Blocks: []compose.Block{{Type: "text", Text: "x\n{{ org.name }}"}}},
				{Blocks: []compose.Block{{Type: "text", Text: "é & {{ contact.attributes.size }}"}}},
			},
		}}},
	} {
		_, err := parse(t, source).Render(values(), "")
		missing, ok := errors.AsType[*compose.MissingError](err)
		if !ok || missing.Pointer+" "+missing.Field != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSourcesThatCannotWorkAreRefusedWithTheirPlace(t *testing.T) {
	deep := compose.Block{Type: "columns", Columns: []compose.Column{{Blocks: []compose.Block{{Type: "columns"}}}, {}}}
	many := make([]compose.Block, 201)
	for i := range many {
		many[i].Type = "divider"
	}
	for want, source := range map[string]compose.Source{
		"/html":          {Subject: "x"},
		"/subject":       {Subject: "{{ x", Text: "x"},
		"/text":          {Text: "{% if %}"},
		"/blocks":        {HTML: "x", Blocks: []compose.Block{{Type: "divider"}}},
		"/blocks/0/type": {Blocks: []compose.Block{{Type: "video"}}},
		"/blocks/0/html": {Blocks: []compose.Block{
			{Type: "text", HTML: "{% if a %}"},
			{Type: "text", HTML: "{% endif %}"},
		}},
		"/blocks/0":                         {Blocks: []compose.Block{{Type: "button", Text: "x"}}},
		"/blocks/0/columns/0/blocks/0/type": {Blocks: []compose.Block{deep}},
		"/blocks/200":                       {Blocks: many},
	} {
		_, err := compose.Parse(source)
		if got, ok := errors.AsType[*compose.SourceError](err); !ok || got.Pointer != want {
			t.Errorf("got %v, want the pointer %s", err, want)
		}
	}
	loop := strings.Repeat("{% for a in contact.attributes.many %}", 3) + "x" + strings.Repeat("{% endfor %}", 3)
	v := values()
	v.Contact["attributes"] = map[string]any{"many": make([]any, 900)}
	_, err := parse(t, compose.Source{Blocks: []compose.Block{{Type: "text", HTML: loop}}}).Render(v, "")
	if !errors.Is(err, liquid.ErrFuel) {
		t.Errorf("an endless loop: %v", err)
	}
}

func TestLintFindsWhatIsLikelyToGoWrong(t *testing.T) {
	known := func(field string) bool {
		return field == "contact.first_name" || field == "contact.last_name" || field == "unsubscribe_url"
	}
	for name, c := range map[string]struct {
		source compose.Source
		want   string
	}{
		"nothing": {compose.Source{
			Subject: "s", Text: "t",
			HTML: `<p>Hi <a href="{{ unsubscribe_url }}">x</a></p>`,
		}, ""},
		"unknown, fallback": {compose.Source{
			Subject: "{{ contact.frist_name | default: 'x' }}",
			Text:    "{{ contact.first_name }} {{ contact.last_name | default: '' }}",
		}, "unknown_field /subject, fallback_missing /text 7, unsubscribe_missing /text"},
		"long": {
			compose.Source{Subject: strings.Repeat("é", 151), HTML: strings.Repeat("<p>words</p>", 9000) +
				"{{ unsubscribe_url }}"},
			"text_missing /text, subject_too_long /subject, too_large /html",
		},
		"picture": {
			compose.Source{HTML: `<img src="https://x.example/a.png">` +
				`<a href="https://x.example/?a=1&amp;amp;b=2">x</a>` +
				`{{ unsubscribe_url }}<script></script>`},
			"text_missing /text, subject_missing /subject, escaped_ampersand /html, image_only /html, " +
				"markup_removed /html",
		},
	} {
		parsed := parse(t, c.source)
		r, err := parsed.Render(values(), "")
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, f := range parsed.Lint(r, compose.Audience{
			Known:   known,
			Lacking: map[string]int{"contact.first_name": 7},
		}) {
			code := f.Code + " " + f.Pointer
			if f.Count != nil {
				code += " 7"
			}
			codes = append(codes, code)
		}
		if got := strings.Join(codes, ", "); got != c.want {
			t.Errorf("%s: got %s\nwant %s", name, got, c.want)
		}
	}
}

// markup returns the tags of a document with the names of their attributes, and the schemes of links.
func markup(document string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(document)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		token := z.Token()
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		b.WriteString(token.Data)
		for _, a := range token.Attr {
			b.WriteString(" " + a.Key)
			lowered := strings.ToLower(strings.TrimSpace(a.Val))
			isScript := strings.HasPrefix(lowered, "javascript:") || strings.HasPrefix(lowered, "data:")
			if isScript && (a.Key == "href" || a.Key == "src") || strings.HasPrefix(a.Key, "on") {
				b.WriteString("=SCRIPT")
			}
		}
		b.WriteByte('\n')
	}
}

func isVisible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

func FuzzNoContactFieldAddsMarkupOrHeaders(f *testing.F) {
	for _, s := range []string{
		"x", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a\r\nBcc: evil@example.com",
		"{{ org.name }}",
		"javascript:alert(1)", "&lt;b&gt;", "</title><script>", "</style><b>", "]]>", "<!--", "-->",
		"=?utf-8?q?=0D=0ABcc:_x?=",
		"https://example.com/\"onclick=x", "a\x00b", "\u2028", strings.Repeat("<b>", 100),
	} {
		f.Add(s)
	}
	place := "{{ contact.v | default: 'x' }}"
	sources := []compose.Source{
		{Subject: place, HTML: "<style>p{color:red}</style><p title=\"" + place + "\" style=\"color:" + place +
			"\">" + place +
			"</p><a href=\"https://example.com/?a=" + place + "\">" + place + "</a><img alt=" + place +
			" src=\"https://x.example/a\">"},
		{Subject: place, Text: "Hi " + place + "\n\n" + place},
		{Subject: place, Blocks: []compose.Block{
			{Type: "text", Text: place},
			{Type: "button", Text: place, URL: "https://x.example/" + place},
			{Type: "image", Src: "https://x.example/a", Alt: place},
		}},
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 || strings.Contains(s, "http") {
			return // the text part makes links of web addresses, which is meant
		}
		if !strings.ContainsFunc(strings.ToValidUTF8(s, ""), isVisible) {
			return // a paragraph without visible text is left out
		}
		for _, source := range sources {
			parsed := parse(t, source)
			calm, err := parsed.Render(&compose.Values{Contact: map[string]any{"v": "x"}}, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := parsed.Render(&compose.Values{Contact: map[string]any{"v": s}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if want, have := markup(calm.HTML), markup(got.HTML); want != have && !strings.Contains(s, "\n\n") {
				t.Errorf("%q gives\n%s\nwant\n%s\n%s", s, have, want, got.HTML)
			}
			if strings.ContainsAny(got.Subject, "\r\n") {
				t.Errorf("%q gives the subject %q", s, got.Subject)
			}
			m := sample()
			m.Subject, m.HTML, m.Text, m.To.Name = got.Subject, got.HTML, got.Text, s
			if envelope := read(t, m); len(envelope.GetHeaderKeys()) != 7 {
				t.Errorf("%q gives the headers %v", s, envelope.GetHeaderKeys())
			}
		}
	})
}
