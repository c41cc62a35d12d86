package api

import (
	"context"
	_ "embed" // the pages' bodies
	"html/template"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
)

// The login page. Its script posts to the login that programs use, and keeps the tokens for this host's pages in this tab
// alone; it sets no cookie. Without the script the form goes nowhere.
var (
	//go:embed docs/login.html
	loginBody string
	//go:embed docs/login.js
	loginScript string
)

// mountPages serves the pages that bear a brand: that of the host which they are asked for at.
func (a *App) mountPages() {
	a.fiber.Get("/login", a.page(branding.Page{Title: "Sign in", Body: template.HTML(loginBody), Script: loginScript})) //nolint:gosec // a file of ours
	a.fiber.Get("/docs/webhooks", a.page(branding.Page{Title: "Webhooks", Body: webhooksPage()}))
}

// page answers p to any address at the pace of a public route, in the looks of the host.
func (a *App) page(p branding.Page) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r := requestOf(c.UserContext())
		r.op, r.ip = &op{Method: http.MethodGet, Path: c.Route().Path}, a.clientIP(c)
		if err := a.limitAddress(c, r); err != nil {
			return err
		}
		if len(c.Request().URI().QueryString()) > 0 {
			return fault.New(fault.InvalidParameter, "This address takes no parameters.")
		}
		shown, err := a.shownAt(c.UserContext())
		if err != nil {
			return err
		}
		body, policy, err := shown.Render(p)
		if err != nil {
			return err
		}
		c.Set("Content-Type", "text/html; charset=utf-8")
		c.Set("Content-Security-Policy", policy)
		c.Set("Cache-Control", "no-cache") // the looks may change at any moment
		return c.Send(body)
	}
}

// shownAt is what is shown at the host that a request was sent to; fault.Misdirected under a name that nobody has.
func (a *App) shownAt(ctx context.Context) (branding.Shown, error) {
	home, err := a.tenant(ctx)
	if err != nil {
		return branding.Nobody, err
	}
	return a.looksOf(ctx, home), nil
}

// looksOf is what a page of org shows. Where it cannot be read it is nobody's: the page says what it has to say, and what is
// to be hidden stays hidden.
func (a *App) looksOf(ctx context.Context, org id.ID) branding.Shown {
	shown, err := a.Brands.Of(ctx, org)
	if err != nil {
		a.Log.WarnContext(ctx, "the brand of a page could not be read", "org", org.String(), "error", err)
		return branding.Nobody
	}
	return shown
}

// wordsPage is a page of a title and a sentence, both ours: they are not escaped.
func wordsPage(title, text string) branding.Page {
	return branding.Page{Title: title, Body: template.HTML("<h1>" + title + "</h1>\n<p>" + text + "</p>\n")} //nolint:gosec // as stated
}
