package branding_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// luminance follows WCAG 2.2's definition of relative luminance literally; channel is its part for each byte.
func luminance(c branding.Color) float64 {
	return 0.2126*channel[c.R] + 0.7152*channel[c.G] + 0.0722*channel[c.B]
}

var channel = func() (of [256]float64) {
	for v := range of {
		s := float64(v) / 255
		if s <= 0.04045 {
			of[v] = s / 12.92
		} else {
			of[v] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return of
}()

func ratio(a, b branding.Color) float64 {
	l1, l2 := luminance(a), luminance(b)
	if l1 < l2 {
		l1, l2 = l2, l1
	}
	return (l1 + 0.05) / (l2 + 0.05)
}

func random(r *rand.Rand) branding.Color {
	return branding.Color{R: uint8(r.Uint32()), G: uint8(r.Uint32()), B: uint8(r.Uint32())}
}

// hsl is the textbook conversion: hue 0 to 6, saturation and lightness 0 to 1.
func hsl(c branding.Color) (h, s, l float64) {
	r, g, b := float64(c.R)/255, float64(c.G)/255, float64(c.B)/255
	most, least := max(r, g, b), min(r, g, b)
	l = (most + least) / 2
	d := most - least
	if d == 0 {
		return 0, 0, l
	}
	s = d / (1 - math.Abs(2*l-1))
	switch most {
	case r:
		h = math.Mod((g-b)/d+6, 6)
	case g:
		h = (b-r)/d + 2
	default:
		h = (r-g)/d + 4
	}
	return h, s, l
}

// fromHSL is the inverse of hsl.
func fromHSL(h, s, l float64) branding.Color {
	chroma := (1 - math.Abs(2*l-1)) * s
	x := chroma * (1 - math.Abs(math.Mod(h, 2)-1))
	var r, g, b float64
	switch int(h) {
	case 0:
		r, g = chroma, x
	case 1:
		r, g = x, chroma
	case 2:
		g, b = chroma, x
	case 3:
		g, b = x, chroma
	case 4:
		r, b = x, chroma
	default:
		r, b = chroma, x
	}
	m := l - chroma/2
	to := func(v float64) uint8 { return uint8(math.Round(min(max((v+m)*255, 0), 255))) }
	return branding.Color{R: to(r), G: to(g), B: to(b)}
}

func near(a, b branding.Color) bool {
	apart := func(x, y uint8) bool { return max(x, y)-min(x, y) > 1 }
	return !apart(a.R, b.R) && !apart(a.G, b.G) && !apart(a.B, b.B)
}

// TestTheOfferedShadeIsTheNearestThatPasses tries 100,000 random pairs. A pair that passes is unchanged. Otherwise the
// offered shade passes, is a shade (its HSL hue and saturation agree), and no lightness nearer to the colour's own
// passes: all 511 are tried.
func TestTheOfferedShadeIsTheNearestThatPasses(t *testing.T) {
	t.Parallel()
	r, pairs := rand.New(rand.NewPCG(7, 511)), 100_000
	if testing.Short() {
		pairs = 10_000
	}
	moved := 0
	for n := range pairs {
		c, against := random(r), random(r)
		if n%8 == 0 { // greys have no hue
			c = branding.Color{R: c.R, G: c.R, B: c.R}
		}
		needs := branding.TextRatio
		if n%2 == 0 {
			needs = branding.PartRatio
		}
		got := c.Nearest(against, needs)
		if ratio(got, against) < needs {
			t.Fatalf("%s on %s: the shade %s has %.4f, needs %g", c, against, got, ratio(got, against), needs)
		}
		if ratio(c, against) >= needs {
			if got != c {
				t.Fatalf("%s on %s passes and became %s", c, against, got)
			}
			continue
		}
		moved++
		was := int(min(c.R, c.G, c.B)) + int(max(c.R, c.G, c.B))
		best, distance := []branding.Color{}, 511
		for l := range 511 {
			d := max(l-was, was-l)
			if d > distance {
				continue
			}
			shade := c.Shade(l)
			if ratio(shade, against) < needs {
				continue
			}
			if d < distance {
				best, distance = nil, d
			}
			best = append(best, shade)
		}
		found := false
		for _, b := range best {
			found = found || b == got
			if ratio(b, against) > ratio(got, against) {
				t.Fatalf("%s on %s: %s is as near as %s and stands out more", c, against, b, got)
			}
		}
		if !found {
			t.Fatalf("%s on %s: the shade is %s, the nearest are %v, %d steps away", c, against, got, best, distance)
		}
		if n%16 == 1 {
			h, s, _ := hsl(c)
			l := r.IntN(511)
			if want := fromHSL(h, s, float64(l)/510); !near(c.Shade(l), want) {
				t.Fatalf("%s at lightness %d is %s, by the textbook %s", c, l, c.Shade(l), want)
			}
		}
	}
	if moved < pairs/4 {
		t.Errorf("only %d of %d pairs failed: the test says little", moved, pairs)
	}
}

// TestNothingShipsBelowItsBound: any four colours are either rejected with shades that fix every clash, or shown with
// every pair at or above its bound, including the text on buttons.
func TestNothingShipsBelowItsBound(t *testing.T) {
	t.Parallel()
	r, refused, palettes := rand.New(rand.NewPCG(4, 5)), 0, 100_000
	if testing.Short() {
		palettes = 10_000
	}
	for n := range palettes {
		p := branding.Palette{Primary: random(r), Accent: random(r), Background: random(r), Text: random(r)}
		if n%3 == 0 { // otherwise nearly all are rejected
			p.Background = branding.White
		}
		given := p
		if clashes := p.Clashes(); len(clashes) > 0 {
			refused++
			if err := p.Check(); !fault.Is(err, fault.ValidationFailed) || len(fault.Of(err).Fields) != len(clashes) {
				t.Fatalf("%v clashes and is let through: %v", p, err)
			}
			for _, c := range clashes {
				if c.Ratio >= c.Needs {
					t.Fatalf("%v is said to have %g:1, which is enough", c, c.Ratio)
				}
				switch c.Name {
				case "primary":
					p.Primary = c.Nearest
				case "accent":
					p.Accent = c.Nearest
				case "text":
					p.Text = c.Nearest
				}
			}
			if err := p.Check(); err != nil {
				t.Fatalf("the offered shades do not pass: %v", err)
			}
		} else if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		for _, stored := range []branding.Palette{given, p} {
			shown := branding.Show(branding.Tenant{
				Settings: branding.Settings{Colors: &stored},
				Rights:   branding.Rights{WhiteLabel: true},
			}, nil).Colors
			if r := ratio(shown.Text, shown.Background); r < 4.5 {
				t.Fatalf("text %s on %s has %.3f, want at least 4.5", shown.Text, shown.Background, r)
			}
			if r := ratio(shown.Primary, shown.Background); r < 3 {
				t.Fatalf("primary %s on %s has %.3f, want at least 3", shown.Primary, shown.Background, r)
			}
			if r := ratio(shown.Accent, shown.Background); r < 3 {
				t.Fatalf("accent %s on %s has %.3f, want at least 3", shown.Accent, shown.Background, r)
			}
			for _, c := range []branding.Color{shown.Primary, shown.Accent} {
				if on := c.On(); ratio(on, c) < 4.58 || on != branding.Black && on != branding.White {
					t.Fatalf("%s on %s has %.3f", on, c, ratio(on, c))
				}
			}
		}
	}
	if refused == 0 || refused == palettes {
		t.Errorf("%d of %d were refused: the test says little", refused, palettes)
	}
}

func TestAColourIsSixHexadecimalDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"#0b5fff": "#0b5fff", "#0B5FfF": "#0b5fff", "#000000": "#000000"} {
		if c, ok := branding.ParseColor(text); !ok || c.String() != want {
			t.Errorf("%s is %s, %v", text, c, ok)
		}
	}
	for _, text := range []string{
		"", "#fff", "0b5fff", "#0b5fff ", "#0b5ffg", "#0b5fff00", "red", "#+b5fff",
		"#0_5fff", "#0b5ff\n", "rgb(0,0,0)", "#000;}*{x", "＃0b5fff",
	} {
		if c, ok := branding.ParseColor(text); ok {
			t.Errorf("%q is taken as %s", text, c)
		}
	}
}

func TestARefusedPairIsToldWithItsRatioAndTheShadeThatMendsIt(t *testing.T) {
	t.Parallel()
	p := branding.DefaultPalette
	p.Text, _ = branding.ParseColor("#999999")
	var f *fault.Fault
	if err := p.Check(); !errors.As(err, &f) || len(f.Fields) != 1 {
		t.Fatalf("%v", err)
	}
	if got, want := f.Fields[0], (fault.FieldError{
		Pointer: "#/colors/text", Code: "low_contrast",
		Detail: "Against the background this has a contrast of 2.84:1 and needs 4.5:1. The nearest shade that has " +
			"it is #767676.",
	}); got != want {
		t.Errorf("have %+v", got)
	}
}
