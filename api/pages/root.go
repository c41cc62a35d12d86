package pages

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

const consoleHome = "/app/"

// robots allows crawlers the public documentation alone.
const robots = "User-agent: *\nAllow: /docs\nDisallow: /\n"

// mountRoot serves what browsers and crawlers ask every host for.
func (p *Pages) mountRoot() {
	p.Fiber.Get("/", p.limitByAddress(func(c *fiber.Ctx) error {
		c.Vary(fiber.HeaderAccept)
		if !isBrowser(c.Get(fiber.HeaderAccept)) {
			return fault.New(fault.NotFound, "There is nothing at this address. The API begins at /api/v1.")
		}
		c.Set(fiber.HeaderLocation, consoleHome)
		c.Status(http.StatusFound)
		return nil
	}))
	p.Fiber.Get("/robots.txt", p.limitByAddress(func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "text/plain; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "public, max-age=3600")
		return c.SendString(robots)
	}))
	p.Fiber.Get("/favicon.ico", p.limitByAddress(p.sendFavicon))
}

// limitByAddress returns a handler that is rate limited by address, as that of a public route is.
func (p *Pages) limitByAddress(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r := httpx.RequestOf(c.UserContext())
		r.Op = &httpx.Op{Method: http.MethodGet, Path: c.Route().Path}
		r.IP = p.ClientIP(c)
		if err := p.LimitAddress(c, r); err != nil {
			return err
		}
		return next(c)
	}
}

// isBrowser reports whether an Accept header names text/html. Programs accept */* or JSON.
func isBrowser(accept string) bool {
	for one := range strings.SplitSeq(accept, ",") {
		kind, parameters, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(kind), "text/html") && !hasZeroWeight(parameters) {
			return true
		}
	}
	return false
}

// hasZeroWeight reports whether the parameters of a media type give it the weight 0.
func hasZeroWeight(parameters string) bool {
	for one := range strings.SplitSeq(parameters, ";") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(one, " ", ""), "=")
		if strings.EqualFold(name, "q") && strings.Trim(weight, "0.") == "" {
			return true
		}
	}
	return false
}

// sendFavicon sends a square in the first colour of the host's brand, so that a hidden platform shows no mark of its
// own.
func (p *Pages) sendFavicon(c *fiber.Ctx) error {
	shown, err := p.BrandAt(c.UserContext())
	if err != nil {
		return err
	}

	icon, err := squareIcon(shown.Colors.Primary)
	if err != nil {
		return err
	}

	c.Set(fiber.HeaderContentType, "image/png")
	c.Set(fiber.HeaderCacheControl, "public, max-age=3600")
	return c.Send(icon)
}

const (
	iconSize   = 32
	iconRadius = 7
)

// squareIcon returns a PNG of a square with round corners.
func squareIcon(in branding.Color) ([]byte, error) {
	m := image.NewPaletted(image.Rect(0, 0, iconSize, iconSize),
		color.Palette{color.Transparent, color.NRGBA{in.R, in.G, in.B, math.MaxUint8}})

	for y := range iconSize {
		for x := range iconSize {
			dx, dy := fromCorner(x), fromCorner(y)
			if dx*dx+dy*dy <= iconRadius*iconRadius {
				m.SetColorIndex(x, y, 1)
			}
		}
	}

	var b bytes.Buffer
	err := png.Encode(&b, m)

	return b.Bytes(), err
}

// fromCorner returns how far a coordinate reaches into the round corners.
func fromCorner(at int) int { return max(iconRadius-at, at-(iconSize-1-iconRadius), 0) }
