package branding

import (
	"fmt"
	"math"
	"strconv"
)

// Color is a colour of the sRGB space. There is no other way to one than ParseColor, a Color of bytes, and its shades; so
// whatever String answers may stand in a style sheet.
type Color struct{ R, G, B uint8 }

// Black and White are what can be read on any colour.
var (
	Black = Color{}
	White = Color{255, 255, 255}
)

// ParseColor reads "#RRGGBB", in either case, and nothing else.
func ParseColor(s string) (Color, bool) {
	if len(s) != 7 || s[0] != '#' {
		return Color{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, err == nil
}

// String is "#rrggbb".
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// MarshalText writes String.
func (c Color) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// linear is a channel's share of light, by its byte (IEC 61966-2-1).
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

// Luminance is WCAG's relative luminance: 0 of black to 1 of white.
func (c Color) Luminance() float64 {
	return 0.2126*linear[c.R] + 0.7152*linear[c.G] + 0.0722*linear[c.B]
}

// Contrast is WCAG's ratio of two colours, from 1 (alike) to 21 (black and white). The order has no bearing.
func Contrast(a, b Color) float64 {
	x, y := a.Luminance(), b.Luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// On is the colour of what is written on c: black or white, whichever stands out more. It always has 4.58:1.
func (c Color) On() Color {
	if Contrast(c, Black) >= Contrast(c, White) {
		return Black
	}
	return White
}

// steps is the highest lightness: that of white, in 510ths. A colour's is the sum of its smallest and its largest channel.
const steps = 510

func (c Color) lightness() int { return int(min(c.R, c.G, c.B)) + int(max(c.R, c.G, c.B)) }

// Shade is c with another lightness (0 to 510) and the same hue and saturation (those of HSL), rounded to bytes.
func (c Color) Shade(lightness int) Color {
	least, most, was := int(min(c.R, c.G, c.B)), int(max(c.R, c.G, c.B)), c.lightness()
	chroma := 0.0 // of the shade, in bytes
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

// Nearest is the shade of c whose lightness is nearest to c's among those with at least the ratio against another colour;
// of two equally near ones, that with more contrast. c itself where it has it. There is one for any ratio up to 4.58:
// black and white are shades of every colour.
func (c Color) Nearest(against Color, ratio float64) Color {
	if Contrast(c, against) >= ratio {
		return c
	}
	was := c.lightness()
	for away := 1; away <= steps; away++ {
		best, found := Color{}, 0.0
		for _, lightness := range []int{was - away, was + away} {
			if lightness < 0 || lightness > steps {
				continue
			}
			shade := c.Shade(lightness)
			if r := Contrast(shade, against); r >= ratio && r > found {
				best, found = shade, r
			}
		}
		if found > 0 {
			return best
		}
	}
	return against.On()
}
