package liquid_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
	"golang.org/x/net/html"
)

func TestAValueIsEscapedForItsPlace(t *testing.T) {
	for _, c := range []struct{ source, value, want string }{
		{`<p>{{ v }}</p>`, `<b>"R&D"</b>`, `<p>&lt;b&gt;&#34;R&amp;D&#34;&lt;/b&gt;</p>`},
		{`<p title="{{ v }}">`, `" onclick="x`, `<p title="&#34; onclick=&#34;x">`},
		{`<p title='{{ v }}'>`, `' onclick='x`, `<p title='&#39; onclick=&#39;x'>`},
		{`<p title={{ v }}>`, "a onclick=b`", `<p title=a&#32;onclick&#61;b&#96;>`},
		{`<p title={{ v }} id=x>`, "\x01", `<p title="" id=x>`},
		{`<a href="{{ v }}">`, "javascript:alert(1)", `<a href="#">`},
		{`<a href="{{ v }}">`, " \n JaVa\tScript:alert(1)", `<a href="#">`},
		{`<a href="{{ v }}">`, "data:text/html,x", `<a href="#">`},
		{`<a href="{{ v }}">`, "https://a.b/c?d=e&f=g h", `<a href="https://a.b/c?d=e&amp;f=g%20h">`},
		{`<a href={{ v }}>`, "https://a.b/ x=y", `<a href=https://a.b/%20x&#61;y>`},
		{`<a href="{{ v }}">`, "/path", `<a href="/path">`},
		{`<a href="{{ v }}:alert(1)">`, "javascript", `<a href="./javascript:alert(1)">`},
		{`<a href="{{ v }}://a.b">`, "https", `<a href="https://a.b">`},
		{`<a href="java{{ v }}">`, "script:alert(1)", `<a href="java#">`},
		{`<a href="https://a.b/?q={{ v }}">`, "x&y=z#é", `<a href="https://a.b/?q=x%26y%3Dz%23%C3%A9">`},
		{`<a href="https://a.b/?q={{ v | url_encode }}">`, "x &y", `<a href="https://a.b/?q=x+%26y">`},
		{`<a href="https://a.b/{{ v }}">`, `c d"e`, `<a href="https://a.b/c%20d%22e">`},
		{`<a href="mailto:{{ v }}">`, "a@b.c?bcc=d@e.f", `<a href="mailto:a@b.c%3Fbcc%3Dd@e.f">`},
		{`<p style="color: {{ v }}">`, `red; x: url("y")`, `<p style="color: red x urly">`},
		{`<p onclick="{{ v }}">`, "alert(1)", `<p onclick="">`},
		{`<{{ v }}>`, "script", `<>`},
		{`<p {{ v }}>`, "onclick=x", `<p >`},
		{`<!-- {{ v }} -->`, "--><script>", `<!-- &#45;&#45;&gt;&lt;script&gt; -->`},
		{
			`<style>p { color: {{ v }} }</style>{{ v }}`, "a</style><b>",
			`<style>p { color: astyleb }</style>a&lt;/style&gt;&lt;b&gt;`,
		},
		{`<script>x = "{{ v }}"</script>{{ v }}`, `"`, `<script>x = ""</script>&#34;`},
		{`<title>{{ v }}</title>`, "</title><b>", `<title>&lt;/title&gt;&lt;b&gt;</title>`},
		{`a <b>{{ v }}`, "x\x00\x07\u0085\xffy\tz\r\nw", "a <b>xy\tz\nw"},
		{`<p title="a>b">{{ v }}`, "'", `<p title="a>b">&#39;`},
		{`1 < 2 {{ v }}`, "<", `1 < 2 &lt;`},
	} {
		got, err := render(t, liquid.HTML, c.source, map[string]any{"v": c.value})
		if err != nil || got != c.want {
			t.Errorf("%s of %q\n got %s, %v\nwant %s", c.source, c.value, got, err, c.want)
		}
	}
	for _, c := range []struct {
		as           liquid.Escape
		source, want string
	}{
		{liquid.Header, "Re:\r\n {{ v }}!", "Re: a Bcc: b <c>!"},
		{liquid.Text, "{{ v }}", "a \nBcc: b <c>"},
		{liquid.URL, "https://x/?{{ v }}", "https://x/?a%20%0ABcc%3A%20b%20%3Cc%3E"},
	} {
		got, err := render(t, c.as, c.source, map[string]any{"v": "a \r\nBcc: b\u2028<c>"})
		want := c.want
		if c.as != liquid.Header {
			want = strings.Replace(want, "b ", "b\u2028", 1)
			want = strings.Replace(want, "b%20", "b%E2%80%A8", 1)
		}
		if err != nil || got != want {
			t.Errorf("%s as %d\n got %q, %v\nwant %q", c.source, c.as, got, err, want)
		}
	}
	markup := map[string]any{"v": liquid.Markup("<b>x</b>")}
	got, err := render(t, liquid.HTML, `<p>{{ v }}</p><i title="{{ v }}">`, markup)
	if want := `<p><b>x</b></p><i title="&lt;b&gt;x&lt;/b&gt;">`; err != nil || got != want {
		t.Errorf("Markup: got %s, %v, want %s", got, err, want)
	}
}

