package liquid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

func values() map[string]any {
	return map[string]any{
		"contact": map[string]any{
			"first_name": "Ana", "last_name": "  ", "email": "ana@example.com", "lead_score": 61.5, "vip": true,
			"created_at": time.Date(2026, 3, 9, 23, 30, 0, 0, time.UTC),
			"attributes": map[string]any{
				"plan": "pro", "seats": json.Number("12"), "city name": "Lyon", "list": []any{"a", "b", "c"},
				"since": "2024-02-29", "none": nil, "no": false, "people": []any{
					map[string]any{"name": "Bo", "tags": []string{"x", "y"}}, map[string]any{"name": "Cy"},
				},
			},
		},
		"amount": 1234567, "blank_list": []any{},
	}
}

func render(t *testing.T, c liquid.Escape, source string, v map[string]any) (string, error) {
	t.Helper()
	parsed, err := liquid.Parse(source)
	if err != nil {
		t.Fatalf("%q does not parse: %v", source, err)
	}
	return parsed.Render(c, v)
}

func TestTheLanguage(t *testing.T) {
	for source, want := range map[string]string{
		`Hi {{ contact.first_name }}!`:                                            "Hi Ana!",
		`{{contact.first_name|upcase}}`:                                           "ANA",
		`{{ contact.last_name | default: "there" }}`:                              "there",
		`{{ contact.nick | upcase | default: 'friend' }}`:                         "friend",
		`{{ contact.nick | default: "friend" | upcase }}`:                         "FRIEND",
		`{{ contact.nick | default: contact.first_name }}`:                        "Ana",
		`{{ contact.nick | default: "" }}|`:                                       "|",
		`{{ contact.nick | default: &quot;you&quot; }}`:                           "you",
		`{{ contact.nick | default: “you” }}`:                                     "you",
		`{{ contact.attributes.no | default: "never" }}`:                          "never",
		`{{ contact.attributes["city name"] }}`:                                   "Lyon",
		`{{ contact.attributes.list[0] }}`:                                        "a",
		`{{ contact.attributes.list[-1] }}`:                                       "c",
		`{{ contact.attributes.list.first }}`:                                     "a",
		`{{ contact.attributes.list.last }}`:                                      "c",
		`{{ contact.attributes.list.size }}`:                                      "3",
		`{{ contact.attributes.list }}`:                                           "a, b, c",
		`{{ contact.first_name.size }}`:                                           "3",
		`{{ contact.attributes.seats }}`:                                          "12",
		`{{ contact.lead_score }} {{ contact.vip }}`:                              "61.5 true",
		`{{ contact.created_at | date: "%d.%m.%Y %H:%M" }}`:                       "09.03.2026 23:30",
		`{{ contact.created_at | date }}`:                                         "9 March 2026",
		`{{ contact.attributes.since | date: "%-d %b %y %%" }}`:                   "29 Feb 24 %",
		`{{ "mARIA josé" | capitalize }}`:                                         "Maria josé",
		`{{ "ÉTÉ" | downcase }}`:                                                  "été",
		`{{ "Zażółć gęślą" | truncate: 6 }}`:                                      "Zaż...",
		`{{ "Zażółć gęślą" | truncate: 6, "…" }}`:                                 "Zażół…",
		`{{ "short" | truncate: 5 }}`:                                             "short",
		`{{ "abc" | truncate: 2 }}`:                                               "...",
		`{{ amount | money: "EUR" }}`:                                             "€12,345.67",
		`{{ amount | money: "JPY" }}`:                                             "¥1,234,567",
		`{{ amount | money: "KWD" }}`:                                             "KWD 1,234.567",
		`{{ -5 | money: "chf" }}`:                                                 "-CHF 0.05",
		`{{ "a b&c/é" | url_encode }}`:                                            "a+b%26c%2F%C3%A9",
		`a {{- " b " -}} c`:                                                       "a b c",
		"a\n {%- if true -%} \n b \n {%- endif -%} \n c":                          "abc",
		`{% comment %}{% comment %}x{% endcomment %}{{ bad | }}{% endcomment %}y`: "y",
		`{% # it's a note %}y`:                                                    "y",
		`{% if contact.vip %}a{% else %}b{% endif %}`:                             "a",

		`{% if contact.last_name %}a{% elsif contact.first_name == "Ana" %}b{% else %}c{% endif %}`: "b",
		`{% unless contact.vip %}a{% else %}b{% endunless %}`:                                       "b",
		`{% unless contact.nick %}a{% endunless %}`:                                                 "a",
		`{% if contact.attributes.seats >= 12 %}a{% endif %}`:                                       "a",
		`{% if contact.attributes.seats < 12 %}a{% endif %}`:                                        "",
		`{% if contact.nick < 12 %}a{% endif %}`:                                                    "",
		`{% if contact.nick == nil %}a{% endif %}`:                                                  "a",
		`{% if contact.last_name == blank %}a{% endif %}`:                                           "a",
		`{% if blank_list == empty %}a{% endif %}`:                                                  "a",
		`{% if contact.attributes.list contains "b" %}a{% endif %}`:                                 "a",
		`{% if contact.email contains "@example" %}a{% endif %}`:                                    "a",
		`{% if contact.created_at > "2026-01-01" %}a{% endif %}`:                                    "a",
		`{% if "2026-01-01" > contact.created_at %}a{% endif %}`:                                    "",
		`{% if contact.first_name != "Bo" %}a{% endif %}`:                                           "a",
		`{% if contact.first_name &lt;&gt; "Bo" %}a{% endif %}`:                                     "a",
		// and and or join from the right: true or (true and false), false and (false or true).
		`{% if true or true and false %}a{% endif %}`:  "a",
		`{% if false and false or true %}a{% endif %}`: "",
		`{% for x in contact.attributes.list %}{{ x }}{% unless forloop.last %}-{% endunless %}` +
			`{% endfor %}`: "a-b-c",
		`{% for x in contact.attributes.list limit: 1 offset: 1 %}{{ forloop.index }}{{ x }}{% endfor %}`: "1b",
		`{% for x in contact.nick %}{{ x }}{% else %}none{% endfor %}`:                                    "none",
		`{% for p in contact.attributes.people %}{{ p.name }}{% for t in p.tags %}{{ t }}{% endfor %}` +
			`{% endfor %}`: "BoxyCy",
		`{ {} } {x} {{ "}" }} 100%}`: "{ {} } {x} } 100%}",
		``:                           "",
	} {
		got, err := render(t, liquid.Text, source, values())
		if err != nil || got != want {
			t.Errorf("%s\n got %q, %v\nwant %q", source, got, err, want)
		}
	}
}

