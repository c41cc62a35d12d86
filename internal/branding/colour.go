package branding

import (
	"fmt"
	"math"
	"strconv"
)

// Color is an sRGB colour. Its String is always #rrggbb and therefore safe in a style sheet.
type Color struct{ R, G, B uint8 }

// Black and White are the text colours; one of them is legible on any colour.
var (
	Black = Color{}
	White = Color{255, 255, 255}
)

// ParseColor parses "#RRGGBB", in either case. It accepts no other form.
func ParseColor(s string) (Color, bool) {
	if len(s) != 7 || s[0] != '#' {
		return Color{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, err == nil
}

// String returns "#rrggbb".
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// MarshalText implements encoding.TextMarshaler with String.
func (c Color) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// linear maps a channel's byte to its linear intensity (IEC 61966-2-1).
var linear = func() (table [256]float64) {
	for i := range table {
		v := float64(i) / 255
		if v <= 0.04045 {
			table[i] = v / 12.92
		} else {
			table[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}

	return table
}()

// Luminance returns WCAG's relative luminance, from 0 (black) to 1 (white).
func (c Color) Luminance() float64 {
	return 0.2126*linear[c.R] + 0.7152*linear[c.G] + 0.0722*linear[c.B]
}

// Contrast returns WCAG's contrast ratio of two colours, from 1 (equal) to 21 (black and white). The order does not
// matter.
func Contrast(a, b Color) float64 {
	x := a.Luminance()
	y := b.Luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// On returns the text colour on c: black or white, the one with the higher contrast. The ratio is at least 4.58:1.
func (c Color) On() Color {
	if Contrast(c, Black) >= Contrast(c, White) {
		return Black
	}
	return White
}

// steps is the maximum lightness, that of white, in 510ths. A colour's lightness is the sum of its smallest and its
// largest channel.
const steps = 510

func (c Color) lightness() int { return int(min(c.R, c.G, c.B)) + int(max(c.R, c.G, c.B)) }

// Shade returns c with another lightness (0 to 510) and the same HSL hue and saturation, rounded to bytes.
func (c Color) Shade(lightness int) Color {
	least := int(min(c.R, c.G, c.B))
	most := int(max(c.R, c.G, c.B))
	was := c.lightness()
	chroma := 0.0 // of the result, in bytes
	if most > least {
		chroma = float64((most-least)*(255-abs(lightness-255))) / float64(255-abs(was-255))
	}

	channel := func(v uint8) uint8 {
		at := 0.0
		if most > least {
			at = float64(int(v)-least) / float64(most-least)
		}
		return uint8(math.Round(min(max((float64(lightness)-chroma)/2+chroma*at, 0), 255)))
	}

	return Color{channel(c.R), channel(c.G), channel(c.B)}
}

func abs(n int) int { return max(n, -n) }

// Nearest returns the shade of c with the lightness nearest to c's that has at least the given contrast ratio against
// another colour; of two equally near shades, the one with more contrast. It returns c itself if its contrast suffices.
// A result exists for every ratio up to 4.58, because black and white are shades of every colour.
func (c Color) Nearest(against Color, ratio float64) Color {
	if Contrast(c, against) >= ratio {
		return c
	}

	was := c.lightness()
	for away := 1; away <= steps; away++ {
		best := Color{}
		found := 0.0
		for _, lightness := range []int{was - away, was + away} {
			if lightness < 0 || lightness > steps {
				continue
			}

			shade := c.Shade(lightness)
			if r := Contrast(shade, against); r >= ratio && r > found {
				best = shade
				found = r
			}
		}

		if found > 0 {
			return best
		}
	}

	return against.On()
}
