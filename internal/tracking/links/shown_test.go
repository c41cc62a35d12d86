package links_test

import (
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

func TestAMailAsItsSendersSeeItHasNoPixel(t *testing.T) {
	t.Parallel()
	org, key := newKey(t)
	for _, text := range []string{
		`<html><body><p>A <a href="https://shop.example/">one</a> <img ` +
			`src="https://shop.example/t/o/x.png"></p></body></html>`,
		`<p>A <a href="https://shop.example/t/c/x">one</a></p>`, `<p>No link.</p>`,
	} {
		m := links.Mail{Org: org, Email: id.New(), Key: key, Base: base, HTML: text, Opens: true}
		document, _ := m.Instrument()
		if got := links.WithoutPixel(document); got != text || document == text {
			t.Errorf("opens: %s, want %s", got, text)
		}
		m.Clicks = true
		document, _ = m.Instrument()
		if got := links.WithoutPixel(document); strings.Contains(got, base+links.OpenPath) ||
			strings.Contains(got, "display:none") || strings.Count(got, "</a>") != strings.Count(text, "</a>") {
			t.Errorf("opens and clicks: %s", got)
		}
	}
}

func TestARedirectIsAnASCIIAddress(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"https://shop.example/a?b=1&c=2#d":      "https://shop.example/a?b=1&c=2#d",
		"https://shop.example/a%20b?q=%C3%A4":   "https://shop.example/a%20b?q=%C3%A4",
		"https://bücher.example/straße?q=ä#ü":   "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A4#%C3%BC",
		"https://BÜCHER.example:8443/":          "https://xn--bcher-kva.example:8443/",
		"https://shop.example/a b?c=d e":        "https://shop.example/a%20b?c=d%20e",
		"https://shop.example/%2Fä":             "https://shop.example/%2F%C3%A4",
		"https://例え.テスト/パス":                     "https://xn--r8jz45g.xn--zckzah/%E3%83%91%E3%82%B9",
		"https://shop.example/?q=100%&r=ä":      "https://shop.example/?q=100%&r=%C3%A4",
		"https://user:pä@shop.example/":         "https://user:p%C3%A4@shop.example/",
		"HTTP://shop.example/":                  "HTTP://shop.example/",
		"https://shop.example/?u=https://ä.de/": "https://shop.example/?u=https://%C3%A4.de/",
	} {
		if got := links.ASCII(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}
