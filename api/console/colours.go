package console

import (
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/branding"
)

// The surfaces that the accent stands on: those of theme.css with the least contrast to it.
var (
	lightSurface = branding.White
	darkSurface  = branding.Color{R: 0x1c, G: 0x1d, B: 0x20}
)

// colours returns the style sheet with a brand's accent. The console keeps its own neutral surfaces in both themes, so
// the primary colour becomes the nearest shade that is visible on them: 3:1 for the fill of a button, 4.5:1 for links.
// It is the rule by which the settings of a brand are checked.
func colours(p branding.Palette) string {
	var sheet strings.Builder
	sheet.WriteString(":root {")
	for _, theme := range []struct {
		name    string
		surface branding.Color
	}{{"light", lightSurface}, {"dark", darkSurface}} {
		fill := p.Primary.Nearest(theme.surface, branding.PartRatio)
		fmt.Fprintf(&sheet, " --brand-%[1]s: %[2]s; --brand-on-%[1]s: %[3]s; --brand-ink-%[1]s: %[4]s;",
			theme.name, fill, fill.On(), p.Primary.Nearest(theme.surface, branding.TextRatio))
	}
	sheet.WriteString(" }")
	return sheet.String()
}
