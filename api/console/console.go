package console

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
)

// Base is the path that all screens behind the sign-in hang below.
const Base = "/app"

// outside are the screens that need no session. Mails link to some of them, so their paths never change.
var outside = []string{
	"/login", "/signup", "/forgot-password", "/reset-password", "/accept-invite", "/verify-email",
}

const assetsPath = Base + "/assets/"

// Console serves the shell and its assets.
type Console struct {
	*httpx.Server
	brandAt func(context.Context) (branding.Shown, error)
	assets  map[string]asset
	shell   shell
	frame   frame
}

// New returns the Console of a server. brandAt returns the brand of the request's host, and an error for a host that
// shows nothing.
func New(s *httpx.Server, brandAt func(context.Context) (branding.Shown, error)) *Console {
	all, err := assets(built)
	if err != nil {
		panic(fmt.Errorf("built files of the console: %w", err)) // a test reads the same files
	}
	return &Console{
		Server: s, brandAt: brandAt, assets: all, shell: newShell(all["index.html"].body.Plain()),
		frame: newFrame(framePage),
	}
}

// Mount serves the console at Base and at the addresses of the sign-in. Its files and pages have no rate limit by
// address: an office behind one address loads many at a time, and serving one costs less than counting it.
func (c *Console) Mount() {
	c.Fiber.Get(assetsPath+"*", c.sendAsset)
	c.Fiber.Get(framePath, c.sendFrame)
	for _, path := range append([]string{Base, Base + "/*"}, outside...) {
		c.Fiber.Get(path, c.sendShell)
	}
}

func (c *Console) sendAsset(ctx *fiber.Ctx) error {
	r := httpx.RequestOf(ctx.UserContext())
	r.Op = &httpx.Op{Method: http.MethodGet, Path: assetsPath}
	one, found := c.assets[strings.TrimPrefix(ctx.Path(), Base+"/")]
	if !found {
		return fault.New(fault.NotFound, "The console has no such file.")
	}
	r.Fixed = one.body
	ctx.Set("Content-Type", one.kind)
	ctx.Set("Cache-Control", "public, max-age=31536000, immutable")
	ctx.Set("ETag", one.tag)
	return ctx.Send(one.body.Plain())
}

// sendShell sends the shell whatever the address below Base and its query are: the screens know them.
func (c *Console) sendShell(ctx *fiber.Ctx) error {
	r := httpx.RequestOf(ctx.UserContext())
	r.Op = &httpx.Op{Method: http.MethodGet, Path: Base}
	shown, err := c.brandAt(ctx.UserContext())
	if err != nil {
		return err
	}
	body, policy := c.shell.render(&shown)
	ctx.Set("Content-Type", "text/html; charset=utf-8")
	ctx.Set("Content-Security-Policy", policy)
	ctx.Set("Cross-Origin-Opener-Policy", "same-origin")
	ctx.Set("Cache-Control", "no-cache") // the brand and the assets' names may change at any time
	ctx.Set("ETag", tagOf(body))
	return ctx.Send(body)
}
