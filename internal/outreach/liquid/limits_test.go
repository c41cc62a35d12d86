package liquid_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/outreach/liquid"
)

// endless are templates that would run for very long without limits; list has 1,000 elements, long 400 KB of text.
var endless = map[string]error{
	"{% for a in list %}{% for b in list %}{% for c in list %}x{% endfor %}{% endfor %}{% endfor %}": liquid.ErrFuel,
	"{% for a in list %}{% for b in list %}{% endfor %}{% endfor %}":                                 liquid.ErrFuel,
	"{% for a in list %}{% for b in list %}{% if a == b %}{% endif %}{% endfor %}{% endfor %}":       liquid.ErrFuel,
	"{% for a in list %}{% if long contains 'needle' %}{% endif %}{% endfor %}":                      liquid.ErrFuel,
	"{% for a in list %}{% if long == longer %}{% endif %}{% endfor %}":                              liquid.ErrFuel,
	"{% for a in list %}{% if list contains 'needle' %}{% endif %}{% endfor %}":                      liquid.ErrFuel,
	"{% for a in list %}{{ long | upcase | truncate: 1 }}{% endfor %}":                               liquid.ErrFuel,
	"{% for a in list %}{{ long | truncate: 1 | url_encode }}{% endfor %}":                           liquid.ErrFuel,
	"{% for a in list %}{{ list }}{% endfor %}":                                                      liquid.ErrTooLong,
	"{% for a in list %}{{ quotes }}{% endfor %}":                                                    liquid.ErrTooLong,
	"{% for a in many %}{% endfor %}":                                                                liquid.ErrFuel,
	"{{ long }}":                                                                                     liquid.ErrTooLong,
	"{% for a in list %}" + strings.Repeat("y", 500) + "{% endfor %}":                                liquid.ErrTooLong,
	"{% for a in list %}" + strings.Repeat("{{ one }}", 60) + "{% endfor %}":                         liquid.ErrFuel,
}

func heavy() map[string]any {
	list := make([]any, 1000)
	for i := range list {
		list[i] = strings.Repeat("e", 1000)
	}
	return map[string]any{
		"list": list, "many": make([]any, 1001), "one": 1, "quotes": strings.Repeat(`"`, 60_000),
		"long": strings.Repeat("n", 400_000), "longer": strings.Repeat("n", 400_000) + "m",
	}
}

func TestEndlessTemplatesEndSoon(t *testing.T) {
	v := heavy()
	for source, want := range endless {
		for _, c := range []liquid.Escape{liquid.HTML, liquid.Text, liquid.Header, liquid.URL} {
			began := time.Now()
			_, err := render(t, c, source, v)
			took := time.Since(began)
			if !errors.Is(err, want) {
				t.Errorf("%.70s: got %v, want %v", source, err, want)
			}
			// It is some milliseconds. The bound is for a busy machine: without limits, a template takes for ever.
			for try := 0; took > time.Second && try < 5; try++ {
				began = time.Now()
				_, _ = render(t, c, source, v)
				took = min(took, time.Since(began))
			}
			if t.Logf("%v as %d in %v", want, c, took); took > time.Second {
				t.Errorf("%.70s took %v, want 1s at most", source, took)
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	parsed, err := liquid.Parse(strings.Repeat(`<p style="margin:0">Hi {{ contact.first_name | default: "there" }},
<a href="https://example.com/?plan={{ contact.attributes.plan }}&amp;a=b">{{ contact.email }}</a></p>
`+strings.Repeat("<td class='a'>Some text of the mail that is the same for all.</td>\n", 10), 15))
	if err != nil {
		b.Fatal(err)
	}
	v := values()
	b.SetBytes(int64(len(parsed.Source())))
	for b.Loop() {
		if _, err := parsed.Render(liquid.HTML, v); err != nil {
			b.Fatal(err)
		}
	}
}