// skeleton returns what of the markup a value must not change: the tokens, the names of tags and attributes, and the
// schemes of links.
func skeleton(document string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(document)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		token := z.Token()
		if kind == html.TextToken {
			continue
		}
		b.WriteString(kind.String())
		if kind != html.CommentToken && kind != html.DoctypeToken {
			b.WriteString(" " + token.Data)
		}
		for _, a := range token.Attr {
			b.WriteString(" " + a.Key)
			link := strings.ToLower(strings.Map(func(r rune) rune {
				if unicode.IsControl(r) || unicode.IsSpace(r) {
					return -1
				}
				return r
			}, a.Val))
			if (a.Key == "href" || a.Key == "src") && (strings.HasPrefix(link, "javascript:") ||
				strings.HasPrefix(link, "data:") || strings.HasPrefix(link, "vbscript:")) {
				b.WriteString("=SCRIPT")
			}
		}
		b.WriteByte('\n')
	}
}

// places are templates with a value in every place that a document has.
var places = []string{
	`<p>{{ v }}</p>`, `<p title="{{ v }}" id='{{ v }}' lang={{ v }} class = {{ v }}>x</p>`,
	`<a href="{{ v }}" title=x>{{ v }}</a><img src='{{ v }}' alt={{ v }}>`, `<a href={{ v }} id=a>x</a>`,
	`<a href="{{ v }}{{ v }}">x</a>`, `<a href="{{ v }}:{{ v }}">x</a>`, `<a href="http{{ v }}">x</a>`,
	`<a href=" {{ v }}">x</a>`, `<a href="?a={{ v }}&amp;b={{ v }}#{{ v }}">x</a>`, `<a href="/{{ v }}/{{ v }}">x</a>`,
	`<p style="a:{{ v }}" onclick='{{ v }}'>`, `<style>{{ v }}</style><b>`, `<script>{{ v }}</script><b>`,
	`<title>{{ v }}</title><textarea>{{ v }}</textarea>`, `<!-- {{ v }} --><b>`, `<!--{{ v }}--><b>`, `<!{{ v }}><b>`,
	`<{{ v }}><b>`, `</{{ v }}><b>`, `<a {{ v }} b>`, `<a{{ v }}>`, `<a b{{ v }}=c>`, `<a b {{ v }}>`, `<?{{ v }}><b>`,
	`<!--[if mso]><td width="{{ v }}">{{ v }}</td><![endif]--><b>`, `<a b="x"{{ v }}c="y">`, `&{{ v }};<b>`,
	`<a href=https://x/{{ v }}>y</a>`, `<a href='javascript&colon;{{ v }}'>`, `<svg><style>{{ v }}</style></svg>`,
}

func FuzzNoValueChangesTheMarkup(f *testing.F) {
	for _, v := range []string{
		"x", `"><script>alert(1)</script>`, "' onload='x", "--><b>", "</style><b>", "javascript:x",
		"JAVASCRIPT&colon;x", " data:text/html,x", "`", "a b=c", "</title></textarea></script><b>", "!--",
		"&lt;b&gt;", "\x00<\x00b>", "-", "->", ">",
		"a\u00a0b", "\u2028", "\xff\xfe<b>", "/", "=", "?", "#", "\\", "//evil", "java\nscript:x", "\x1bjavascript:x",
	} {
		f.Add(v)
	}
	var parsed []*liquid.Template
	for _, p := range places {
		template, err := liquid.Parse(strings.ReplaceAll(p, "{{ v }}", `{{ v | default: "x" }}`))
		if err != nil {
			f.Fatal(err)
		}
		parsed = append(parsed, template)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if len(v) > 1000 {
			return
		}
		for _, p := range parsed {
			calm, err := p.Render(liquid.HTML, map[string]any{"v": "x"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Render(liquid.HTML, map[string]any{"v": v})
			if err != nil {
				t.Fatal(err)
			}
			if want, have := skeleton(calm), skeleton(got); want != have {
				t.Errorf("%s of %q gives\n%s\nwith the tokens\n%s\nwant\n%s", p.Source(), v, got, have, want)
			}
		}
	})
}

func FuzzAnyTemplate(f *testing.F) {
	for source := range endless {
		f.Add(source, "value")
	}
	for _, p := range places {
		f.Add(p, `"><b>`)
	}
	f.Add(`{% if v contains "x" and v != nil or list.size > 2 %}{{- v | truncate: 3, "…" | upcase -}}{% elsif v %}`+
		`{% else %}{% endif %}{% unless v %}{% endunless %}{% comment %}{% endcomment %}{{ v | date: "%Y" }}`,
		"2024-01-01")
	for _, v := range []string{"{{", "{%", "{{-", "-}}", "{{ 1.1.1 }}", "{{ -1 | money: 'EUR' }}", "{% for x in v %}"} {
		f.Add(v, "1")
	}
	base := heavy()
	f.Fuzz(func(t *testing.T, source, v string) {
		if len(source) > 20_000 {
			return
		}
		parsed, err := liquid.Parse(source)
		if err != nil {
			return
		}
		parsed.Fields()
		all := map[string]any{"v": v, "contact": map[string]any{"first_name": v}}
		for key, value := range base {
			all[key] = value
		}
		for _, c := range []liquid.Escape{liquid.HTML, liquid.Text, liquid.Header, liquid.URL} {
			got, err := parsed.Render(c, all)
			if again, _ := parsed.Render(c, all); again != got {
				t.Errorf("%q renders as %q, then as %q", source, got, again)
			}
			if len(got) > 256<<10 {
				t.Errorf("%q renders to %d bytes", source, len(got))
			}
			if c == liquid.Header && err == nil && strings.ContainsAny(got, "\r\n\x00") {
				t.Errorf("%q renders to the header %q", source, got)
			}
		}
	})
}