func TestWrongTemplatesSayWhere(t *testing.T) {
	const tags = "there are if, unless, for and comment"
	for source, want := range map[string]string{
		"a\nbé{{ x":              "2:3 this {{ has no }}",
		"{% if x %}":             "1:1 if has no endif",
		"a {% endif %}":          "1:3 endif does not belong to an open tag",
		"{% if x %}{% endfor %}": "1:11 endfor does not belong to if",
		"{% if a %}{% else %}{% elsif b %}{% endif %}": "1:21 elsif does not belong to if",
		"{% assign x = 1 %}":                           `1:1 there is no tag "assign"; ` + tags,
		"{% include '../../etc' %}":                    `1:1 there is no tag "include"; ` + tags,
		"{% for i in (1..3000000) %}{% endfor %}":      `1:13 unexpected '('`,
		"{% for i in 3 %}{% endfor %}":                 "1:13 for needs the path of a list",
		"{% for i of x %}{% endfor %}":                 "1:1 for has the form: for item in contact.attributes.list",
		"{{ x | shout }}": `1:8 there is no filter "shout"; there are default, date, upcase, downcase, capitalize, ` +
			"truncate, money and url_encode",
		"{{ x | default }}":              "1:8 default takes the value to use instead",
		"{{ x | money: 'EURO' }}":        `1:8 money: the currency is not an ISO 4217 code such as "EUR"`,
		"{{ x | date: '%Q' }}":           `1:8 date: the format has an unknown letter: "%Q"`,
		"{{ 'x }}":                       "1:4 this text has no closing quote",
		"{{ x y }}":                      `1:6 unexpected "y"`,
		"{{ }}":                          "1:4 a value is missing here",
		"{{ a. }}":                       "1:7 a name is missing behind the dot",
		"{{ a[b] }}":                     "1:6 an index must be a number or a text in quotes",
		"{% if %}{% endif %}":            "1:7 a value is missing here",
		"{% comment %}":                  "1:1 comment has no endcomment",
		strings.Repeat("{% if a %}", 33): "1:321 tags are nested too deep",
		strings.Repeat("x", 512<<10+1):   "1:1 the template is longer than 512 KiB",
	} {
		_, err := liquid.Parse(source)
		var wrong *liquid.SyntaxError
		if !errors.As(err, &wrong) || fmt.Sprintf("%d:%d %s", wrong.Line, wrong.Column, wrong.Msg) != want {
			t.Errorf("%.60s\n got %v\nwant %s", source, err, want)
		}
	}
	_, err := liquid.Parse("a\n{{")
	if want := "line 2, column 1: this {{ has no }}"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAMissingValueIsAnError(t *testing.T) {
	for source, path := range map[string]string{
		"Hi {{ contact.nick }},":                             "contact.nick",
		"{{ contact.last_name }}":                            "contact.last_name", // white space only
		"{{ contact.attributes.none | upcase }}":             "contact.attributes.none",
		"{{ contact.nick | default: contact.last_name }}":    "contact.nick",
		"{{ company.name | date: '%Y' }}":                    "company.name",
		"{% if contact.vip %}{{ unsubscribe_url }}{%endif%}": "unsubscribe_url",
	} {
		_, err := render(t, liquid.Text, source, values())
		var missing *liquid.MissingError
		if !errors.As(err, &missing) || missing.Path != path {
			t.Errorf("%s: got %v, want %s missing", source, err, path)
		}
	}
	_, err := render(t, liquid.Text, "\n {{ contact.first_name | date: '%Y' }}", values())
	var wrong *liquid.ValueError
	if !errors.As(err, &wrong) || wrong.Path != "contact.first_name" || wrong.Filter != "date" || wrong.Line != 2 {
		t.Errorf("a name given to date: got %v", err)
	}
}

func TestFieldsOfATemplate(t *testing.T) {
	parsed, err := liquid.Parse(`{{ contact.first_name }} {{ contact.last_name | default: "x" }}
{% if contact.vip and contact.a == "b" %}{{ contact.a }}{{ contact.b }}{% elsif contact.b %}{{ contact.b }}{% endif %}
{% unless company.name %}{{ company.name }}{% else %}{{ company.name }}{% endunless %}{{ company.name }}
{% for x in contact.attributes.list %}{{ x.y }}{{ forloop.index }}{{ x.z | default: sender.name }}{% endfor %}
{% if contact.c or contact.d %}{{ contact.c }}{% endif %}{{ amount | money: org.currency }}`)
	if err != nil {
		t.Fatal(err)
	}
	f := func(path string, has, output bool, line, column int) liquid.Field {
		return liquid.Field{Path: path, HasDefault: has, Output: output, Line: line, Column: column}
	}
	if diff := cmp.Diff([]liquid.Field{
		f("contact.first_name", false, true, 1, 4), f("contact.last_name", true, true, 1, 29),
		f("contact.vip", true, false, 2, 7), f("contact.a", true, false, 2, 23),
		f("contact.a", true, true, 2, 45), f("contact.b", false, true, 2, 60),
		f("contact.b", true, false, 2, 81), f("contact.b", true, true, 2, 96),
		f("company.name", true, false, 3, 11), f("company.name", false, true, 3, 29),
		f("company.name", true, true, 3, 57), f("company.name", false, true, 3, 90),
		f("contact.attributes.list", true, false, 4, 13), f("sender.name", false, true, 4, 85),
		f("contact.c", true, false, 5, 7), f("contact.d", true, false, 5, 20), f("contact.c", false, true, 5, 35),
		f("amount", false, true, 5, 61), f("org.currency", false, false, 5, 77),
	}, parsed.Fields()); diff != "" {
		t.Error(diff)
	}
}
