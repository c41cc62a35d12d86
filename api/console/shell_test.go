package console

import (
	"regexp"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/branding"
)

func TestTheShellHasNoPlaceForMarkupOfABrand(t *testing.T) {
	t.Parallel()
	s := newShell([]byte("<head><title>Console</title></head><body></body>"))
	page, _ := s.render(&branding.Shown{
		Name: `</title><script>alert(1)</script>"'`, SupportEmail: `"><img src=x>`, Colors: branding.DefaultPalette,
	})
	if n := strings.Count(string(page), "<"); n != strings.Count(
		"<head><title></title><meta><style></style></head><body></body>",
		"<",
	) {
		t.Errorf("a name became markup: %s", page)
	}
}

func TestTheShellOfAHiddenPlatformDoesNotNameIt(t *testing.T) {
	t.Parallel()
	all, err := assets(built)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := newShell(all["index.html"].body.Plain()).render(&branding.Nobody)
	if strings.Contains(string(page), branding.PlatformName) {
		t.Error("the shell names the platform")
	}
}

func TestThePolicyPermitsTheStyleSheetOfTheBrandAndNothingInline(t *testing.T) {
	t.Parallel()
	s := newShell([]byte("<head><title>Console</title></head>"))
	page, csp := s.render(&branding.Platform)
	style := regexp.MustCompile(`<style>(.*)</style>`).FindSubmatch(page)
	if !strings.Contains(csp, "style-src 'self' "+hashOf(string(style[1]))+";") {
		t.Errorf("the policy %s does not permit %s", csp, style[1])
	}
	if strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %s", csp)
	}
}

// Each accent is legible on the surfaces of both themes, whatever the brand's primary colour is.
func TestTheAccentHasContrastInBothThemes(t *testing.T) {
	t.Parallel()
	shade := regexp.MustCompile(`--brand-(on-|ink-)?(light|dark): (#[0-9a-f]{6})`)
	for _, primary := range []string{"#000000", "#ffffff", "#0b5fff", "#ffe600", "#111133", "#ff0000", "#7f7f7f"} {
		color, _ := branding.ParseColor(primary)
		got := map[string]branding.Color{}
		for _, m := range shade.FindAllStringSubmatch(colours(branding.Palette{Primary: color}), -1) {
			got[m[1]+m[2]], _ = branding.ParseColor(m[3])
		}
		for theme, surface := range map[string]branding.Color{"light": lightSurface, "dark": darkSurface} {
			if r := branding.Contrast(got[theme], surface); r < branding.PartRatio {
				t.Errorf("%s, %s: a button has a contrast of %.2f", primary, theme, r)
			}
			if r := branding.Contrast(got["ink-"+theme], surface); r < branding.TextRatio {
				t.Errorf("%s, %s: a link has a contrast of %.2f", primary, theme, r)
			}
			if r := branding.Contrast(got["on-"+theme], got[theme]); r < branding.TextRatio {
				t.Errorf("%s, %s: a button's label has a contrast of %.2f", primary, theme, r)
			}
		}
	}
}
