package branding

import (
	"fmt"
	"math"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Contrast ratios of WCAG 2.2, level AA.
const (
	TextRatio = 4.5 // SC 1.4.3 Contrast (Minimum): text and its background
	PartRatio = 3.0 // SC 1.4.11 Non-text Contrast: a control against its surroundings
)

// Palette is the four colours of a brand. Pages fill buttons with Primary, underline links with Accent, and write Text
// on Background. The text on Primary or Accent has the colour that On returns.
type Palette struct {
	Primary    Color `json:"primary"`
	Accent     Color `json:"accent"`
	Background Color `json:"background"`
	Text       Color `json:"text"`
}

// DefaultPalette is the platform's palette.
var DefaultPalette = Palette{
	Primary: Color{0x0b, 0x5f, 0xff}, Accent: Color{0x0a, 0x7d, 0x6c}, Background: White,
	Text: Color{0x1b, 0x1f, 0x24},
}

// Clash is a pair of colours below its bound. The suggested shade is a shade of the first colour.
type Clash struct {
	Name    string  `json:"color" enum:"primary,accent,text"`
	Against string  `json:"against" enum:"background"`
	Ratio   float64 `json:"ratio"` // two decimals, rounded down, so never the bound itself
	Needs   float64 `json:"needs"`
	Nearest Color   `json:"nearest"`
}

// Clashes returns the pairs of p that are below their bounds; none for a palette that may be shown.
func (p Palette) Clashes() (all []Clash) {
	for _, pair := range []struct {
		name  string
		color Color
		needs float64
	}{{"primary", p.Primary, PartRatio}, {"accent", p.Accent, PartRatio}, {"text", p.Text, TextRatio}} {
		if r := Contrast(pair.color, p.Background); r < pair.needs {
			all = append(all,
				Clash{
					pair.name, "background", math.Floor(r*100) / 100, pair.needs,
					pair.color.Nearest(p.Background, pair.needs),
				})
		}
	}

	return all
}

// Check returns a 422 fault that names each clash with its ratio and the nearest shade that passes, as text and, in
// contrast, machine-readable.
func (p Palette) Check() error {
	clashes := p.Clashes()
	if len(clashes) == 0 {
		return nil
	}

	f := fault.New(fault.ValidationFailed, "Some colours have too little contrast.")
	f.More = map[string]any{"contrast": clashes}
	for _, c := range clashes {
		f.Fields = append(f.Fields, fault.FieldError{
			Pointer: "#/colors/" + c.Name, Code: "low_contrast",
			Detail: fmt.Sprintf(
				"Against the %s this has a contrast of %.2f:1 and needs %g:1. The nearest shade that has it is %s.",
				c.Against, c.Ratio, c.Needs, c.Nearest),
		})
	}

	return f
}
